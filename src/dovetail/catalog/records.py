"""One record a table and one a column, and how they lie on disk.

They are Arrow tables inside one pack, compressed. What searches read of all columns is decompressed at once, in
milliseconds; examples of values, which take most room and are shown of few columns, a batch of columns at a time.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.lake.declared import NO_KEYS, DeclaredKeys
from dovetail.normalise import ColumnType

NAME = "catalog"
VERSION = 2
_DECLARED = "declared"  # an array that only segments with declared keys have
_BATCH = 1024  # columns whose examples are compressed together


@dataclass(frozen=True)
class TableRecord:
    """A table of the lake, or a file that could not be read as one (then `error` says why)."""

    table: str
    path: str
    fingerprint: str
    bytes: int
    rows: int = 0
    error: str = ""
    layout: str = ""  # JSON: format, encoding, dialect; what a later read of the same file needs
    ragged_rows: int = 0  # with fewer or more cells than columns: filled up with nulls, or cut
    unclosed_quotes: int = 0  # rows whose quotes did not close and were taken as plain characters
    declared: DeclaredKeys = NO_KEYS  # by the database that holds the table


@dataclass(frozen=True)
class ColumnRecord:
    """A column and its profile. `nulls` and `distinct` speak of tokens, `raw_distinct` of what the file has."""

    column: str
    type: ColumnType
    rows: int
    nulls: int
    raw_distinct: int
    distinct: int = 0  # known once the segment's sets are built
    minimum: str = ""
    maximum: str = ""
    mean_length: float = 0.0
    max_length: int = 0
    number_share: float = 0.0
    top: tuple[tuple[str, int], ...] = field(default=())
    sample: tuple[str, ...] = field(default=())

    @property
    def uniqueness(self) -> float:
        """Distinct values per row that has one; 1 where every value differs."""
        filled = self.rows - self.nulls
        return self.distinct / filled if filled else 0.0

    @property
    def is_unique(self) -> bool:
        return 0 < self.distinct == self.rows - self.nulls

    @property
    def is_key(self) -> bool:
        """A key candidate: every row has a value, and no two the same."""
        return self.is_unique and self.nulls == 0


_TABLES = pa.schema(
    [
        ("table", pa.string()),
        ("path", pa.string()),
        ("fingerprint", pa.string()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("error", pa.string()),
        ("layout", pa.string()),
        ("ragged_rows", pa.int64()),
        ("unclosed_quotes", pa.int64()),
        ("first_column", pa.int64()),
        ("columns", pa.int64()),
    ]
)
_TOP = pa.list_(pa.struct([("value", pa.string()), ("rows", pa.int64())]))
_COLUMNS = pa.schema(
    [
        ("table", pa.int64()),
        ("column", pa.string()),
        ("kind", pa.string()),
        ("type", pa.dictionary(pa.int32(), pa.string())),
        ("rows", pa.int64()),
        ("nulls", pa.int64()),
        ("raw_distinct", pa.int64()),
        ("distinct", pa.int64()),
        ("minimum", pa.string()),
        ("maximum", pa.string()),
        ("mean_length", pa.float64()),
        ("max_length", pa.int64()),
        ("number_share", pa.float64()),
    ]
)
_EXAMPLES = pa.schema([("top", _TOP), ("sample", pa.list_(pa.string()))])


class CatalogWriter:
    """Collects the records of one segment; `distinct` comes last, from the sets that were built meanwhile."""

    def __init__(self) -> None:
        self._tables = _Rows(_TABLES)
        self._columns = _Rows(pa.schema([*_COLUMNS, *_EXAMPLES]))
        self._declared: dict[int, dict[str, Any]] = {}
        self._totals = {"rows": 0, "bytes": 0}
        self.widths: list[int] = []
        """How many columns each table has."""

    @property
    def columns(self) -> int:
        return self._columns.number

    def add_table(self, record: TableRecord, columns: list[ColumnRecord]) -> None:
        number, first = self._tables.number, self._columns.number
        for column in columns:
            values = {**vars(column), "table": number, "kind": column.type.kind}
            values["type"] = _type_text(column.type)
            values["top"] = [{"value": value, "rows": rows} for value, rows in column.top]
            self._columns.add(values)
        if record.declared:
            self._declared[number] = record.declared.to_json()
        self._tables.add({**vars(record), "first_column": first, "columns": len(columns)})
        self._totals["rows"] += record.rows
        self._totals["bytes"] += record.bytes
        self.widths.append(len(columns))

    def write(self, pack: PackWriter, distinct: Sequence[int] | Array) -> None:
        found = self._columns.table()
        columns = found.select(_COLUMNS.names).combine_chunks()
        place = _COLUMNS.get_field_index("distinct")
        columns = columns.set_column(place, _COLUMNS.field(place), pa.array(distinct, pa.int64()))
        pack.add("tables", _to_bytes(self._tables.table().combine_chunks()))
        pack.add("columns", _to_bytes(columns))
        pack.add("examples", _to_bytes(found.select(_EXAMPLES.names), "zstd", _BATCH))
        if self._declared:
            pack.add(_DECLARED, np.frombuffer(json.dumps(self._declared).encode(), np.uint8))

    def counts(self) -> dict[str, int]:
        return {"tables": self._tables.number, "columns": self._columns.number, **self._totals}


class _Rows:
    """Rows of one table, kept in Arrow's form but for the last few: as Python objects, a column takes kilobytes."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._full: list[pa.Table] = []  # of `_BATCH` rows each
        self._last: list[dict[str, Any]] = []

    @property
    def number(self) -> int:
        return len(self._full) * _BATCH + len(self._last)

    def add(self, row: dict[str, Any]) -> None:
        self._last.append(row)
        if len(self._last) == _BATCH:
            self._full.append(pa.Table.from_pylist(self._last, self._schema))
            self._last = []

    def table(self) -> pa.Table:
        """All of them, in chunks of `_BATCH` rows."""
        last = pa.Table.from_pylist(self._last, self._schema)
        return pa.concat_tables([*self._full, last]).unify_dictionaries()


