"""Which key a value means if they are spelled differently: the one that it most likely means, if that is likely enough.

Two logistic models decide (`benchmarks/judgement/fit_pairs.py`): one chooses the best of a value's candidates, by what
their words have in common and what not; the other says how likely it is right, which depends on how far the second best
is behind. Section 4.6 of E. Zhu's thesis (Auto-Join) chooses one
threshold for a whole column, the greatest at which no value matches two keys; a single pair of similar keys then
forbids every join. Pairs of words that distinguish keys are the negative rules of Auto-FuzzyJoin
(doi:10.1145/3448016.3452824): where two keys differ in one word only, `stakes` and `oaks`, a value that differs from a
key in these words is something else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail._deadline import Deadline
from dovetail._model import Model, load_model
from dovetail._types import Array
from dovetail.similar.pair_kernels import distinguishing_pairs, measure_pairs, words_left_out
from dovetail.similar.texts import CANDIDATES, Words, nearest, weigh, words_of

MEASURED = (
    "unmatched_value", "unmatched_key",  # the share of the words, by weight, that have no match
    "numbers_differ", "number_alone",  # both texts have a number that the other has not; one has
    "distinguished",  # they differ in words that distinguish two keys
    "first_word",  # of the value: it has a match
    "shared", "rarest_shared",  # the weights of matched words: all of them, and the greatest
    "rarest_value", "rarest_key",  # the greatest weight of a word without a match
    "misspelled",  # words that are matched by a similar one
)  # fmt: skip
PAIR_FEATURES = (
    "cosine", "cosine_squared", "cosine_lead", "cosine_other", *MEASURED, "unmatched_both", "value_inside",
    "key_inside", "words_value", "words_key", "words_differ", "texts",
)  # fmt: skip
"""Of a value and a candidate among the keys. `cosine_lead` is how far the other candidates are behind, `cosine_other`
the best of them; weights of words are divided by the logarithm of the number of texts (`texts`)."""
CHOSEN_FEATURES = (*PAIR_FEATURES, "score", "score_lead", "second_as_likely")
"""Of a value's best candidate: also its score, how far the second best is behind it, and how likely that is in
comparison, 1 if just as likely. Whether another value suits the key better does not count: several values may mean one
key, though in most of the data sets that the models were fitted on they do not."""

LEAST_LIKELY = 1 / 3
"""What is twice as likely wrong as right is never joined, even where joining it would make the expected F1 greater."""

_SCALED = [MEASURED.index(name) for name in ("shared", "rarest_shared", "rarest_value", "rarest_key")]
_FEW_WORDS = 5.0  # `shared` and `misspelled` are sums over words: so many make about 1
_INSIDE = 0.01  # of the words without a match, and a text is a part of the other
_LEAST_SCORE, _MOST_LEAD = -10.0, 10.0  # log-odds: beyond, nothing changes
# What similarity subtracts from the cosine, chosen on half of the AutoFJ sets: for words of the value and of the key
# without a match, for numbers that differ, and for words that distinguish keys.
_PENALTIES = {"unmatched_value": 0.3, "unmatched_key": 0.1, "numbers_differ": 0.2, "distinguished": 0.2}
_MOST_WORDS = 12  # of a key, from which rules are learned: longer keys are sentences
_MOST_SIBLINGS = 40  # keys that differ in one word: more teach nothing new


Blocks = tuple[Array, Array]  # the number of the block of each value, and of each key


class Similar(NamedTuple):
    """Pairs of positions among distinct values and distinct keys, how similar they are, and how likely right."""

    values: Array
    keys: Array
    similarity: Array
    probability: Array

    @classmethod
    def none(cls) -> Similar:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Best:
    """Of each value, the candidate that it most likely means (-1: it has none), and its features."""

    keys: Array
    features: Array  # as CHOSEN_FEATURES

    @property
    def probability(self) -> Array:
        """How likely each is right; if the second best is just as likely, it is a coin's throw at most."""
        tied = self.features[:, CHOSEN_FEATURES.index("second_as_likely")] == 1.0
        found = np.where(self.keys >= 0, accept_model().probability(self.features), 0.0)
        return np.where(tied, found / 2, found)

    @property
    def similarity(self) -> Array:
        """From 0 to 1, of the two texts alone, whatever other keys there are."""
        found = self.features[:, PAIR_FEATURES.index("cosine")].astype(np.float64)
        for name, penalty in _PENALTIES.items():
            found = found - penalty * self.features[:, PAIR_FEATURES.index(name)]
        clipped: Array = np.clip(found, 0.0, 1.0)
        return clipped


