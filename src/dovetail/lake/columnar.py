"""Parquet, Arrow and ORC files: typed columns to strings, read and split by row group, batch or stripe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dovetail.errors import TemporarilyUnreadable, UnreadableTable
from dovetail.lake.declared import DeclaredKeys
from dovetail.lake.formats import refuse_empty, refuse_other_content
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.object_path import ObjectPath, TablePath
from dovetail.lake.streams import ARROW_CONTENT, broken, open_bytes
from dovetail.lake.strings import bounded, flat_names, flattened, string_batch

COLUMNAR = {"parquet": "Parquet file", "arrow": "Arrow file", "orc": "ORC file"}
"""By format, what a file of it is called."""
ROWS_AT_ONCE = 1 << 16
BYTES_AT_ONCE = 1 << 25
"""Of one batch as stored. Arbitrary: large enough that the cost of a call does not count."""
READ_BUFFER = 1 << 20
"""A column chunk is read piece by piece instead of whole; about a page of Parquet."""
LARGEST_READ_BATCH = 1 << 28
"""An Arrow file whose batches are larger on average is mapped: as read, one batch might not fit into memory."""


def detect_columnar(path: TablePath, format: str) -> Layout:
    try:
        with opened(path, format) as (_, schema):
            names = flat_names(schema)
    except TemporarilyUnreadable:
        raise
    except UnreadableTable:
        _refuse_other_files(path)
        raise
    if not names:
        raise UnreadableTable("no columns")
    return Layout(format, distinct_names(names), declared=DeclaredKeys.from_metadata(schema.metadata))


def _refuse_other_files(path: TablePath) -> None:
    """Raises with a better reason where the first bytes show one. Others need not be fetched for it."""
    with open_bytes(path, "") as file:
        head = file.read(4096)
    refuse_empty(head)
    if not head.startswith((b"PAR1", b"ARROW1", b"FEA1", b"ORC", b"\xff\xff\xff\xff")):
        refuse_other_content(head, wide=True)


@contextmanager
def opened(path: TablePath, format: str, int96_unit: str = "ns") -> Iterator[tuple[Any, Any]]:
    """(reader, schema). The reader is a Parquet, Arrow or ORC file, an Arrow stream or a table (Feather 1).

    Others may truncate a file of the lake at any time, and a process that has it mapped is then killed: so it is read.
    """
    with broken(COLUMNAR[format], *ARROW_CONTENT), arrow_file(path) as file:
        if format == "parquet":
            reader = open_parquet(file, int96_unit)
            yield reader, reader.schema_arrow
        else:
            reader = open_orc(file) if format == "orc" else open_arrow(file, path)
            yield reader, reader.schema


def arrow_file(path: TablePath) -> Any:
    return pa.PythonFile(path.open("rb"), "r") if isinstance(path, ObjectPath) else pa.OSFile(str(path))


def open_parquet(file: Any, int96_unit: str = "ns") -> Any:
    """Texts that are stored as a dictionary stay one: written out, a small file's texts may exceed all memory.

    Others do not become one: Arrow's would grow with every batch until the end of the row group. Old moments (INT96)
    are read in this unit; nanoseconds end in the year 2262.
    """
    import pyarrow.parquet as pq

    about = pq.read_metadata(file)
    columns = enumerate(about.schema.column(number) for number in range(about.num_columns))
    texts = [(number, c.path) for number, c in columns if c.physical_type == "BYTE_ARRAY" and "." not in c.path]
    dictionaries = [path for number, path in texts if _is_dictionary(about, number)]
    return pq.ParquetFile(
        file, metadata=about, read_dictionary=dictionaries, buffer_size=READ_BUFFER, pre_buffer=False,
        coerce_int96_timestamp_unit=int96_unit,
    )  # fmt: skip


def _is_dictionary(about: Any, column: int) -> bool:
    """Whether a column of texts may be stored as a dictionary and numbers in it, which take four bytes at most.

    Writers begin with a dictionary and give it up where it grows too large: where what comes after it takes more than
    four bytes a text, compressed, it has been given up. Where it takes less, that cannot be known.
    """
    numbers = rest = 0
    for group in range(about.num_row_groups):
        chunk = about.row_group(group).column(column)
        nulls = chunk.statistics.null_count if chunk.statistics is not None else None
        numbers += chunk.num_values - (nulls or 0)
        rest += chunk.total_compressed_size
        if chunk.has_dictionary_page:
            rest -= chunk.data_page_offset - chunk.dictionary_page_offset
    return bool(rest <= 4 * numbers)


def open_orc(file: Any) -> Any:
    import pyarrow.orc

    return pyarrow.orc.ORCFile(file)


def open_arrow(file: Any, path: TablePath) -> Any:
    magic = file.read(6)
    file.seek(0)
    if magic == b"ARROW1":
        reader = pa.ipc.open_file(file)
        if file.size() > LARGEST_READ_BATCH * max(1, reader.num_record_batches):
            # Larger than memory, perhaps, so that mapping is the lesser risk: the run survives the death of a worker.
            return pa.ipc.open_file(pa.memory_map(str(path)))
        return reader
    if magic.startswith(b"FEA1"):
        import pyarrow.feather

        return pyarrow.feather.read_table(path)
    return pa.ipc.open_stream(file)


def read_columnar(path: TablePath, layout: Layout, part: Part, counter: RowCounter) -> Iterator[Any]:
    with opened(path, layout.format) as (reader, _):
        for batch in BATCHES[layout.format](reader, part):
            for start in range(0, max(batch.num_rows, 1), ROWS_AT_ONCE):
                for piece in bounded(batch.slice(start, ROWS_AT_ONCE)):
                    counter.rows += piece.num_rows
                    yield string_batch(piece, layout.columns)


def parquet_batches(reader: Any, part: Part) -> Iterator[Any]:
    groups = range(part.start, reader.num_row_groups if part.stop is None else part.stop)
    for group in groups:
        about = reader.metadata.row_group(group)
        wide = max(1, about.total_byte_size // max(1, about.num_rows))
        rows = max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // wide))
        found = 0
        for batch in reader.iter_batches(batch_size=rows, row_groups=[group], use_threads=False):
            found += batch.num_rows
            yield batch
        if found != about.num_rows:  # Arrow's reader takes a file that was cut off meanwhile for one that ends
            raise UnreadableTable(f"broken Parquet file: {found:,} rows of {about.num_rows:,}")


def arrow_batches(reader: Any, part: Part) -> Iterator[Any]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        last = reader.num_record_batches if part.stop is None else part.stop
        return _valid(reader.get_batch(index) for index in range(part.start, last))
    return _valid(reader.to_batches() if isinstance(reader, pa.Table) else reader)


def _valid(batches: Iterable[Any]) -> Iterator[Any]:
    """An Arrow file is memory as it is: offsets that lie point anywhere, and Arrow does not look unless it is told."""
    for batch in batches:
        batch.validate(full=True)
        yield batch


def orc_batches(reader: Any, part: Part) -> Iterator[Any]:
    last = reader.nstripes if part.stop is None else part.stop
    return (reader.read_stripe(number) for number in range(part.start, last))


BATCHES = {"parquet": parquet_batches, "arrow": arrow_batches, "orc": orc_batches}


def stored_rows(path: TablePath, layout: Layout) -> Any | None:
    """The rows of a columnar file with their types, a column for each field of a struct; None for other files."""
    types = stored_schema(path, layout)
    if types is None:
        return None
    with opened(path, layout.format) as (reader, schema):
        rows = pa.Table.from_batches(BATCHES[layout.format](reader, Part()), schema)
    flat = [column for field, whole in zip(schema, rows.columns, strict=True) for column in _flat(field.name, whole)]
    return pa.Table.from_arrays([column for _, column in flat], types.names).cast(types)


def stored_schema(path: TablePath, layout: Layout) -> Any | None:
    """The names and types of the columns of such a file."""
    if layout.format not in BATCHES:
        return None
    with opened(path, layout.format) as (_, schema):
        empty = schema.empty_table()
        flat = [column for field in schema for column in _flat(field.name, empty[field.name])]
        if [name for name, _ in flat] != list(layout.columns):
            return None
        return pa.schema([(name, _plain_type(column.type)) for name, column in flat])


def _flat(name: str, column: Any) -> Iterator[tuple[str, Any]]:
    chunks = column.chunks or [pa.array([], column.type)]
    parts = zip(*(flattened(name, chunk) for chunk in chunks), strict=True)
    for same in parts:
        yield same[0][0], pa.chunked_array([array for _, array in same])


def _plain_type(kind: Any) -> Any:
    """Dictionaries save memory while a file is read; they are no type of its columns."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def split_columnar(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    """By row groups, whose sizes the footer tells, or by batches or stripes, which are taken for equally large."""
    with opened(path, layout.format) as (reader, _):
        if layout.format == "parquet":
            sizes = [reader.metadata.row_group(i).total_byte_size for i in range(reader.num_row_groups)]
        elif layout.format == "orc" or isinstance(reader, pa.ipc.RecordBatchFileReader):
            number = reader.nstripes if layout.format == "orc" else reader.num_record_batches
            sizes = [path.stat().st_size // max(1, number)] * number
        else:
            sizes = []
    return grouped(sizes, target_bytes)


def grouped(sizes: list[int], target: int) -> list[Part]:
    """Neighbours put together until they reach the target; the last part is open at its end."""
    edges, weight = [0], 0
    for index, size in enumerate(sizes):
        if weight and weight + size > target:
            edges.append(index)
            weight = 0
        weight += size
    return [Part(start, stop) for start, stop in zip(edges, [*edges[1:], None], strict=True)]
