"""Files that a command reads and writes: tables from standard input, rows to a file or to standard output."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from dovetail._output import check_place, whole_file
from dovetail.errors import InputError

STANDARD = "-"
_CSV = pyarrow.csv.WriteOptions(quoting_style="needed", quoting_header="needed")


def write_csv(table: pa.Table, place: Any) -> None:
    """Values are quoted only where they need it."""
    pyarrow.csv.write_csv(table, place, _CSV)


def write_json_lines(table: pa.Table, place: Any) -> None:
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            place.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


WRITERS: dict[str, Callable[[pa.Table, str], None]] = {
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
