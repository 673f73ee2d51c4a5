"""The columns of the whole lake as arrays, with what the catalog says of them.

Numbers follow the segments: an offset for each, plus the segment's own. Dead columns have numbers too. `rank` orders
columns by table and position, whatever the segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.columns import as_numbers, could_be_keys, first_of_each, kinds_of
from dovetail.evidence.features import Side
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.listing import matches
from dovetail.lake.table_names import stems_of

_FIELDS = ("table", "column", "kind", "rows", "nulls", "distinct", "minimum", "maximum", "mean_length")
_PRIMARY = "primary"
OF_OTHERS, ALONE = 1, 2
"""The primary key of a column's table, where one is declared: other columns or several, or the column itself."""


class LakeColumns:
    """Arrays by column number."""

    def __init__(self, segments: Sequence[OpenSegment]) -> None:
        self.segments = segments
        parts = [
            segment.catalog.columns.select(_FIELDS).append_column(_PRIMARY, pa.array(_declared_primary(segment)))
            for segment in segments
        ]
        names = [segment.catalog.tables["table"].combine_chunks() for segment in segments]
        alive = _joined([segment.alive for segment in segments]).astype(bool)
        self._describe(
            pa.concat_tables(parts) if parts else None,
            pa.table({"name": pa.concat_arrays(names) if names else pa.array([], pa.string()), "alive": alive}),
            running_sum(np.array([part.num_rows for part in parts], np.int64)),
            running_sum(np.array([len(segment.names) for segment in segments], np.int64)),
        )

    def _describe(self, catalog: pa.Table | None, tables: pa.Table, offsets: Array, first_tables: Array) -> None:
        self._catalog, self._tables = catalog, tables
        self.offsets, self.first_tables = offsets, first_tables
        self.table_of = self._number("table") + np.repeat(first_tables[:-1], np.diff(offsets))
        self.table_names = tables["name"].combine_chunks()
        self.alive = tables["alive"].to_numpy(zero_copy_only=False)[self.table_of]
        self.rows, self.nulls, self.distinct = (self._number(name) for name in ("rows", "nulls", "distinct"))

    @property
    def parts(self) -> tuple[pa.Table, pa.Table, dict[str, Array]]:
        """What `of_parts` needs, so that another process opens one file instead of every segment, of which there must
        be one: the columns, the tables, and where each segment begins."""
        assert self._catalog is not None
        return self._catalog, self._tables, {"offsets": self.offsets, "first_tables": self.first_tables}

    @classmethod
    def of_parts(
        cls, segments: Sequence[OpenSegment], catalog: pa.Table, tables: pa.Table, arrays: Mapping[str, Array]
    ) -> LakeColumns:
        found = cls(())
        found.segments = segments
        found._describe(catalog, tables, **arrays)
        return found

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def tables(self) -> int:
        """The number of tables, dead ones too."""
        return int(self.first_tables[-1])

    def _field(self, name: str) -> pa.Array:
        if self._catalog is None:
            return pa.array([], pa.int64() if name in ("table", "rows", "nulls", "distinct", _PRIMARY) else pa.string())
        return self._catalog[name].combine_chunks()

    def _number(self, name: str) -> Array:
        numbers: Array = self._field(name).cast(pa.float64() if name == "mean_length" else pa.int64()).to_numpy()
        return numbers

    @cached_property
    def kinds(self) -> Array:
        kinds: Array = self._field("kind").to_numpy(zero_copy_only=False)
        return kinds

    @cached_property
    def names(self) -> pa.Array:
        return self._field("column")

    @cached_property
    def folded_names(self) -> pa.Array:
        """The names of the columns without case."""
        return pc.utf8_lower(self.names)

    @cached_property
    def _encoded_names(self) -> pa.DictionaryArray:
        return self.names.dictionary_encode()

    @property
    def distinct_names(self) -> pa.Array:
        return self._encoded_names.dictionary

    @cached_property
    def name_of(self) -> Array:
        """The position of each column's name in `distinct_names`."""
        places: Array = self._encoded_names.indices.to_numpy()
        return places

    @cached_property
    def paths(self) -> pa.Array:
        """Of the tables."""
        return pa.concat_arrays([segment.catalog.tables["path"].combine_chunks() for segment in self.segments])

    @cached_property
    def stems(self) -> pa.Array:
        """What the tables are called, without case."""
        return pc.utf8_lower(stems_of(self.table_names))

    @cached_property
    def minimum(self) -> pa.Array:
        return self._field("minimum")

    @cached_property
    def maximum(self) -> pa.Array:
        return self._field("maximum")

    @cached_property
    def mean_length(self) -> Array:
        return self._number("mean_length")

    @cached_property
    def _widths(self) -> Array:
        """The number of columns of each table that has some."""
        starts = np.flatnonzero(np.diff(self.table_of, prepend=-1))
        widths: Array = np.diff(np.append(starts, len(self)))
        return widths

    @cached_property
    def width(self) -> Array:
        """The number of columns of each column's table."""
        widths: Array = np.repeat(self._widths, self._widths)
        return widths

    @cached_property
    def place(self) -> Array:
        """The position of each column in its table."""
        places: Array = np.arange(len(self)) - np.repeat(running_sum(self._widths)[:-1], self._widths)
        return places

    @cached_property
    def rank(self) -> Array:
        """The position of each column in the order by table name and position in the table."""
        order = pc.sort_indices(self.table_names).to_numpy()
        table_rank = np.empty(len(order), np.int64)
        table_rank[order] = np.arange(len(order))
        ranks = np.empty(len(self), np.int64)
        ranks[np.lexsort((np.arange(len(self)), table_rank[self.table_of]))] = np.arange(len(self))
        return ranks

    @cached_property
    def filled(self) -> Array:
        """The rows with a value."""
        filled: Array = self.rows - self.nulls
        return filled

    @property
    def unique(self) -> Array:
        """Whether no value occurs in two rows; nulls do not count."""
        once: Array = (self.distinct > 0) & (self.distinct == self.filled)
        return once

    @cached_property
    def keys(self) -> Array:
        """Whether a column could be a key: no repeated value and hardly a null."""
        return could_be_keys(self.rows, self.filled, self.distinct)

    @cached_property
    def leading(self) -> Array:
        """Whether a column is the first of its table that could be a key."""
        return first_of_each(self.table_of, self.keys)

    def side(self, columns: Array, is_generic: Array) -> Side:
        """What is known of these columns, for the features of a join."""
        chosen = self._chosen(columns, "kind", "minimum", "maximum")
        kinds = kinds_of(chosen["kind"].to_pylist())
        low, high = (as_numbers(chosen[name].combine_chunks(), kinds) for name in ("minimum", "maximum"))
        rows, filled, distinct = (of[columns].astype(np.float64) for of in (self.rows, self.filled, self.distinct))
        return Side(
            rows, filled, distinct, kinds, low, high, self.mean_length[columns], self.place[columns],
            self.leading[columns], is_generic,
        )  # fmt: skip

    def names_of(self, columns: Array) -> pa.Array:
        return self._chosen(columns, "column")["column"].combine_chunks()

    def _chosen(self, columns: Array, *fields: str) -> pa.Table:
        assert self._catalog is not None
        return self._catalog.select(fields).take(pa.array(columns)).combine_chunks()

    def place_of(self, column: int) -> tuple[OpenSegment, int]:
        """The segment of a column, and its number there."""
        segment = int(np.searchsorted(self.offsets, column, side="right")) - 1
        return self.segments[segment], column - int(self.offsets[segment])

    def table_at(self, number: int) -> tuple[OpenSegment, int]:
        """The segment of a table, and its number there."""
        segment = int(np.searchsorted(self.first_tables, number, side="right")) - 1
        return self.segments[segment], number - int(self.first_tables[segment])

    def number(self, segment: OpenSegment, column: int) -> int:
        """Of a column of a segment."""
        return column + int(self.offsets[self._position[segment]])

    @cached_property
    def _position(self) -> dict[OpenSegment, int]:
        return {segment: position for position, segment in enumerate(self.segments)}

    def columns_of(self, table: int) -> Array:
        first, last = np.searchsorted(self.table_of, [table, table + 1])
        return np.arange(first, last)

    def columns_called(self, table: str, column: str) -> list[int]:
        """The columns with this name of tables with this id, of which at most one is alive."""
        numbers = np.flatnonzero(pc.equal(self.table_names, table)).tolist()
        columns = [int(each) for number in numbers for each in self.columns_of(number)]
        names = self.names_of(np.array(columns, np.int64)).to_pylist()
        return [number for number, name in zip(columns, names, strict=True) if name == column]

    def copies_of(self, tables: Sequence[int], groups: dict[int, int]) -> dict[int, tuple[str, ...]]:
        """Of these tables, the first of each group, and the names of all others of its group; best first."""
        members: dict[int, list[int]] = {}
        for table in dict.fromkeys((*tables, *groups)):
            members.setdefault(groups.get(table, -1 - table), []).append(table)
        named = self.table_names
        return {first: tuple(named[other].as_py() for other in others) for first, *others in members.values()}

    def numbers_of(self, tables: set[str]) -> dict[str, dict[str, int]]:
        """Of live tables with these names, the numbers of their columns by name."""
        found: dict[str, dict[str, int]] = {}
        for table, name in enumerate(self.table_names.to_pylist()) if tables else ():
            if name in tables:
                columns = self.columns_of(table)
                if len(columns) and self.alive[columns[0]]:
                    own = self.names_of(columns).to_pylist()
                    found[name] = dict(zip(own, columns.tolist(), strict=True))
        return found

    def declared_keys(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """The keys that databases declare for live tables, and whether each is the primary one."""
        for first, segment in zip(self.offsets[:-1].tolist(), self.segments, strict=True):
            for number, keys in segment.catalog.declared.items():
                place = segment.catalog.column_range(number)
                names = segment.catalog.columns["column"].slice(place.start, len(place)).to_pylist()
                for key in (keys.primary, *keys.unique) if segment.alive[number] else ():
                    if key:
                        yield tuple(first + place.start + names.index(name) for name in key), key == keys.primary

    def of_tables(self, pattern: str | None) -> Array:
        """Whether each column belongs to a live table whose name matches the glob."""
        found: Array = self.alive
        if pattern is not None:
            chosen = np.array([matches(name, pattern) for name in self.table_names.to_pylist()], bool)
            found = chosen[self.table_of] & found
        return found

    @cached_property
    def primary(self) -> Array:
        """Whether a column alone is the primary key that a database declares for its table."""
        found: Array = self._number(_PRIMARY) == ALONE
        return found

    @cached_property
    def declares_primary(self) -> Array:
        """Whether a database declares a primary key for the table of a column."""
        found: Array = self._number(_PRIMARY) > 0
        return found


def _declared_primary(segment: OpenSegment) -> Array:
    """For each column of a segment, what its database says of the primary key of its table."""
    catalog = segment.catalog
    found = np.zeros(catalog.columns.num_rows, np.int64)
    for number, keys in catalog.declared.items():
        place = catalog.column_range(number)
        if keys.primary:
            found[place.start : place.stop] = OF_OTHERS
        if len(keys.primary) == 1:
            names = catalog.columns["column"].slice(place.start, len(place)).to_pylist()
            found[place.start + names.index(keys.primary[0])] = ALONE
    return found


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
