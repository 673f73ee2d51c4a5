"""Tables and columns of an open index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._names import unknown
from dovetail._text import first_names
from dovetail.catalog.records import ColumnRecord, TableRecord
from dovetail.errors import UnknownName
from dovetail.lake.declared import NO_KEYS, DeclaredKeys
from dovetail.results import Rows
from dovetail.tables.frames import typed
from dovetail.tables.input_table import InputTable

if TYPE_CHECKING:
    import pandas as pd

_HEAD = 5
_SHOWN_COLUMNS = 20


@dataclass(frozen=True, repr=False)
class Column:
    """A column of a table with its profile; `to_dict()` has all of it."""

    table: str
    record: ColumnRecord
    declared: DeclaredKeys = NO_KEYS  # those keys of the database that the column is part of
    separator: str | None = None
    """Between the values of a cell, where cells hold several; `[]` for JSON lists."""

    def __repr__(self) -> str:
        return f"<Column {self.name} of {self.table}: {self.type}, {self.distinct:,} distinct, {self.nulls:,} nulls>"

    @property
    def name(self) -> str:
        return self.record.column

    @property
    def type(self) -> str:
        return self.record.type.kind

    @property
    def rows(self) -> int:
        return self.record.rows

    @property
    def nulls(self) -> int:
        return self.record.nulls

    @property
    def distinct(self) -> int:
        return self.record.distinct

    @property
    def key(self) -> bool:
        """Whether every row has a value and no value repeats."""
        return self.record.is_key

    @property
    def sample(self) -> tuple[str, ...]:
        return self.record.sample

    def to_dict(self) -> dict[str, Any]:
        record = self.record
        return {
            "column": record.column,
            "type": record.type.kind,
            "separator": self.separator,
            "rows": record.rows,
            "nulls": record.nulls,
            "distinct": record.distinct,
            "unique": record.is_unique,
            "uniqueness": round(record.uniqueness, 6),
            "key": record.is_key,
            "raw_distinct": record.raw_distinct,
            "min": record.minimum,
            "max": record.maximum,
            "mean_length": round(record.mean_length, 3),
            "max_length": record.max_length,
            "number_share": round(record.number_share, 6),
            "top": [{"value": value, "rows": rows} for value, rows in record.top],
            "sample": list(record.sample),
            "declared": self.declared.to_dict() if self.declared else None,
        }


@dataclass(frozen=True, repr=False)
class Table:
    """A table of the lake; or a file that is not a table, in which case `error` says why."""

    record: TableRecord
    columns: Rows[Column]
    open: Callable[[], InputTable] = field(repr=False)

    def __repr__(self) -> str:
        names = [column.name for column in self.columns]
        content = self.error or f"{self.rows:,} rows, columns {first_names(names, _SHOWN_COLUMNS)}"
        return f"<Table {self.name}: {content}>"

    @property
    def name(self) -> str:
        return self.record.table

    @property
    def rows(self) -> int:
        return self.record.rows

    @property
    def error(self) -> str:
        return self.record.error

    @property
    def declared(self) -> DeclaredKeys:
        """The keys that the database declares for the table."""
        return self.record.declared

    def column(self, name: str) -> Column:
        """A column by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName(unknown(f"{self.name} has no column", name, [column.name for column in self.columns]))

    def to_arrow(self) -> pa.Table:
        """All rows, read from the table's file; columns of numbers, dates or booleans have such types."""
        return typed(self.open().text)

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a pandas frame."""
        return self.to_arrow().to_pandas()

    def head(self, rows: int = _HEAD) -> pd.DataFrame:
        """The first rows as a pandas frame."""
        return typed(self.open().text.slice(0, rows)).to_pandas()


@dataclass(frozen=True)
class TableLine:
    """One line of `lake.tables()`."""

    table: str
    rows: int
    columns: int
    bytes: int
    error: str

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "error": self.error or None}


@dataclass(frozen=True)
class Occurrence:
    """A column that contains a value."""

    table: str
    column: str
    type: str
    rows: int  # that contain it

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class ColumnLine:
    """A column that was found by its name."""

    table: str
    column: str
    type: str
    rows: int
    nulls: int
    distinct: int

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))
