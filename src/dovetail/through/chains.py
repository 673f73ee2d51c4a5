"""Two bridges in a row: `JFK` is beside `US` in a table of airports, and `US` beside `United States` in one of codes.

A *hop* leads from a value of one side to what is beside it in a table, the *middle*; two hops with common middles are a
chain. Its vote for a pair is the probability that a walk from one value ends at the other: from each value to any of
those beside it, all equally likely. So the votes of both tables multiply, and what has many partners says little.

What is found is exact, but not all is looked for (`find_chains`): near hops are from the columns that hold most values
of a side to columns of texts beside them; far hops are from columns that hold most of what these lead to, to values of
the other side. Of all pairs of these, the chains vote on which most walks end at a value of the other side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.normalise.hashing import hash_tokens
from dovetail.through.bridges import Bridge, BridgePlace, Values, equal_pairs, find_bridges, text_columns
from dovetail.through.series import SeriesNames

# All limits are arbitrary, for time: with them, two columns of 200 values take some 0.2 seconds.
MOST_CARRIERS = 20  # columns that hold values of one side
MOST_HOPS = 100  # from one side
MOST_ROWS = 100_000  # of a table
MOST_MIDDLES = 20_000  # values between
MOST_TRIED = 100  # chains from one side; some lead nowhere
MOST_CHAINS = 20  # that vote
MOST_WALKS = 1_000_000  # of one chain
LEAST_WALKS = 2  # different values on either side, and in the middle: one is found by chance
_ASKED = 5  # columns for each one that is kept, by overlap alone
_SIZE = 0.25  # how much the size of a column counts against it; as in spelling.py

Usable = Callable[[BridgePlace], bool]


@dataclass(frozen=True)
class Hop:
    """The pairs of a side's values and what is beside them in a table, the middle, each once."""

    place: BridgePlace
    values: Array  # positions among the side's values
    middle: Array  # hashes of tokens
    codes: Array  # the places of these tokens in the set of their column
    fan_out: Array  # of each pair, how many different tokens are beside its value
    fan_in: Array  # and how many different tokens of the side's column are beside its middle, of the side or not


def read_hop(segment: OpenSegment, place: BridgePlace, side: int, values: Values, wanted: Array) -> Hop:
    """The hop from the wanted values of a side (0: left), whose column is that one of the place."""
    column, other = place.columns[side], place.columns[1 - side]
    places = values.places(segment, column)
    mine = np.append(np.append(wanted, False)[places], False)  # the last places are for other tokens and for null
    one, beside = segment.rows.codes(column).astype(np.int64), segment.rows.codes(other).astype(np.int64)
    middles = np.zeros(int(segment.tokens.set_sizes()[other]) + 1, bool)
    middles[beside[mine[one]]] = True
    middles[-1] = False
    kept = (one >= 0) & middles[beside]
    cells = np.unique(one[kept] * len(middles) + beside[kept])
    one, beside = cells // len(middles), cells % len(middles)
    out, into = np.bincount(one, minlength=len(mine)), np.bincount(beside, minlength=len(middles))
    own = mine[one]
    one, beside = one[own], beside[own]
    codes, at = np.unique(beside, return_inverse=True)
    hashes = hash_tokens(segment.tokens.tokens(segment.tokens.set_of(other)[0][codes]))
    return Hop(place, places[one], hashes[at], beside, out[one], into[beside])


def chain(first: Hop, second: Hop, sizes: tuple[int, int]) -> Bridge | None:
    """The walks from left values over both hops to right values; None if there are too few or too many."""
    one, other = equal_pairs(first.middle, second.middle)
    if len(one) < LEAST_WALKS or len(one) > MOST_WALKS:
        return None
    cells, at = np.unique(first.values[one] * sizes[1] + second.values[other], return_inverse=True)
    left, right = cells // sizes[1], cells % sizes[1]
    if min(len(np.unique(each)) for each in (left, right, first.middle[one])) < LEAST_WALKS:
        return None
    forth = np.bincount(at, 1.0 / (first.fan_out[one] * second.fan_in[other]))
    back = np.bincount(at, 1.0 / (second.fan_out[other] * first.fan_in[one]))
    known = np.unique(first.values), np.unique(second.values)
    return Bridge(first.place, left, right, 1 / forth, 1 / back, np.ones(len(cells)), known, second.place)


def find_chains(
    segments: Sequence[OpenSegment], sides: tuple[Values, Values], wanted: tuple[Array, Array], usable: Usable
) -> list[Bridge]:
    """The chains on which the greatest share of walks from wanted values ends at wanted values of the other side."""
    return _Chains(segments, sides, wanted, usable).best()


