"""The columns of all segments in one numbering, with what the catalog says of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.columns import as_numbers, could_be_keys, first_of_each, kinds_of
from dovetail.evidence.features import Side
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import stems_of
from dovetail.search.engine import Match

_FIELDS = ("table", "column", "kind", "rows", "nulls", "distinct", "minimum", "maximum", "mean_length")


class LakeColumns:
    """Arrays by column number: an offset for each segment, plus the segment's own."""

    def __init__(self, segments: Sequence[OpenSegment]) -> None:
        self.segments = segments
        parts = [segment.catalog.columns.select(_FIELDS) for segment in segments]
        self.offsets: Array = running_sum(np.array([part.num_rows for part in parts], np.int64))
        self.first_tables: Array = running_sum(np.array([len(segment.names) for segment in segments], np.int64))
        self._catalog = pa.concat_tables(parts)
        own = self._catalog["table"].to_numpy()
        self.table_of: Array = own + np.repeat(self.first_tables[:-1], np.diff(self.offsets))
        self.rows, self.distinct, self.length = (
            self._catalog[name].to_numpy().astype(np.float64) for name in ("rows", "distinct", "mean_length")
        )
        self.filled: Array = self.rows - self._catalog["nulls"].to_numpy()
        self.is_key: Array = could_be_keys(self.rows, self.filled, self.distinct)
        self.is_leading: Array = first_of_each(self.table_of, self.is_key)
        starts = np.flatnonzero(np.diff(self.table_of, prepend=-1))
        widths = np.diff(np.append(starts, len(self)))
        self.place: Array = np.arange(len(self)) - np.repeat(starts, widths)
        self.width: Array = np.repeat(widths, widths)  # columns of each column's table

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def tables(self) -> int:
        return int(self.first_tables[-1])

    @cached_property
    def table_names(self) -> pa.Array:
        return pa.concat_arrays([segment.catalog.tables["table"].combine_chunks() for segment in self.segments])

    @cached_property
    def paths(self) -> pa.Array:
        return pa.concat_arrays([segment.catalog.tables["path"].combine_chunks() for segment in self.segments])

    @cached_property
    def folded_names(self) -> pa.Array:
        """The names of the columns without case."""
        return pc.utf8_lower(self._catalog["column"]).combine_chunks()

    @cached_property
    def stems(self) -> pa.Array:
        """What the tables are called, without case."""
        return pc.utf8_lower(stems_of(self.table_names))

    def names(self, columns: Array) -> pa.Array:
        return self._catalog["column"].take(pa.array(columns)).combine_chunks()

    def side(self, columns: Array, is_generic: Array) -> Side:
        """What is known of these columns."""
        chosen = self._catalog.select(("kind", "minimum", "maximum")).take(pa.array(columns)).combine_chunks()
        kinds = kinds_of(chosen["kind"].to_pylist())
        low, high = (as_numbers(chosen[name].combine_chunks(), kinds) for name in ("minimum", "maximum"))
        return Side(
            self.rows[columns], self.filled[columns], self.distinct[columns], kinds, low, high, self.length[columns],
            self.place[columns], self.is_leading[columns], is_generic,
        )  # fmt: skip

    def place_of(self, column: int) -> tuple[OpenSegment, int]:
        """The segment of a column, and its number there."""
        segment = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return self.segments[segment], column - int(self.offsets[segment])

    def table_at(self, number: int) -> tuple[OpenSegment, int]:
        """The segment of a table, and its number there."""
        segment = int(np.searchsorted(self.first_tables, number, side="right")) - 1
        return self.segments[segment], number - int(self.first_tables[segment])

    def number(self, match: Match) -> int:
        return match.column + int(self.offsets[self._position[match.segment]])

    def columns_of(self, table: int) -> Array:
        first, last = np.searchsorted(self.table_of, [table, table + 1])
        return np.arange(first, last)

    def columns_called(self, table: str, column: str) -> list[int]:
        """The columns with this name of tables with this id, of which at most one is alive."""
        numbers = np.flatnonzero(pc.equal(self.table_names, table)).tolist()
        columns = [int(each) for number in numbers for each in self.columns_of(number)]
        names = self.names(np.array(columns, np.int64)).to_pylist()
        return [number for number, name in zip(columns, names, strict=True) if name == column]

    def copies_of(self, tables: Sequence[int], groups: dict[int, int]) -> dict[int, tuple[str, ...]]:
        """Of these tables, the first of each group, and the names of all others of its group; best first."""
        members: dict[int, list[int]] = {}
        for table in dict.fromkeys((*tables, *groups)):
            members.setdefault(groups.get(table, -1 - table), []).append(table)
        named = self.table_names
        return {first: tuple(named[other].as_py() for other in others) for first, *others in members.values()}

    @cached_property
    def _position(self) -> dict[OpenSegment, int]:
        return {segment: position for position, segment in enumerate(self.segments)}


def rarity_of_share(count: Array, number: int) -> Array:
    """From 0 for what all have to 1 for what only one has."""
    found: Array = np.log(max(number, 2) / np.maximum(count, 1)) / np.log(max(number, 2))
    return found
