"""One side of a join: a table as text, where it comes from, and its columns as tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.layout import Layout
from dovetail.lake.reader import detect_layout
from dovetail.tables.query import QueryColumn, QueryTable, as_batches, query_column, read_file


@dataclass
class Side:
    table: pa.Table  # of text
    name: str
    data: Any = None  # the frame that it was made of; null where it was a file
    path: Path | None = None
    layout: Layout | None = None
    _columns: dict[str, QueryColumn] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def names(self) -> list[str]:
        return list(self.table.column_names)

    def column(self, name: str) -> QueryColumn:
        """A column's tokens, made once."""
        if name not in self._columns:
            self._columns[name] = query_column(name, self.table.column(name))
        return self._columns[name]

    @property
    def query(self) -> QueryTable:
        columns = tuple(self.column(name) for name in self.names)
        return QueryTable(self.name, str(self.path or ""), self.rows, columns)


def side(data: Any, name: str) -> Side:
    """A file or a frame."""
    if not isinstance(data, str | Path):
        return Side(pa.Table.from_batches(as_batches(data)), name, data)
    path = Path(data)
    if not path.is_file():
        raise InputError(f"There is no file {data}.")
    try:
        layout = detect_layout(path)
    except UnreadableTable as reason:
        raise InputError(f"{path} cannot be read: {reason}.") from reason
    return file_side(path, layout, path.name)


def as_side(data: Any, name: str) -> Side:
    return data if isinstance(data, Side) else side(data, name)


def file_side(path: Path, layout: Layout, name: str) -> Side:
    return Side(pa.Table.from_batches(read_file(path, layout)), name, None, path, layout)