FindBest = Callable[[Sequence[str], Sequence[str], Blocks | None, Deadline | None], Best]


def similar_pairs(
    values: Sequence[str],
    keys: Sequence[str],
    taken: Collection[int] = (),
    blocks: Blocks | None = None,
    min_similarity: float | None = None,
    one_to_one: bool = False,
    deadline: Deadline | None = None,
    find_best: FindBest | None = None,
) -> Similar:
    """For each value at most one key. Several values may have one key, unless `one_to_one`.

    With `min_similarity`, the best key, if it is similar enough, whatever other keys there are. With `blocks`, a value
    and a key are compared only if their numbers are the same. With `one_to_one`, keys that are `taken` join nothing.
    `find_best` is `best_keys`, or finds the same elsewhere. Raises OutOfTime at the deadline.
    """
    if not len(values) or not len(keys):
        return Similar.none()
    best = (find_best or best_keys)(values, keys, blocks, deadline)
    probability, similarity = best.probability, best.similarity
    fits = probability >= least_probability(probability) if min_similarity is None else similarity >= min_similarity
    found = np.flatnonzero(fits & (best.keys >= 0))
    if one_to_one:
        found = np.sort(_likeliest_of_each_key(found, best.keys, probability, taken))
    return Similar(found, best.keys[found].astype(np.int64), similarity[found], probability[found])


def least_probability(probability: Array) -> float:
    """Of a pair that is joined: the least at which the expected F1 of all pairs is greatest.

    As many right pairs are expected as the probabilities add up to (Lipton, Elkan and Narayanaswamy 2014).
    """
    falling = np.sort(probability)[::-1]
    right = np.cumsum(falling)
    expected = 2 * right / (np.arange(1, len(falling) + 1) + max(right[-1], LEAST_LIKELY))
    return max(LEAST_LIKELY, float(falling[expected.argmax()]))


def _likeliest_of_each_key(found: Array, keys: Array, probability: Array, taken: Collection[int]) -> Array:
    by_probability = found[np.argsort(-probability[found], kind="stable")]
    free = by_probability[~np.isin(keys[by_probability], np.fromiter(taken, np.int64, len(taken)))]
    _, place = np.unique(keys[free], return_index=True)
    return free[place]


def best_keys(
    values: Sequence[str],
    keys: Sequence[str],
    blocks: Blocks | None = None,
    deadline: Deadline | None = None,
    between: tuple[int, int] | None = None,
) -> Best:
    """Of each value; `between` limits it to those from one on and before another."""
    best = choose(*compare(values, keys, blocks, deadline, between))
    return best if between is None else Best(best.keys[slice(*between)], best.features[slice(*between)])


def choose(candidates: Array, slices: Iterable[tuple[slice, Array]]) -> Best:
    """The best of each value's candidates, whose features come some values at a time."""
    scores = np.full(candidates.shape, _LEAST_SCORE)
    best = np.zeros(len(candidates), np.int64)
    kept = np.zeros((len(candidates), len(PAIR_FEATURES)), np.float32)
    rank = rank_model()
    for rows, features in slices:
        scores[rows] = np.where(candidates[rows] >= 0, np.maximum(rank.log_odds(features), _LEAST_SCORE), _LEAST_SCORE)
        best[rows] = scores[rows].argmax(axis=1)
        kept[rows] = features[np.arange(len(features)), best[rows]]
    chosen = candidates[np.arange(len(best)), best]
    return Best(chosen, np.column_stack([kept, *_competition(scores, best)]))