class CatalogReader:
    """The catalog of one segment."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        self.tables = _file(pack["tables"]).read_all()
        self.columns = _file(pack["columns"]).read_all()
        self._examples = functools.lru_cache(4)(_file(pack["examples"]).get_batch)
        written = json.loads(pack[_DECLARED].tobytes()) if _DECLARED in pack.names() else {}
        self.declared = {int(number): DeclaredKeys.from_json(keys) for number, keys in written.items()}
        """By table: segments of files, and those of former versions, have none."""

    def table(self, number: int) -> TableRecord:
        row = self.tables.slice(number, 1).to_pylist()[0]
        del row["first_column"], row["columns"]
        return TableRecord(**row, declared=self.declared.get(number, NO_KEYS))

    def column_range(self, number: int) -> range:
        """The numbers of a table's columns within the segment."""
        first = self.tables["first_column"][number].as_py()
        return range(first, first + self.tables["columns"][number].as_py())

    def columns_of(self, number: int) -> list[ColumnRecord]:
        return self._records(self.column_range(number))

    def column(self, number: int) -> ColumnRecord:
        return self._records(range(number, number + 1))[0]

    def _records(self, place: range) -> list[ColumnRecord]:
        examples: list[dict[str, Any]] = []
        for batch in range(place.start // _BATCH, -(-place.stop // _BATCH)):
            first, last = max(place.start - batch * _BATCH, 0), min(place.stop - batch * _BATCH, _BATCH)
            examples += self._examples(batch).slice(first, last - first).to_pylist()
        rows = self.columns.slice(place.start, len(place)).to_pylist()
        return [_column_record(row | more) for row, more in zip(rows, examples, strict=True)]


@functools.lru_cache
def _type_text(column_type: ColumnType) -> str:
    return json.dumps(column_type.to_json(), sort_keys=True)


def _column_record(row: dict[str, Any]) -> ColumnRecord:
    del row["table"], row["kind"]
    row["type"] = ColumnType.from_json(json.loads(row["type"]))
    row["top"] = tuple((entry["value"], entry["rows"]) for entry in row["top"])
    row["sample"] = tuple(row["sample"])
    return ColumnRecord(**row)


def _to_bytes(table: pa.Table, compression: str = "lz4", batch: int | None = None) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        file.write_table(table, batch)
    return np.frombuffer(sink.getvalue(), np.uint8)


def _file(data: Any) -> pa.RecordBatchFileReader:
    return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(data)))
