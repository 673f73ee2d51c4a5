"""Votes of bridges on which values of two columns belong together.

Each bridge votes for the pairs of values in its rows; a vote is divided by the fan-out, so that a table in which one
value has many partners says little. Tables are weighed by their votes: how functional the pair of columns is, how many
of the partners are values of the other side at all, and how far other tables agree (DataXFormer, Abedjan et al., ICDE
2016, doi:10.1109/ICDE.2016.7498319: weights of tables and answers refine each other). A table's own vote is left out
when its agreement is measured; near-copies are one series and vote once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.through.bridges import Bridge

LEAST_LIKELY = 0.5  # more likely right than wrong
ROUNDS = 4  # arbitrary: weights change little after three
_FEW = 2.0  # values without a partner that a bridge is given in addition: of two values, little is known
_EARLIER = 2.0  # values for which agreement counts as expected before any other table is asked
_AGREE_TEXT, _AGREE_NUMBER = 0.5, 0.1  # which share is expected: columns of numbers hold any number by chance
_ELSEWHERE = 0.1
"""How much a table counts against a pair if it gives the value a partner that is none of the other side's: little, as
that may be the same one in other words. Of 0, 0.1, 0.3 and 1, chosen by F1 and precision in benchmarks/through."""
_UNKNOWN = 0.03  # weight of the possibility that no table knows the partner; chosen by benchmarks/through/run.py


@dataclass(frozen=True)
class Votes:
    """Pairs of values with their support: the sum of the weights of the series that vote for them."""

    left: Array
    right: Array
    support: Array
    probability: Array
    reversed: bool  # each right value has one left value, rather than each left value one right value
    weights: Array  # of each bridge
    agreement: Array  # of each bridge, with the others

    @property
    def likely(self) -> Array:
        """The positions of the pairs that are more likely right than wrong: at most one of each value."""
        return np.flatnonzero(self.probability > LEAST_LIKELY)


def count_votes(
    bridges: Sequence[Bridge],
    series: Array,
    numeric: Array,
    sizes: tuple[int, int],
    trust: Array | None = None,
    directions: Sequence[bool] = (False, True),
) -> Votes:
    """The votes in the direction in which more values are expected to find the right partner.

    `series` says which bridges are near-copies; `numeric` which have a column of numbers; `trust` how far each is
    trusted for other reasons (1: fully).
    """
    trusted = np.ones(len(bridges)) if trust is None else trust
    ways = [_Ballot(bridges, series, numeric, trusted, sizes, turned).count() for turned in directions]
    return max(ways, key=_answered)


def _answered(votes: Votes) -> float:
    """How many values are expected to have the right partner."""
    one = votes.right if votes.reversed else votes.left
    best = np.zeros(int(one.max(initial=-1)) + 1)
    np.maximum.at(best, one, votes.probability)
    return float(best.sum())


class _Ballot:
    """The votes of all series in one direction: from each value to its partner."""

    def __init__(
        self,
        bridges: Sequence[Bridge],
        series: Array,
        numeric: Array,
        trust: Array,
        sizes: tuple[int, int],
        turned: bool,
    ) -> None:
        self.turned, self.series, self.values = turned, series, sizes[turned]
        lengths = [len(bridge) for bridge in bridges]
        of_vote = np.repeat(series, lengths)
        one, other = (np.concatenate([pair[k] for pair in ((b.left, b.right) for b in bridges)]) for k in (0, 1))
        fans = np.concatenate([bridge.fan_in if turned else bridge.fan_out for bridge in bridges])
        votes = np.concatenate([bridge.probability for bridge in bridges]) / fans
        if turned:
            one, other = other, one
        known = np.concatenate([bridge.known[turned] for bridge in bridges])
        of_known = np.repeat(series, [len(bridge.known[turned]) for bridge in bridges])
        self.size = int(series.max()) + 1
        self.numeric = np.zeros(self.size, bool)
        np.logical_or.at(self.numeric, series, numeric)
        trust_of_series = np.zeros(self.size)
        np.maximum.at(trust_of_series, series, trust)
        # A series votes by the mean of its tables that know the value.
        keys, voters = np.unique(of_known * self.values + known, return_counts=True)
        self.known = keys
        self.known_counts = np.bincount(keys // self.values, minlength=self.size)
        width = sizes[not turned]
        cells, of_cell = np.unique((of_vote * self.values + one) * width + other, return_inverse=True)
        self.owner, self.one, self.other = cells // width // self.values, cells // width % self.values, cells % width
        tables = voters[np.searchsorted(keys, cells // width)]
        self.votes = np.bincount(of_cell, votes, minlength=len(cells)) / tables
        clear = np.bincount(self.owner, self.votes, minlength=self.size) / (self.known_counts + _FEW)
        self.base = trust_of_series * clear * np.sqrt(self._partnered(bridges, series, not turned))
        self.pair, self.of_pair = np.unique(self.one * width + self.other, return_inverse=True)
        self.width = width

    def _partnered(self, bridges: Sequence[Bridge], series: Array, side: bool) -> Array:
        """Of the values of the other side that each series knows, the share that has a partner on this one."""
        known, partnered = np.zeros(self.size), np.zeros(self.size)
        for number, bridge in zip(series.tolist(), bridges, strict=True):
            known[number] += len(bridge.known[side])
            partnered[number] += len(np.unique(bridge.right if side else bridge.left))
        return partnered / (known + _FEW)

    def count(self) -> Votes:
        weights = self.base.copy()
        agreement = np.ones(self.size)
        for _ in range(ROUNDS):
            agreement = self._agreement(weights)
            weights = self.base * agreement
        support, total = self._sums(self.votes * weights[self.owner])
        one, other = self.pair // self.width, self.pair % self.width
        probability = support / (total[one] + _ELSEWHERE * self._elsewhere(weights)[one] + _UNKNOWN)
        left, right = (other, one) if self.turned else (one, other)
        return Votes(left, right, support, probability, self.turned, weights[self.series], agreement[self.series])

    def _elsewhere(self, weights: Array) -> Array:
        """Of each value, the weight of the series that give it a partner which is none of the other side's values."""
        voted = np.bincount(
            np.searchsorted(self.known, self.owner * self.values + self.one), self.votes, minlength=len(self.known)
        )
        missing = weights[self.known // self.values] * np.clip(1.0 - voted, 0.0, 1.0)
        return np.bincount(self.known % self.values, missing, minlength=self.values)

    def _sums(self, votes: Array) -> tuple[Array, Array]:
        support = np.bincount(self.of_pair, votes, minlength=len(self.pair))
        return support, np.bincount(self.pair // self.width, support, minlength=self.values)

    def _agreement(self, weights: Array) -> Array:
        """Of each series, how likely the others say the same about a value."""
        weighed = self.votes * weights[self.owner]
        support, total = self._sums(weighed)
        places, at = np.unique(self.owner * self.values + self.one, return_inverse=True)
        own = np.bincount(at, weighed)
        others = np.maximum(total[places % self.values] - own, 0.0)
        shares = np.bincount(at, self.votes * (support[self.of_pair] - weighed)) / np.maximum(others, 1e-9)
        voted = np.bincount(at, self.votes)
        evidence = others / (others + _UNKNOWN) * np.minimum(voted, 1.0)
        owner = places // self.values
        agreed = np.bincount(owner, evidence * np.minimum(shares / np.maximum(voted, 1e-9), 1.0), minlength=self.size)
        asked = np.bincount(owner, evidence, minlength=self.size)
        expected = np.where(self.numeric, _AGREE_NUMBER, _AGREE_TEXT)
        found: Array = (agreed + _EARLIER * expected) / (asked + _EARLIER)
        return found