def rank_model() -> Model:
    return load_model("pair_rank", PAIR_FEATURES, "similar")


def accept_model() -> Model:
    return load_model("pair", CHOSEN_FEATURES, "similar")


def compare(
    values: Sequence[str],
    keys: Sequence[str],
    blocks: Blocks | None = None,
    deadline: Deadline | None = None,
    between: tuple[int, int] | None = None,
) -> tuple[Array, Iterator[tuple[slice, Array]]]:
    """For each value its candidates among the keys, and their PAIR_FEATURES, some values at a time.

    The candidates of a value are there when its features are; outside `between`, there are none.
    """
    mine, theirs = words_of(values), words_of(keys)
    weighed = weigh(mine, theirs)
    candidates = np.full((len(mine), CANDIDATES), -1, np.int32)
    rules = negative_rules(theirs)
    texts = float(np.log1p(len(mine) + len(theirs)))

    def slices() -> Iterator[tuple[slice, Array]]:
        for rows, some, cosine in nearest(weighed, blocks, between):
            if deadline is not None:
                deadline.check()
            candidates[rows] = some
            measured = np.zeros((*some.shape, len(MEASURED)), np.float32)
            measure_pairs(
                some, mine.codes, mine.starts, mine.first[rows.start : rows.stop + 1], mine.hashes,
                weighed.word_weights[0], theirs.codes, theirs.starts, theirs.first, theirs.hashes,
                weighed.word_weights[1], rules, measured,
            )  # fmt: skip
            words = np.diff(mine.first)[rows][:, None], np.diff(theirs.first)[some]
            yield rows, _features(some >= 0, cosine, measured, words, texts)

    return candidates, slices()


def _features(exists: Array, cosine: Array, measured: Array, words: tuple[Array, Array], texts: float) -> Array:
    """The axes are values, candidates and PAIR_FEATURES."""
    cosine = np.where(exists, cosine, 0.0)
    falling = np.sort(cosine, axis=1)[:, ::-1]
    first, second = falling[:, :1], falling[:, 1:2]
    other = np.where(cosine >= first, second, first)
    measured[..., _SCALED] /= texts
    for name in ("shared", "misspelled"):
        measured[..., MEASURED.index(name)] /= _FEW_WORDS
    alone, key_alone = measured[..., 0], measured[..., 1]
    here, there = (np.broadcast_to(side, cosine.shape) for side in words)
    parts = [
        cosine, cosine**2, cosine - other, other, *np.moveaxis(measured, -1, 0), alone * key_alone, alone < _INSIDE,
        key_alone < _INSIDE, np.log1p(here), np.log1p(there),
        np.abs(here - there) / np.maximum(1, np.maximum(here, there)), np.full(cosine.shape, texts),
    ]  # fmt: skip
    found: Array = np.stack([part.astype(np.float32) for part in parts], axis=-1)
    return found


def _competition(scores: Array, best: Array) -> tuple[Array, Array, Array]:
    """The score of each value's best candidate, its lead over the second, and how likely that is in comparison."""
    rows = np.arange(len(scores))
    score = scores[rows, best]
    others = scores.copy()
    others[rows, best] = _LEAST_SCORE
    lead = np.clip(score - others.max(axis=1), 0, _MOST_LEAD)
    return score, lead, np.exp(-lead)


def negative_rules(keys: Words) -> Array:
    """The pairs of words that distinguish two keys, as ascending numbers."""
    rests, gone = words_left_out(keys.first, keys.hashes, _MOST_WORDS)
    order = np.lexsort((gone, rests))
    return np.unique(distinguishing_pairs(rests[order], gone[order], _MOST_SIBLINGS))
