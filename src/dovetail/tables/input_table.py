"""A table that a user gives to search or to join: a file, a frame, some values, or a table of the lake."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._names import unknown
from dovetail._objects import is_remote
from dovetail.catalog.near_copies import Outline, ValueRange
from dovetail.catalog.profile import shorten, value_range
from dovetail.errors import InputError, UnknownName, UnreadableTable
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.lake.column_rules import UNTOUCHED
from dovetail.lake.columnar import stored_rows
from dovetail.lake.containers.registry import parse_member
from dovetail.lake.layout import Layout, distinct_names
from dovetail.lake.listing import CATALOG, DATAFRAMES, SPARK, TableFile, is_spark, is_table_folder
from dovetail.lake.reader import AnyPath, detect_layout, read
from dovetail.lake.schemes import refuse_password, source_class
from dovetail.lake.source import is_plain_file, is_unchanged, source_of
from dovetail.lake.strings import flat_names, string_batch
from dovetail.normalise.keyed import HASHED, hash_key
from dovetail.tables.frames import dates_of_midnights, is_list, to_arrow, typed
from dovetail.tables.input_column import InputColumn, hashed_column, input_column


class InputTable:
    """A table whose columns are normalised when they are first used."""

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        rows: int,
        read_text: Callable[[], pa.Table],
        read_column: Callable[[str], InputColumn] | None = None,
        *,
        data: Any = None,
        path: Path | None = None,
        layout: Layout | None = None,
        id: str | None = None,
        address: str | None = None,
    ) -> None:
        self.name = name
        self.names = list(columns)
        self.rows = rows
        self.data = data  # the frame that was given; None for a file
        self.path = path  # of the file; None for a frame, and for a file elsewhere
        self.address = str(path.resolve()) if path else address  # as the lake would have it; None for a frame
        self.layout = layout
        self.id = id  # in the lake; None for what is not a table of it
        self._read_text = read_text
        self._read_column = read_column or self._column_of_text
        self._columns: dict[str, InputColumn] = {}

    @classmethod
    def of_text(cls, table: pa.Table, name: str, data: Any = None) -> InputTable:
        """Columns of raw text; `data` is the frame that they come from."""
        return cls(name, table.column_names, table.num_rows, lambda: table, data=data)

    @property
    def is_list(self) -> bool:
        """Whether values were given instead of a table, so that there is one column to ask about."""
        return len(self.names) == 1 and is_list(self.data)

    @cached_property
    def text(self) -> pa.Table:
        """All columns as raw text."""
        return self._read_text()

    @cached_property
    def typed(self) -> pa.Table:
        """All columns with the types that a frame or a Parquet, Arrow or ORC file gives them; else by their values."""
        if self.data is not None:
            given = to_arrow(self.data)
            return given.rename_columns(self.names) if given.num_columns == len(self.names) else typed(self.text)
        stored = None if self.path is None or self.layout is None else stored_rows(self.path, self.layout)
        return typed(self.text) if stored is None else stored.select(self.names)

    def column(self, name: str) -> InputColumn:
        if name not in self._columns:
            if name not in self.names:
                raise UnknownName(unknown(f"{self.name} has no column", name, self.names))
            self._columns[name] = self._read_column(name)
        return self._columns[name]

    def only(self, names: Sequence[str]) -> InputTable:
        """The same rows with these columns alone."""
        some = list(dict.fromkeys(names))
        return InputTable(self.name, some, self.rows, lambda: self.text.select(some), self.column, id=self.id)

    def without(self, name: str) -> InputTable:
        """The same table without a column."""
        some = [each for each in self.names if each != name]
        return InputTable(
            self.name, some, self.rows, lambda: self.text.select(some), self.column, data=self.data, path=self.path,
            layout=self.layout, id=self.id,
        )  # fmt: skip

    @cached_property
    def columns(self) -> tuple[InputColumn, ...]:
        return tuple(map(self.column, self.names))

    @cached_property
    def outline(self) -> Outline:
        """What near-copies of it are recognised by."""
        return Outline(self.name if self.path is None else str(self.path.resolve()), dict(map(_ranged, self.columns)))

    def values(self, name: str) -> list[str | None]:
        """The raw text of every row; None for null."""
        raw = self.text.column(name)
        is_null = self.column(name).codes() < 0
        if is_null.any():
            raw = pc.if_else(pa.array(is_null), None, raw.combine_chunks())
        values: list[str | None] = raw.to_pylist()
        return values

    def _column_of_text(self, name: str) -> InputColumn:
        return input_column(name, self.text.column(name))


def _ranged(column: InputColumn) -> tuple[str, ValueRange]:
    kind, ends = column.type.kind, value_range(column.tokens, column.type) if column.size else ("", "")
    return column.name, ValueRange(kind, column.size, *map(shorten, ends))


def open_table(data: Any, name: str = "query", segments: Sequence[OpenSegment] | None = None) -> InputTable:
    """The table of a path, a frame, a dict of columns or some values; with segments, also of a table of the lake."""
    found = data if isinstance(data, InputTable) else _opened(data, name, segments)
    return found if segments is None else with_hashes(found, segments)


def _opened(data: Any, name: str, segments: Sequence[OpenSegment] | None) -> InputTable:
    if not isinstance(data, str | Path):
        return InputTable.of_text(pa.Table.from_batches(_frame_batches(data)), name, data)
    if is_remote(data) or source_class(str(data)):
        refuse_password(str(data))
        return _of_address(str(data), segments or ())
    path = Path(data)
    member = parse_member(str(data))
    if member is not None and Path(member.path).is_file():
        return _of_address(str(Path(member.path).resolve()) + str(data).removeprefix(member.path), segments or ())
    if path.is_dir() and is_table_folder(path):
        return _of_address(f"{path.resolve()}/", segments or ())
    if path.is_file():
        place = place_of(str(path.resolve()), segments or ())
        if place is not None and hides_columns(*place):
            return lake_table(*place)
        with reasons_of(path):
            return _of_file(path, place and place[0].names[place[1]])
    if segments is None:
        raise InputError(f"There is no file {data}.")
    return lake_table(*find_table(segments, str(data), "There is no file, and the index has no table"))


def only_column(table: InputTable, name: str | None) -> InputColumn:
    """The column of this name; without a name, the table must have one column only."""
    if name is None and len(table.names) != 1:
        raise InputError(f"{table.name} has {len(table.names)} columns; name one: {', '.join(table.names)}.")
    return table.column(table.names[0] if name is None else name)


def lake_table(segment: OpenSegment, number: int) -> InputTable:
    """A table of the lake: tokens come from the index, text from its file, which must be as it was indexed."""
    record = segment.catalog.table(number)
    if record.error:
        raise InputError(f"{record.table} is not a table: {record.error}.")
    places = dict(
        zip(
            (column.column for column in segment.catalog.columns_of(number)),
            segment.catalog.column_range(number),
            strict=True,
        )
    )
    layout = Layout.from_json(json.loads(record.layout))
    is_hiding = bool(layout.excluded or layout.hashed)
    path = Path(record.path) if is_plain_file(record.path) and not is_hiding else None

    def read_text() -> pa.Table:
        found = read_rows().select([name for name in places if name not in layout.hashed])
        for name in layout.hashed:  # as the index has them: what is in the file is not to be shown
            hashes = segment.tokens.tokens(segment.tokens.set_of(places[name])[0])
            codes = segment.rows.codes(places[name])
            shown = hashes.take(pa.array(codes, mask=codes < 0)).cast(pa.string())
            found = found.add_column(list(places).index(name), name, shown)
        return found

    def read_rows() -> pa.Table:
        if is_spark(record.path):
            return pa.Table.from_batches(_frame_batches(_spark_table(record.path)))
        if not is_unchanged(record.path, record.fingerprint):
            raise InputError(f"{record.table} has changed since it was indexed. Run `dovetail index` again.")
        with _local_file(record.path) as file:
            return pa.Table.from_batches(_file_batches(file, layout))

    def read_column(name: str) -> InputColumn:
        place = places[name]
        ids, counts = segment.tokens.set_of(place)
        found = segment.tokens.tokens(ids)
        codes = functools.partial(segment.rows.codes, place)
        kind = segment.catalog.column(place).type
        return InputColumn(name, kind, record.rows, found, counts.astype(np.int64), found, codes)

    return InputTable(
        record.table, list(places), record.rows, read_text, read_column, path=path,
        layout=None if is_hiding else layout, id=record.table, address=record.path,
    )  # fmt: skip


def with_hashes(table: InputTable, segments: Sequence[OpenSegment]) -> InputTable:
    """The table with hashes for tokens where more of a column's values are in the lake as hashes than as they are.

    That takes the key. What is shown of the table stays as it is.
    """
    if table.id is not None or hash_key() is None or not any(map(_has_hashes, segments)):
        return table

    def known(tokens: pa.Array) -> int:
        return max(int((segment.tokens.find(tokens) >= 0).sum()) for segment in segments)

    def read_column(name: str) -> InputColumn:
        plain, hashed = table.column(name), hashed_column(name, table.text.column(name))
        return hashed if known(hashed.tokens) > known(plain.tokens) else plain

    return InputTable(
        table.name, table.names, table.rows, lambda: table.text, read_column, data=table.data, path=table.path,
        layout=table.layout, id=table.id, address=table.address,
    )  # fmt: skip


def _has_hashes(segment: OpenSegment) -> bool:
    return bool(pc.any(pc.equal(segment.catalog.columns["kind"], HASHED.kind)).as_py())


def _spark_table(path: str) -> Any:
    """The table of a Spark catalog, by the session that is active."""
    place, _, name = path.partition("/")
    session = sys.modules["pyspark.sql"].SparkSession.getActiveSession() if "pyspark.sql" in sys.modules else None
    if place != CATALOG or session is None:
        name = name if place in (CATALOG, DATAFRAMES) else path.removeprefix(SPARK)
        raise InputError(f"{name} was read by a Spark session, and there is none that has it: its rows cannot be read.")
    return session.table(name)


@contextlib.contextmanager
def _local_file(address: str) -> Iterator[AnyPath]:
    """The file at a path or an address, as long as the context is open."""
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder, reasons_of(address):
        yield source_of(address).copy(TableFile("", address, 0, ""), Path(folder)).path


@contextlib.contextmanager
def reasons_of(address: str | Path) -> Iterator[None]:
    """Why a table cannot be read, in a sentence with the name that the user knows it by."""
    try:
        yield
    except UnreadableTable as reason:
        raise InputError(f"{address} cannot be read: {reason}.") from reason
    except OSError as error:
        raise InputError(f"{address} cannot be read: {error.strerror}.") from error


def _of_address(address: str, segments: Sequence[OpenSegment]) -> InputTable:
    place = place_of(address, segments)
    if place is not None and hides_columns(*place):
        return lake_table(*place)
    with _local_file(address) as file:
        found = _of_file(file, place and place[0].names[place[1]])
    name = address.rstrip("/").rpartition("/")[2]
    return InputTable(name, found.names, found.rows, lambda: found.text, id=found.id, address=address)


def place_of(address: str, segments: Sequence[OpenSegment]) -> tuple[OpenSegment, int] | None:
    """The live table that this file is, as it is now or was when it was indexed."""
    for segment in segments:
        for number in np.flatnonzero(pc.equal(segment.catalog.tables["path"], address)):
            if segment.alive[number]:
                return segment, int(number)
    return None


def hides_columns(segment: OpenSegment, number: int) -> bool:
    """Whether columns of the file are left out of the table, or are there as hashes."""
    layout = segment.catalog.tables["layout"][number].as_py()
    return bool(layout) and UNTOUCHED not in layout


def _of_file(path: AnyPath, id: str | None) -> InputTable:
    layout = detect_layout(path)
    text = pa.Table.from_batches(_file_batches(path, layout))
    here = path if isinstance(path, Path) else None
    return InputTable(path.name, text.column_names, text.num_rows, lambda: text, path=here, layout=layout, id=id)


def _file_batches(path: AnyPath, layout: Layout) -> list[pa.RecordBatch]:
    """A file's rows as batches of raw text."""
    empty = pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in layout.columns], list(layout.columns))
    return list(read(path, layout)) or [empty]


def _frame_batches(data: Any) -> list[pa.RecordBatch]:
    table = dates_of_midnights(to_arrow(data))
    columns = distinct_names(flat_names(table.schema))
    batches = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return [string_batch(batch, tuple(columns)) for batch in batches]
