"""Which values of two columns belong together, by what the tables of the lake say.

SEMA-JOIN (He, Ganjam and Chu, VLDB 2015, doi:10.14778/2824032.2824036) joins columns by how often their values stand in
one row of a crawl of the web; DataXFormer asks which tables answer an example. Here the bridges of the lake vote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.input_column import InputColumn
from dovetail.through.bridges import (
    LEAST_HELD,
    Bridge,
    BridgePlace,
    Reach,
    Values,
    find_bridges,
    read_bridge,
    text_columns,
)  # fmt: skip
from dovetail.through.chains import find_chains
from dovetail.through.mapping import ValueMapping, mapping_of
from dovetail.through.series import SeriesNames, series_of
from dovetail.through.spelling import LEAST_MADE, MOST_LEARNED, places_by_words, spelled, transformed
from dovetail.through.spelling import SECONDS as LEARNING
from dovetail.through.votes import Votes, count_votes

MOST_READ = 600  # bridges; arbitrary, for time: numbers from 1 to 9 are in half of all tables
MOST_SPELLED = 20  # bridges by equal values whose other values are compared by similarity; arbitrary, for time
MOST_TEXTS = 300_000  # that are compared by similarity, of mine and of columns together; arbitrary: a few seconds
OF_MINE = 5  # as many texts of a column take the time of one of mine, which is compared with several candidates
CHAIN = 0.5  # how far two tables in a row are trusted, compared with one; other values: docs/benchmarks.md
TOO_MANY = 0.5  # values without a partner, by share: from there on programs and two bridges in a row are tried
ANSWERED = 0.5  # probability of a partner by equal values from which on no other spelling is looked for

Excluded = Callable[[Bridge], bool]


class Effort(IntEnum):
    """How values reach a bridge."""

    EQUAL = 0
    SPELLED = 1  # or similar
    ALL = 2  # or transformed, or by two bridges in a row


class Lookup:
    """One question: two columns, and the bridges between them."""

    def __init__(self, segments: Sequence[OpenSegment], left: Values, right: Values) -> None:
        self.segments, self.sides = segments, (left, right)
        self._least = max(1, min(LEAST_HELD, len(left), len(right)))
        self._texts_left = MOST_TEXTS
        self._reach: dict[tuple[int, int, int, bool], Reach] = {}
        self._wanted = np.ones(len(left), bool), np.ones(len(right), bool)
        self._texts = [text_columns(segment) for segment in segments]
        self._series = SeriesNames(segments)

    def bridges(self, excluded: Excluded | None = None, effort: Effort = Effort.ALL) -> list[Bridge]:
        """Those that hold equal values of both sides; where these answer too little, others by more effort."""
        places = self.likeliest(find_bridges(self.segments, *self.sides, self._least))
        read = [self.read(place, False) for place in places]
        left_out = {bridge.place.at for bridge in read if excluded and excluded(bridge)}
        found = [bridge for bridge in read if len(bridge) and bridge.place.at not in left_out]
        if effort >= Effort.SPELLED:
            found = self._with_spelled(found, places, excluded)
        if effort >= Effort.ALL and _least_share(wanted := self._unanswered(found)) >= TOO_MANY:
            if self._add_transformed(found, wanted, places, excluded):
                wanted = self._unanswered(found)
            found += self._chains(wanted, excluded, left_out)
        return found

    def _chains(
        self, wanted: tuple[Array, Array], excluded: Excluded | None, left_out: set[tuple[int, int]]
    ) -> list[Bridge]:
        """Two bridges in a row, if many values have no likely partner."""
        if _least_share(wanted) < TOO_MANY:
            return []

        def usable(place: BridgePlace) -> bool:
            return place.at not in left_out and not (excluded and excluded(Bridge.empty(place)))

        return find_chains(self.segments, self.sides, wanted, usable)

    def _with_spelled(self, found: list[Bridge], places: list[BridgePlace], excluded: Excluded | None) -> list[Bridge]:
        """With what similar spelling adds for values that have no likely partner yet."""
        self._wanted = self._unanswered(found)
        if not self._wanted[0].any() or not self._wanted[1].any():
            return found
        found.sort(key=lambda bridge: -_clarity(bridge))
        found[:MOST_SPELLED] = [self.read(bridge.place, True) for bridge in found[:MOST_SPELLED]]
        for side in (0, 1):
            more = self._worded(side, self._wanted, places) if self.sides[side].is_text else []
            read = [self.read(place, True) for place in more]
            found += [b for b in read if len(b) >= self._least and (excluded is None or not excluded(b))]
        return found

    def _worded(self, side: int, wanted: tuple[Array, Array], known: list[BridgePlace]) -> list[BridgePlace]:
        return places_by_words(
            self.segments, self.sides[side], wanted[side], self.sides[1 - side], side, known, self._least
        )

    def _add_transformed(
        self,
        found: list[Bridge],
        wanted: tuple[Array, Array],
        places: list[BridgePlace],
        excluded: Excluded | None,
    ) -> bool:
        """Add those that hold what a learned program makes of wanted values; says whether there are any."""
        more: dict[BridgePlace, Bridge] = {}
        deadline = Deadline(LEARNING)
        for side in (0, 1):
            values = self.sides[side]
            for place in self._worded(side, wanted, places)[:MOST_LEARNED] if values.is_text or values.is_code else ():
                if deadline.is_over:
                    break
                segment, equal = self.segments[place.segment], [self._side(place, each, False) for each in (0, 1)]
                equal[side] = transformed(segment, place.columns[side], values, wanted[side], equal[side], deadline)
                bridge = read_bridge(segment, place, *equal)
                if len(bridge) >= LEAST_MADE and not (excluded and excluded(bridge)):
                    more[place] = bridge
        found[:] = [bridge for bridge in found if bridge.place not in more] + list(more.values())
        return bool(more)

    def _unanswered(self, bridges: Sequence[Bridge]) -> tuple[Array, Array]:
        """Which values of either side equal values leave without a likely partner.

        On the side whose values may have several partners, all are wanted as long as the other side lacks any.
        """
        wanted = tuple(np.ones(len(side), bool) for side in self.sides)
        if bridges:
            votes = self.votes(bridges)
            likely = votes.probability >= ANSWERED
            one = int(votes.reversed)
            wanted[one][(votes.left, votes.right)[one][likely]] = False
            if not wanted[one].any():
                wanted[1 - one][:] = False
        return wanted[0], wanted[1]

    def votes(
        self, bridges: Sequence[Bridge], trust: Array | None = None, directions: Sequence[bool] = (False, True)
    ) -> Votes:
        names = [self._series.names(bridge) for bridge in bridges]
        numeric = np.array([not self._is_text(bridge) for bridge in bridges])
        sizes = len(self.sides[0]), len(self.sides[1])
        trusted = np.array([CHAIN if bridge.then else 1.0 for bridge in bridges]) * (1.0 if trust is None else trust)
        return count_votes(bridges, series_of(names, bridges, sizes[1]), numeric, sizes, trusted, directions)

    def likeliest(self, places: list[BridgePlace]) -> list[BridgePlace]:
        """The bridges whose columns are most similar to the two sides, as sets."""
        if len(places) <= MOST_READ:
            return places
        sizes = [segment.tokens.set_sizes() for segment in self.segments]

        def similarity(place: BridgePlace) -> float:
            here, there = (int(sizes[place.segment][column]) for column in place.columns)
            return (place.held[0] * place.held[1]) ** 2 / (here * there)

        return sorted(places, key=similarity, reverse=True)[:MOST_READ]

    def _is_text(self, bridge: Bridge) -> bool:
        return all(self._texts[place.segment][column] for place in bridge.places for column in place.columns)

    def read(self, place: BridgePlace, by_spelling: bool = False) -> Bridge:
        return read_bridge(
            self.segments[place.segment], place, self._side(place, 0, by_spelling), self._side(place, 1, by_spelling)
        )

    def _side(self, place: BridgePlace, side: int, by_spelling: bool) -> Reach:
        segment, values, column = self.segments[place.segment], self.sides[side], place.columns[side]
        by_spelling = by_spelling and values.is_text and bool(self._texts[place.segment][column])
        key = (side, place.segment, column, by_spelling)
        if key not in self._reach:
            self._reach[key] = (
                self._spelled(segment, column, side, self._side(place, side, False))
                if by_spelling
                else Reach.equal(values.places(segment, column))
            )
        return self._reach[key]

    def _spelled(self, segment: OpenSegment, column: int, side: int, equal: Reach) -> Reach:
        """As long as not too many texts were compared."""
        texts = OF_MINE * int(self._wanted[side].sum()) + len(equal.places)
        if texts > self._texts_left:
            return equal
        self._texts_left -= texts
        return spelled(segment, column, self.sides[side], self._wanted[side], equal)


def values_of(column: InputColumn) -> Values:
    is_code = column.is_text and column.has_codes
    return Values(column.tokens, column.is_text and not is_code, is_code)


def _least_share(wanted: tuple[Array, Array]) -> float:
    return min(float(each.mean()) if len(each) else 0.0 for each in wanted)


def _clarity(bridge: Bridge) -> float:
    """How many values have one clear partner."""
    ways = ((bridge.fan_out, bridge.known[0]), (bridge.fan_in, bridge.known[1]))
    return len(bridge) * max(float((1 / fans).sum()) / max(1, len(known)) for fans, known in ways)


def map_columns(
    segments: Sequence[OpenSegment],
    left: InputColumn,
    right: InputColumn,
    excluded: Excluded | None = None,
    effort: Effort = Effort.ALL,
) -> ValueMapping:
    """The likely pairs of the values of two columns; none if no table of the lake holds both."""
    lookup = Lookup(segments, values_of(left), values_of(right))
    bridges = lookup.bridges(excluded, effort)
    if not bridges:
        return ValueMapping()
    return mapping_of(segments, bridges, lookup.votes(bridges), left.written.to_pylist(), right.written.to_pylist())
