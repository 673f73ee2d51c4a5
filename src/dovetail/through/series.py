"""Which bridges are of one series, so that they vote once."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dovetail._types import Array
from dovetail.catalog.near_copies import NEARLY, CopyGroups, Outline, outlines
from dovetail.indexes.open_segment import OpenSegment
from dovetail.through.bridges import Bridge, BridgePlace

MOST_OF_SERIES = 2  # near-copies that are read where few tables can be; arbitrary, more tell little new

SeriesName = tuple[int, str, str]
BridgeName = tuple[SeriesName, ...]  # of each of its tables


class SeriesNames:
    """Names bridges by the near-copies of their tables, and by their columns."""

    def __init__(self, segments: Sequence[OpenSegment]) -> None:
        self._segments = segments
        self._groups = CopyGroups()
        self._outlines: dict[tuple[int, int], Outline] = {}

    def few_of_each(self, places: Iterable[BridgePlace], most: int) -> Iterator[BridgePlace]:
        """The first places, at most a few of each series."""
        counts = Counter[SeriesName]()
        few = (place for place in places if self._counted(place, counts) <= MOST_OF_SERIES)
        return itertools.islice(few, most)

    def _counted(self, place: BridgePlace, counts: Counter[SeriesName]) -> int:
        name = self.name(place)
        counts[name] += 1
        return counts[name]

    def names(self, bridge: Bridge) -> BridgeName:
        return tuple(map(self.name, bridge.places))

    def name(self, place: BridgePlace) -> SeriesName:
        segment, table = self._segments[place.segment], (place.segment, place.table)
        if table not in self._outlines:
            self._outlines[table] = outlines(segment.catalog, [place.table])[0]
        names = segment.catalog.columns["column"]
        left, right = (names[column].as_py() for column in place.columns)
        return self._groups.add(self._outlines[table], (left, right)), left, right


def series_of(names: Sequence[BridgeName], bridges: Sequence[Bridge], width: int) -> Array:
    """A number for each bridge; near-copies have the same one.

    Of one series are the columns of the same names of near-copies; bridges with nearly the same pairs whose columns
    have the same names; and columns of one table with nearly the same pairs. Two tables in a row are in a series with
    others if both are, or if they have nearly the same pairs and one table in common.
    """
    numbers = np.zeros(len(bridges), np.int64)
    copies: dict[BridgeName, int] = {}
    related: dict[tuple[object, ...], list[tuple[Array, int]]] = {}
    count = 0
    for place, (name, bridge) in enumerate(zip(names, bridges, strict=True)):
        pairs = bridge.left * width + bridge.right
        columns, tables = [each[1:] for each in name], {place.at for place in bridge.places}
        relatives = [tuple(columns), *tables]
        number = copies.get(name)
        if number is None:
            close = (each for relative in relatives for each in related.get(relative, ()))
            number = next((n for known, n in close if _nearly_same(known, pairs)), None)
        if number is None:
            number, count = count, count + 1
        copies.setdefault(name, number)
        for relative in relatives:
            related.setdefault(relative, []).append((pairs, number))
        numbers[place] = number
    return numbers


def _nearly_same(one: Array, other: Array) -> bool:
    if min(len(one), len(other)) < NEARLY * max(len(one), len(other)):
        return False
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common >= NEARLY * (len(one) + len(other) - common)