class _Chains:
    def __init__(
        self,
        segments: Sequence[OpenSegment],
        sides: tuple[Values, Values],
        wanted: tuple[Array, Array],
        usable: Usable,
    ) -> None:
        self.segments, self.sides, self.wanted, self.usable = segments, sides, wanted, usable
        self._series = SeriesNames(segments)
        self._texts = [text_columns(segment, ("text",)) for segment in segments]

    def best(self) -> list[Bridge]:
        found: dict[tuple[BridgePlace, BridgePlace], tuple[float, Hop, Hop]] = {}
        for side in (0, 1):
            near = self._hops(self._near_places(side), side)
            far = self._hops(self._far_places(near, side), 1 - side) if near else []
            firsts, seconds = (near, far) if side == 0 else (far, near)
            for share, i, j in self._promising(firsts, seconds)[:MOST_TRIED]:
                found.setdefault((firsts[i].place, seconds[j].place), (share, firsts[i], seconds[j]))
        sizes = len(self.sides[0]), len(self.sides[1])
        best = sorted(found.values(), key=lambda entry: -entry[0])
        chains = (chain(first, second, sizes) for _, first, second in best if first.place.at != second.place.at)
        return list(itertools.islice((each for each in chains if each is not None), MOST_CHAINS))

    def _hops(self, places: Iterable[BridgePlace], side: int) -> list[Hop]:
        """The hops from the wanted values of a side."""
        read = (
            read_hop(self.segments[place.segment], place, side, self.sides[side], self.wanted[side])
            for place in places
            if self.segments[place.segment].rows.rows_of(place.table) <= MOST_ROWS and self.usable(place)
        )
        return list(itertools.islice((hop for hop in read if len(hop.values) >= LEAST_WALKS), MOST_HOPS))

    def _near_places(self, side: int) -> Iterator[BridgePlace]:
        """The columns that hold most of the wanted values, each with all columns of texts beside it."""
        tokens = self.sides[side].tokens.filter(pa.array(self.wanted[side]))
        found: list[tuple[float, BridgePlace]] = []
        for number, segment in enumerate(self.segments):
            best = segment.josie.search(tokens, _ASKED * MOST_CARRIERS, LEAST_WALKS, segment.alive[segment.table_of])
            sizes = segment.tokens.set_sizes()
            for column, held in zip(best.columns.tolist(), best.overlaps.tolist(), strict=True):
                place = BridgePlace(number, int(segment.table_of[column]), (column, column), (held, held))
                found.append((held / float(sizes[column]) ** _SIZE, place))
        for place in self._series.few_of_each(_best_first(found), MOST_CARRIERS):
            column = place.columns[0]
            for other in self.segments[place.segment].catalog.column_range(place.table):
                if other != column and self._texts[place.segment][other]:
                    yield replace(place, columns=(column, other) if side == 0 else (other, column))

    def _far_places(self, near: Sequence[Hop], side: int) -> list[BridgePlace]:
        """Pairs of columns that hold what the near hops of a side lead to, and wanted values of the other side."""
        middles = Values(self._middles(near, side))
        others = Values(self.sides[1 - side].tokens.filter(pa.array(self.wanted[1 - side])))
        sizes = [segment.tokens.set_sizes() for segment in self.segments]
        found: list[tuple[float, BridgePlace]] = []
        for place in find_bridges(self.segments, *((middles, others) if side == 0 else (others, middles)), LEAST_WALKS):
            if self._texts[place.segment][place.columns[side]]:
                here, there = (float(sizes[place.segment][column]) for column in place.columns)
                found.append((place.held[0] * place.held[1] / (here * there) ** _SIZE, place))
        return list(self._series.few_of_each(_best_first(found), MOST_HOPS))

    def _middles(self, near: Sequence[Hop], side: int) -> pa.LargeStringArray:
        """The tokens to which the near hops of a side lead, each once."""
        parts = []
        for hop in near:
            tokens = self.segments[hop.place.segment].tokens
            ids = tokens.set_of(hop.place.columns[1 - side])[0]
            parts.append(tokens.tokens(ids[np.unique(hop.codes)]))
        return pa.chunked_array(parts).unique().slice(0, MOST_MIDDLES)

    def _promising(self, firsts: Sequence[Hop], seconds: Sequence[Hop]) -> list[tuple[float, int, int]]:
        """Pairs of hops, with the share of walks that end at wanted values, in the better direction; the best first."""
        if not firsts or not seconds:
            return []
        here, there = (np.concatenate([hop.middle for hop in hops]) for hops in (firsts, seconds))
        shared = np.intersect1d(here, there)
        forth = _by_middle(firsts, shared, False) @ _by_middle(seconds, shared, True).T
        back = _by_middle(firsts, shared, True) @ _by_middle(seconds, shared, False).T
        share = np.maximum(forth / self.wanted[0].sum(), back / self.wanted[1].sum())
        order = np.argsort(-share, axis=None, kind="stable")[: int((share > 0).sum())]
        return [(float(share.flat[at]), int(at) // len(seconds), int(at) % len(seconds)) for at in order]


def _by_middle(hops: Sequence[Hop], shared: Array, into: bool) -> Array:
    """Of each hop and middle: how many walks from the side's values are expected there, or come from there `into`."""
    found = np.zeros((len(hops), len(shared)))
    for row, hop in zip(found, hops, strict=True):
        here = np.flatnonzero(np.isin(hop.middle, shared))
        np.add.at(row, np.searchsorted(shared, hop.middle[here]), 1.0 / (hop.fan_in if into else hop.fan_out)[here])
    return found


def _best_first(scored: list[tuple[float, BridgePlace]]) -> Iterator[BridgePlace]:
    return (place for _, place in sorted(scored, key=lambda entry: -entry[0]))
