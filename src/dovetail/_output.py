"""Files that a user asks for: checked before the work, complete or not there at all; and CSV."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._interrupt import tidied
from dovetail._types import Array
from dovetail.errors import InputError

_ROWS_AT_ONCE = 50_000  # arbitrary: a few megabytes of text


def check_place(path: Path) -> None:
    """Before work that may take long."""
    if path.is_dir():
        raise InputError(f"Cannot write {path}: it is a folder.")
    if not path.resolve().parent.is_dir():
        raise InputError(f"Cannot write {path}: there is no folder {path.parent}.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the file's place in the end. What fails before leaves the old file as it was."""
    check_place(path)
    if path.exists() and not path.is_file():  # a pipe or a device
        yield path
        return
    place = path.resolve()
    draft = place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}.draft")
    with tidied(lambda: draft.unlink(missing_ok=True)), named_failures(path):
        yield draft
        draft.replace(place)


@contextmanager
def named_failures(place: Path) -> Iterator[None]:
    """A failure to write names the place and has the system's own reason, whichever library met it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(place)) from error


def write_array(file: IO[bytes], array: Array) -> None:
    """As `tofile` of numpy does, which hides that a disk is full."""
    file.write(np.ascontiguousarray(array).view(np.uint8).data)


def write_csv(table: pa.Table, path: str) -> None:
    """Values are quoted only where they need it, which Arrow's own writer cannot do for texts."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_text(table))


def csv_text(table: pa.Table) -> Iterator[str]:
    """The lines of a table as CSV, many at a time."""
    names = pa.table({str(number): [name] for number, name in enumerate(table.column_names)})
    for batch in (*names.to_batches(), *table.to_batches(max_chunksize=_ROWS_AT_ONCE)):
        yield _csv_lines(batch)


def _csv_lines(batch: pa.RecordBatch) -> str:
    alone = batch.num_columns == 1  # a line without anything would be no row
    cells = [_csv_cells(column.cast(pa.string()), alone) for column in batch.columns]
    lines = pc.binary_join_element_wise(*cells, ",") if not alone else cells[0]
    return "".join(f"{line}\n" for line in lines.to_pylist())


def _csv_cells(column: pa.Array, alone: bool) -> pa.Array:
    column = column.fill_null("")
    needed = pc.match_substring_regex(column, '[",\r\n]')
    if alone:
        needed = pc.or_(needed, pc.equal(column, ""))
    if not pc.any(needed).as_py():
        return column
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(needed, quoted, column)
