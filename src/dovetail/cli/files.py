"""Files that a command reads and writes: tables from standard input, rows to a file or to standard output."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from dovetail._output import check_place, whole_file
from dovetail.errors import InputError

STANDARD = "-"
_ROWS_AT_ONCE = 50_000  # arbitrary: a few megabytes of text


def write_csv(table: pa.Table, place: str | BinaryIO) -> None:
    """Values are quoted only where they need it, which Arrow's own writer cannot do for texts."""
    with open(place, "wb") if isinstance(place, str) else contextlib.nullcontext(place) as file:  # noqa: PTH123
        names = pa.table({str(number): [name] for number, name in enumerate(table.column_names)})
        for batch in (*names.to_batches(), *table.to_batches(max_chunksize=_ROWS_AT_ONCE)):
            file.write(_csv_lines(batch))


def _csv_lines(batch: pa.RecordBatch) -> bytes:
    alone = batch.num_columns == 1  # a line without anything would be no row
    cells = [_csv_cells(column.cast(pa.large_string()), alone) for column in batch.columns]
    lines = pc.binary_join_element_wise(*cells, ",") if not alone else cells[0]
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _csv_cells(column: pa.Array, alone: bool) -> pa.Array:
    column = column.fill_null("")
    needed = pc.match_substring_regex(column, '[",\r\n]')
    if alone:
        needed = pc.or_(needed, pc.equal(column, ""))
    if not pc.any(needed).as_py():
        return column
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(needed, quoted, column)


def write_json_lines(table: pa.Table, place: Any) -> None:
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            place.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


WRITERS: dict[str, Callable[[pa.Table, str], Any]] = {
    ".csv": write_csv,
    ".parquet": pyarrow.parquet.write_table,
    ".arrow": pyarrow.feather.write_feather,
    ".feather": pyarrow.feather.write_feather,
}
# The first bytes of formats that cannot be mistaken; other input is delimited text.
_MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\x1f\x8b", ".csv.gz"), (b"{", ".jsonl"))


def check_output(output: Path, inputs: Sequence[str]) -> None:
    """Before work that may take long."""
    if str(output) == STANDARD:
        return
    if output.suffix not in WRITERS:
        raise InputError(f"Cannot write {output.suffix or 'a file without suffix'}: use {', '.join(WRITERS)} or -.")
    check_place(output)
    if any(Path(each).exists() and output.exists() and output.samefile(each) for each in inputs):
        raise InputError(f"{output} is one of the files to join; write to another.")


def write_table(table: pa.Table, output: Path) -> None:
    with whole_file(output) as draft:
        WRITERS[output.suffix](table, str(draft))


def print_rows(table: pa.Table, as_lines: bool) -> None:
    """All rows to standard output: JSON lines, or else CSV."""
    stream = click.get_binary_stream("stdout")
    if as_lines:
        write_json_lines(table, stream)
    else:
        write_csv(table, stream)
    stream.flush()


@contextlib.contextmanager
def from_standard_input(*tables: str) -> Iterator[list[str]]:
    """The names of tables, with `-` replaced by a file that holds what standard input has."""
    if tables.count(STANDARD) > 1:
        raise InputError("Standard input can be only one of the tables.")
    if STANDARD not in tables:
        yield list(tables)
        return
    content = sys.stdin.buffer.read()
    suffix = next((suffix for magic, suffix in _MAGIC if content.lstrip().startswith(magic)), ".csv")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"standard-input{suffix}"
        path.write_bytes(content)
        yield [str(path) if table == STANDARD else table for table in tables]
