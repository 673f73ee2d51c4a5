"""Files that a command reads and writes: tables from standard input, rows to a file or to standard output."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pyarrow as pa

from dovetail._interrupt import tidied
from dovetail._output import check_place, csv_text, whole_file, write_csv
from dovetail._text import plain
from dovetail.cli.output import echo
from dovetail.errors import InputError

if TYPE_CHECKING:
    from dovetail.transform.transformation import Transformation

STANDARD = "-"
_ROWS_AT_ONCE = 10_000  # arbitrary: a few megabytes of text


def _json_text(table: pa.Table) -> Iterator[str]:
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _write_parquet(table: pa.Table, path: str) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)


def _write_feather(table: pa.Table, path: str) -> None:
    import pyarrow.feather

    pyarrow.feather.write_feather(table, path)


Writer = Callable[[pa.Table, str], None]
WRITERS: dict[str, Writer] = {
    ".csv": write_csv,
    ".parquet": _write_parquet,
    ".arrow": _write_feather,
    ".feather": _write_feather,
}
# The first bytes of formats that cannot be mistaken; other input is delimited text.
_MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\x1f\x8b", ".csv.gz"), (b"{", ".jsonl"))


def check_output(output: Path, inputs: Sequence[str]) -> None:
    """Before work that may take long."""
    if str(output) == STANDARD:
        return
    if output.suffix not in WRITERS:
        raise InputError(f"Cannot write {output.suffix or 'a file without suffix'}; use {', '.join(WRITERS)} or -.")
    check_place(output)
    if any(Path(each).exists() and output.exists() and output.samefile(each) for each in inputs):
        raise InputError(f"{output} is one of the files to join; write to another.")


def write_table(table: pa.Table, output: Path) -> None:
    with whole_file(output) as draft:
        WRITERS[output.suffix](table, str(draft))


def save_transformation(transformation: Transformation | None, path: Path) -> None:
    """Say so if nothing was learned, and go on: the join must not be lost."""
    if transformation is None:
        echo(f"{path} was not written: no transformation was learned.", err=True)
    else:
        transformation.save(path)


def print_rows(table: pa.Table, as_lines: bool) -> None:
    """All rows to standard output: JSON lines, or else CSV."""
    shown = plain if sys.stdout.isatty() else str  # another program gets what is in the table
    for text in _json_text(table) if as_lines else csv_text(table):
        click.echo(shown(text), nl=False)


@contextlib.contextmanager
def from_standard_input(*tables: str) -> Iterator[list[str]]:
    """The names of tables, with `-` replaced by a file that holds what standard input has."""
    if tables.count(STANDARD) > 1:
        raise InputError("Only one table can come from standard input.")
    if STANDARD not in tables:
        yield list(tables)
        return
    content = sys.stdin.buffer.read()
    suffix = next((suffix for magic, suffix in _MAGIC if content.lstrip().startswith(magic)), ".csv")
    folder = tempfile.mkdtemp()
    with tidied(lambda: shutil.rmtree(folder, ignore_errors=True)):
        path = Path(folder) / f"standard-input{suffix}"
        path.write_bytes(content)
        yield [str(path) if table == STANDARD else table for table in tables]
