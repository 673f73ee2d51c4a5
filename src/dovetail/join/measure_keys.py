"""The features of a join by its keys, row by row: for methods that compare more than equal values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.evidence.agreement import Partners, sampled_rows
from dovetail.evidence.features import Common, features
from dovetail.evidence.two_tables import Columns, TwoTables
from dovetail.join.keys import SIMILAR, TRANSFORMED, JoinKeys


class Measured(NamedTuple):
    features: Array
    joined: int  # rows
    matched: tuple[int, int]  # rows of the left and of the right table


def key_features(
    facts: TwoTables, columns: tuple[Columns, Columns], keys: JoinKeys, asking: Array, cost: float, sampled: float = 1.0
) -> Measured:
    """`asking` are the values of the source's rows as numbers, matched or not; -1 for none.

    If only a share of the pairs was `sampled`, all of them are estimated from these.
    """
    source, target = keys.of_source, keys.of_target
    mine, theirs = columns[::-1] if keys.source else columns
    counts = [np.bincount(codes[codes >= 0], minlength=keys.size) for codes in (source, target)]
    common = (counts[0] > 0) & (counts[1] > 0)
    has_match = np.append(counts[1] > 0, False)[source]
    seen = int(has_match.sum()), int(counts[1][common].sum())
    most = int((asking >= 0).sum()), int((target >= 0).sum())
    matched = min(most[0], round(seen[0] / sampled)), min(most[1], round(seen[1] / sampled))
    joined = round(int(counts[0] @ counts[1]) / sampled)
    distinct = int((counts[1] > 0).sum())
    there = facts.side([theirs])
    there = there._replace(filled=_one(max(1, most[1])), distinct=_one(max(1, distinct)))
    # What the source's values become is of the key's kind, whatever they are.
    here = facts.side([mine])._replace(
        filled=_one(max(1, most[0])), distinct=_one(max(1, len(np.unique(asking[asking >= 0])))),
        kind=there.kind, low=there.low, high=there.high, length=there.length,
    )  # fmt: skip
    ones, others = np.repeat(mine, len(theirs)), np.tile(theirs, len(mine))
    origin = np.zeros(len(source), np.int8) if keys.origin is None else keys.origin
    uncertain = 0.0
    if keys.probability is not None and has_match.any():
        uncertain = float(1 - keys.probability[has_match].mean())
    shares = [np.count_nonzero(has_match & (origin == each)) / max(1, seen[0]) for each in (TRANSFORMED, SIMILAR)]
    numbers = Common(
        keys=_one(min(distinct, common.sum() / sampled)), rows_here=_one(matched[0]), rows_there=_one(matched[1]),
        joined=_one(joined),
        called=_one(0), same_name=_one(facts.same_name(ones, others).max()),
        columns=_one(max(len(mine), len(theirs))), chance=_one(np.nan), transformed=_one(shares[0]),
        similar=_one(shares[1]), uncertain=_one(uncertain), cost=_one(cost), near=_one(0), same_table=_one(0),
    )  # fmt: skip
    named = facts.references(ones, others).max(axis=0)
    left, right = (columns[0], [each - len(facts.left.names) for each in columns[1]])
    own = {(a, b) for a in left for b in right}
    agreement = facts.agreement.of(sampled_rows(Partners(keys.left), Partners(keys.right)), own)
    found = np.concatenate([features(here, there, numbers)[0], named, [agreement]])
    return Measured(found, joined, matched[::-1] if keys.source else matched)


def _one(value: float) -> Array:
    return np.array([value], np.float64)
