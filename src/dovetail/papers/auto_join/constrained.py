"""The constrained similarity join of Auto-Join: one tokenisation, distance and threshold for two columns.

Section 4.6 of E. Zhu's thesis. Of all tokenisations and distances, each with the greatest threshold at which no value
joins two keys (and no key two values), the one counts that joins most keys. The threshold is found by the binary search
of Algorithm 6; its printed branches are inverted, and put right here. The tokenisations and distances are those of
section 4.7.2, and cosine distance, which section 4.6 names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.normalise import plain
from dovetail.papers.auto_join.constrained_kernels import INTERSECT, two_nearest
from dovetail.similar.matching import Blocks, Similar

_WORDS = re.compile(r"[^\W_]+")
Tokenise = Callable[[str], Sequence[str]]


def _grams(q: int) -> Tokenise:
    def tokenise(text: str) -> list[str]:
        folded = plain(text)
        return [folded[place : place + q] for place in range(max(1, len(folded) - q + 1))]

    return tokenise


TOKENISATIONS: dict[str, Tokenise] = {
    "exact": lambda text: [text],
    "lower": lambda text: [text.lower()],
    "split": lambda text: plain(text).split(),
    "word": lambda text: _WORDS.findall(plain(text)),
    **{f"{q}-gram": _grams(q) for q in range(2, 11)},
}
DISTANCES = ("intersect", "jaccard", "dice", "cosine", "max inclusion")


class Configuration(NamedTuple):
    """What the constraints chose."""

    tokenisation: str
    distance: str
    threshold: float
    keys: int  # that are joined

    @property
    def words(self) -> str:
        return f"Tokens: {self.tokenisation}; {self.distance} distance of at most {self.threshold:.3f}."


class Distances(NamedTuple):
    """By measure, the smallest and second smallest distance of each value and of each key; each value's nearest key."""

    of_values: Array
    of_keys: Array
    nearest: Array


def constrained_pairs(
    values: Sequence[str],
    keys: Sequence[str],
    blocks: Blocks | None = None,
    halvings: int = 10,
    constraints: int = 2,
) -> tuple[Similar, Configuration | None]:
    """For each value at most one key, and with two constraints for each key at most one value.

    None where no threshold joins anything: two equal keys, or two spellings of one value, forbid all of them.
    """
    best: tuple[Configuration, Array, Array] | None = None
    for tokenisation, tokenise in TOKENISATIONS.items():
        check_cancelled()
        distances = measured(values, keys, tokenise, blocks)
        for number, distance in enumerate(DISTANCES):
            of_values, of_keys = distances.of_values[number], distances.of_keys[number]
            found = greatest_threshold(of_values, of_keys, halvings, constraints)
            if found is not None and (best is None or found[1] > best[0].keys):
                chosen = Configuration(tokenisation, distance, *found)
                best = chosen, of_values[0], distances.nearest[number]
    if best is None:
        return Similar.none(), None
    chosen, nearest_distance, nearest = best
    joined = np.flatnonzero(nearest_distance <= chosen.threshold)
    similarity = 1.0 - nearest_distance[joined]
    return Similar(joined, nearest[joined].astype(np.int64), similarity, np.ones(len(joined))), chosen


def greatest_threshold(of_values: Array, of_keys: Array, halvings: int, constraints: int) -> tuple[float, int] | None:
    """OptimizeThreshold of Algorithm 6: the greatest threshold that was tried and breaks no constraint, and its keys.

    A threshold breaks none if the second nearest of every value (and of every key) is farther than that.
    """
    low, high = 0.0, 1.0
    second = min(of_values[1].min(initial=np.inf), of_keys[1].min(initial=np.inf) if constraints == 2 else np.inf)
    found = None
    for _ in range(halvings):
        threshold = low + (high - low) / 2
        if second > threshold:
            low, covered = threshold, int(np.count_nonzero(of_keys[0] <= threshold))
            found = (threshold, covered) if covered else None
        else:
            high = threshold
    return found


def measured(values: Sequence[str], keys: Sequence[str], tokenise: Tokenise, blocks: Blocks | None) -> Distances:
    """The distances of all values and keys that have a token in common."""
    numbers: dict[str, int] = {}
    (starts, tokens), (key_starts, key_tokens) = (_sets(side, tokenise, numbers) for side in (values, keys))
    owners = np.repeat(np.arange(len(keys), dtype=np.int32), np.diff(key_starts))
    owners = owners[np.argsort(key_tokens, kind="stable")]
    posting_starts = np.concatenate([[0], np.cumsum(np.bincount(key_tokens, minlength=len(numbers)))])
    mine, theirs = blocks or (np.zeros(len(values), np.int64), np.zeros(len(keys), np.int64))
    found = Distances(
        np.full((len(DISTANCES), 2, len(values)), np.inf),
        np.full((len(DISTANCES), 2, len(keys)), np.inf),
        np.full((len(DISTANCES), len(values)), -1, np.int32),
    )
    two_nearest(
        starts, tokens, mine, np.diff(key_starts), theirs, posting_starts, owners, found.of_values, found.nearest,
        found.of_keys,
    )  # fmt: skip
    most = max(1.0, -float(found.of_values[INTERSECT, 0].min(initial=0.0)))
    for side in (found.of_values, found.of_keys):
        side[INTERSECT] = 1.0 + side[INTERSECT] / most
    return found


def _sets(texts: Sequence[str], tokenise: Tokenise, numbers: dict[str, int]) -> tuple[Array, Array]:
    """The distinct tokens of each text, as numbers, end to end."""
    sets = [[numbers.setdefault(token, len(numbers)) for token in dict.fromkeys(tokenise(text))] for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in sets])]).astype(np.int64)
    return starts, np.array([number for each in sets for number in each], np.int64)
