"""How likely candidates are right: one model chooses between them, another says how much the choice is to be trusted.

Both are logistic. The first is fitted to choose the right one of several (conditional logit), the second to whether the
chosen one was right, in cases among which are pairs of tables that nothing joins. Equal columns have their own two, and
so have joins by transformation or similarity: the same features mean other things in them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._model import Model, load_model
from dovetail._types import Array
from dovetail.evidence.two_tables import JOIN_FEATURES

NamedColumns = tuple[tuple[str, ...], tuple[str, ...]]
"""Of the left and of the right table."""

_TOGETHER = {
    "generic_match": ("same_name", "generic_here"),  # both are called "id"
    "called_to_key": ("reference_called", "unique_there"),
    "called_to_first": ("reference_called", "leading_there"),
    "agreement_of_keys": ("agreement", "unique_here", "unique_there"),
}
"""Features that mean more together: their products."""
_LEADS = ("reference_called", "reference_theirs_found", "reference_head")
"""Features of names that count by how far they are ahead of other columns'."""
RANK_FEATURES = (*JOIN_FEATURES, *_TOGETHER, "chance_unnamed", *(f"{name}_lead" for name in _LEADS))
ACCEPT_FEATURES = (*RANK_FEATURES, "rank_score", "rank_lead")
"""Of a candidate: its own features, its score, and how far it is ahead of the best one on other columns."""
KINDS = ("join_equal", "join_unequal")

_HARDLY_FEWER = 0.95  # of the rows keep their match; arbitrary, real keys have a few errors
_MOST_LEAD = 10.0  # log-odds that count: beyond, no other candidate matters
_SCALE = 5.0  # so that scores and leads are about as large as the other features


class Verdicts(NamedTuple):
    """How likely each candidate is right, its ACCEPT_FEATURES, and how far each of them raises the log-odds."""

    probability: Array
    features: Array
    moved: Array


def verdicts(features: Array, columns: Sequence[Hashable], methods: Sequence[str]) -> Verdicts:
    """Of the candidates of two tables; none is more likely than one of its kind that ranks higher."""
    size = len(features), len(ACCEPT_FEATURES)
    found = Verdicts(np.zeros(len(features)), np.zeros(size), np.zeros(size))
    kinds = np.array([kind_of(method) for method in methods])
    for kind in KINDS:
        places = np.flatnonzero(kinds == kind)
        if len(places):
            rank, accept = load_model(f"{kind}_rank", RANK_FEATURES), load_model(kind, ACCEPT_FEATURES)
            some = [columns[place] for place in places.tolist()]
            ranked = rank_features(features[places], some)
            order = np.argsort(-rank.log_odds(ranked), kind="stable")
            judged = accept_features(rank, ranked, some)
            found.probability[places[order]] = np.minimum.accumulate(accept.probability(judged)[order])
            found.features[places] = judged
            found.moved[places] = _weights_of_all(rank, accept) * (judged - accept.typical)
    return found


def _weights_of_all(rank: Model, accept: Model) -> Array:
    """Of each feature, with what it adds through the score of the ranking."""
    through = np.zeros(len(ACCEPT_FEATURES))
    place = ACCEPT_FEATURES.index("rank_score")
    through[: len(RANK_FEATURES)] = accept.weights[place] / _SCALE * rank.weights
    found: Array = np.where(np.arange(len(through)) == place, 0.0, accept.weights + through)
    return found


def kind_of(method: str) -> str:
    """The kind of a candidate: which models judge it."""
    return "join_equal" if method == "equal" else "join_unequal"


def is_part_of_key(features: Array, columns: Sequence[NamedColumns], sources: Sequence[int]) -> Array:
    """Whether a candidate is only a part of a key that another candidate has as a whole.

    If further columns turn a join of many to many into one in which every row has one partner, and hardly a row loses
    its match, they belong to the key: a county is known by its name and its state.
    """
    there, here, matched = (features[:, JOIN_FEATURES.index(n)] for n in ("partners_there", "partners_here", "matched"))
    pairs = [
        frozenset(zip(mine, theirs, strict=True)) if len(mine) == len(theirs) else frozenset()
        for mine, theirs in columns
    ]
    found = np.zeros(len(pairs), bool)
    whole = [place for place in np.flatnonzero(there == 0).tolist() if len(pairs[place]) > 1]
    for place in np.flatnonzero((there > 0) & (here > 0)).tolist():
        found[place] = any(
            sources[place] == sources[other]
            and bool(pairs[place])
            and pairs[place] < pairs[other]
            and matched[other] >= _HARDLY_FEWER * matched[place]
            for other in whole
        )
    return found


def rank_features(features: Array, columns: Sequence[Hashable]) -> Array:
    """A row for each candidate; `columns` say which candidates are about the same columns."""
    value = dict(zip(JOIN_FEATURES, features.T, strict=True))
    products = [np.prod([value[name] for name in names], axis=0) for names in _TOGETHER.values()]
    products.append(value["chance"] * (1 - value["reference_called"]))
    leads = [_lead(value[name], columns, 0.0) for name in _LEADS]
    found: Array = np.column_stack([features, *products, *leads])
    return found


def accept_features(rank: Model, ranked: Array, columns: Sequence[Hashable]) -> Array:
    """A row for each candidate, from its features for the ranking."""
    scores = rank.log_odds(ranked)
    lead = np.clip(_lead(scores, columns, scores.max(initial=0.0) - _MOST_LEAD), -_MOST_LEAD, _MOST_LEAD)
    found: Array = np.column_stack([ranked, scores / _SCALE, lead / _SCALE])
    return found


def _lead(values: Array, columns: Sequence[Hashable], without_rival: float) -> Array:
    """How far each value is ahead of the greatest one of other columns; both directions of a pair are no rivals."""
    best: dict[Hashable, float] = {}
    for value, names in zip(values.tolist(), columns, strict=True):
        best[names] = max(value, best.get(names, -np.inf))
    first, second = [*sorted(best, key=lambda names: -best[names]), None, None][:2]
    of_first = best.get(first, without_rival)
    of_second = best.get(second, without_rival)
    rivals = np.array([of_second if names == first else of_first for names in columns])
    found: Array = values - rivals
    return found
