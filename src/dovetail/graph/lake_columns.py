"""The columns of the whole lake as arrays: what the filters and the scores ask of them.

Numbers follow the segments. `rank` orders columns by table and position, whatever the segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._storage.store import Store
from dovetail._types import Array
from dovetail.graph.shared_arrays import get_arrays, put_arrays
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.listing import matches

_FIELDS = (
    "table", "column", "kind", "rows", "nulls", "distinct", "minimum", "maximum", "mean_length",
)  # fmt: skip
_PRIMARY = "primary"
_COLUMNS, _TABLES, _NUMBERS = "columns.arrow", "tables.arrow", "columns.npz"
_ROWS_PER_NULL = 100  # of a key, at least; arbitrary: forgives the odd value that only looks like a null


OF_OTHERS, ALONE = 1, 2
"""The primary key of a column's table, where one is declared: other columns or several, or the column itself."""


class LakeColumns:
    """Arrays by column number. Dead columns have numbers too, so that a number is an offset plus a segment's own."""

    def __init__(self, segments: Sequence[OpenSegment]) -> None:
        self.segments = segments
        parts = [
            segment.catalog.columns.select(_FIELDS).append_column(_PRIMARY, pa.array(_declared_primary(segment)))
            for segment in segments
        ]
        offsets = running_sum(np.array([part.num_rows for part in parts], np.int64))
        first_tables = running_sum(np.array([len(segment.names) for segment in segments], np.int64))
        names = [segment.catalog.tables["table"].combine_chunks() for segment in segments]
        alive = _joined([segment.alive for segment in segments]).astype(bool)
        self._describe(
            pa.concat_tables(parts) if parts else None,
            pa.table({"name": pa.concat_arrays(names) if names else pa.array([], pa.string()), "alive": alive}),
            offsets,
            np.repeat(first_tables[:-1], np.diff(offsets)),
        )

    def _describe(self, catalog: pa.Table | None, tables: pa.Table, offsets: Array, first_tables: Array) -> None:
        """`first_tables` is, for each column, the number of the first table of its segment."""
        self._catalog, self._tables, self._first_tables = catalog, tables, first_tables
        self.offsets = offsets
        self.table_of = self._number("table") + first_tables
        self.table_names = tables["name"].combine_chunks()
        self.alive = tables["alive"].to_numpy(zero_copy_only=False)[self.table_of]
        self.rows, self.nulls, self.distinct = (self._number(name) for name in ("rows", "nulls", "distinct"))

    def save(self, folder: Store) -> None:
        """Write what `load` needs: a worker then opens one file, not every segment. There must be a segment."""
        assert self._catalog is not None
        for name, table in ((_COLUMNS, self._catalog), (_TABLES, self._tables)):
            content = pa.BufferOutputStream()
            with pa.ipc.new_file(content, table.schema) as file:
                file.write_table(table)
            folder.put(name, content.getvalue().to_pybytes())
        put_arrays(folder, _NUMBERS, {"offsets": self.offsets, "first_tables": self._first_tables})

    @classmethod
    def load(cls, folder: Store, segments: Sequence[OpenSegment]) -> LakeColumns:
        """Columns that were saved; none of their segments is opened for it."""
        found = cls(())
        found.segments = segments
        paths = (folder.local_file(name, lambda _: True) for name in (_COLUMNS, _TABLES))
        catalog, tables = (pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in paths)
        found._describe(catalog, tables, **get_arrays(folder, _NUMBERS))
        return found

    def __len__(self) -> int:
        return int(self.offsets[-1])

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
    def minimum(self) -> pa.Array:
        return self._field("minimum")

    @cached_property
    def maximum(self) -> pa.Array:
        return self._field("maximum")

    @cached_property
    def mean_length(self) -> Array:
        return self._number("mean_length")

    @cached_property
    def place(self) -> Array:
        """The position of each column in its table."""
        starts = np.flatnonzero(np.diff(self.table_of, prepend=-1))
        places: Array = np.arange(len(self)) - np.repeat(starts, np.diff(np.append(starts, len(self))))
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

    @property
    def unique(self) -> Array:
        """Whether no value occurs in two rows; nulls do not count."""
        once: Array = (self.distinct > 0) & (self.distinct == self.rows - self.nulls)
        return once

    @cached_property
    def keys(self) -> Array:
        """Whether a column could be a key: no repeated value and hardly a null.

        A single null may be a value that only looks like one, such as the language code "nan".
        """
        could: Array = self.unique & (self.nulls * _ROWS_PER_NULL <= self.rows)
        return could

    def numbers_of(self, tables: set[str]) -> dict[str, dict[str, int]]:
        """Of live tables with these names, the numbers of their columns by name."""
        found: dict[str, dict[str, int]] = {}
        for table, name in enumerate(self.table_names.to_pylist()) if tables else ():
            if name in tables:
                first, last = np.searchsorted(self.table_of, [table, table + 1]).tolist()
                if last > first and self.alive[first]:
                    own = self.names[first:last].to_pylist()
                    found[name] = {column: first + place for place, column in enumerate(own)}
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

    @cached_property
    def leading(self) -> Array:
        """Whether a column is the first of its table that could be a key."""
        keys = np.flatnonzero(self.keys)
        _, first = np.unique(self.table_of[keys], return_index=True)
        leads = np.zeros(len(self), bool)
        leads[keys[first]] = True
        return leads


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
