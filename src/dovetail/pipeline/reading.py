"""Reads files of the lake into counted values: whole, or in parts by several tasks.

What goes wrong is one of a few things, whatever the table's size. A bad file is recorded with its fingerprint, and is
not opened again before it changes. A fault that may pass is tried again now and, if it stays, recorded without a
fingerprint, so that the next run tries again. Any other exception goes on to the driver: what the run lacks, such as
a package or a database that answers, fails the run, and the rest are bugs of ours.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import RawColumn, count_columns
from dovetail.errors import SourceUnreachable, TemporarilyUnreadable, UnreadableTable, VanishedTable
from dovetail.lake.column_rules import hide_columns
from dovetail.lake.cuts import guess_parts, is_exact
from dovetail.lake.dialect import parse_override
from dovetail.lake.files import Copy
from dovetail.lake.layout import Layout, Part, RowCounter
from dovetail.lake.listing import TableFile
from dovetail.lake.object_path import ObjectPath, path_of
from dovetail.lake.reader import AnyPath, detect_layout, read, split
from dovetail.lake.source import source_of
from dovetail.lake.streams import reasons
from dovetail.lake.table_folders import is_as_listed
from dovetail.pipeline.build import RawTable, record_of, total_evidence, unreadable
from dovetail.pipeline.staging import Slice, staged_table, write_slice

CHANGED = "changed while it was read, three times"
VANISHED = "vanished"
_ATTEMPTS = 3
_PAUSE = 0.1  # seconds before the second attempt, five times as many before the third; arbitrary

Answer = TypeVar("Answer")


def scan(file: TableFile, folder: Path, portion_bytes: int) -> RawTable:
    """Read a whole table. A file that changes meanwhile is read again; never is a half of each indexed.

    What is longer than one portion is staged in `folder`, which has to stay until the table is built. Raises
    `VanishedTable` where there is no such file: whether it has vanished is for the driver to say.
    """
    if file.refused:
        return unreadable(file, file.refused, file.fingerprint)
    try:
        for _ in range(_ATTEMPTS):
            copy = _patiently(lambda: _copy(file, folder))
            if not copy.fingerprint:
                raise VanishedTable(VANISHED)
            found = _read_whole(file, copy, folder, portion_bytes)
            if copy.private or current_fingerprint(file) == copy.fingerprint:
                return found
    except VanishedTable:
        raise
    except TemporarilyUnreadable as reason:
        return unreadable(file, str(reason), "")
    except UnreadableTable as reason:  # permission denied
        return unreadable(file, str(reason), file.fingerprint)
    return unreadable(file, CHANGED, "")


def prepare(file: TableFile, target_bytes: int, guess: bool) -> dict[str, Any]:
    """Find out how a big file is read, and where it can be cut. Done once, before any slice is read.

    With `guess`, places may be guessed, where a walk over the whole file would take long: `guessed` tells.
    """
    before = ""
    path = source_of(file.path).open(file.path)
    try:
        before = current_fingerprint(file)
        layout = layout_of(file, path)
        guesses = [Part()]
        if guess and isinstance(path, Path | ObjectPath):
            guesses = _patiently(functools.partial(guess_parts, path, layout.whole, target_bytes))
        guessed = len(guesses) > 1
        parts = guesses if guessed else _patiently(lambda: split(path, layout, target_bytes))
    except VanishedTable:
        raise
    except UnreadableTable as reason:
        return _failure(reason, before)
    found = [part.to_json() for part in parts]
    return {"fingerprint": before, "layout": layout.to_json(), "parts": found, "guessed": guessed}


def check_part(file: TableFile, layout: Layout, part: Part) -> bool:
    """Whether a part that was guessed ends where a record does. Where that cannot be read now, it is not known."""
    try:
        return is_exact(path_of(file.path), layout.whole, part)
    except UnreadableTable:
        return False  # reading it says why


def stage_part(
    file: TableFile, before: str, layout: Layout, part: Part, folder: Path, target_bytes: int
) -> dict[str, Any]:
    """Read one part and stage it; a part that could not be cut comes as several slices, one after another."""

    def stage() -> tuple[list[Slice], RowCounter]:
        counter = RowCounter()
        portions = counted_portions(source_of(file.path).open(file.path), layout, part, counter, target_bytes)
        return [write_slice(columns, folder) for columns in portions], counter

    try:
        try:
            slices, counter = _patiently(stage)
            answer: dict[str, Any] = {"slices": [vars(piece) for piece in slices], "counter": vars(counter)}
        except (TemporarilyUnreadable, VanishedTable):
            raise
        except UnreadableTable as reason:
            answer = _failure(reason, before)
        return answer if _is_unchanged(file, before, part) else {"error": CHANGED, "fingerprint": ""}
    except TemporarilyUnreadable as reason:
        return _failure(reason, before)


def _is_unchanged(file: TableFile, before: str, part: Part) -> bool:
    """Whether a part that was read is one of the table as it was before. Raises `VanishedTable` where that is gone."""
    if part.files:
        return _patiently(lambda: _are_as_listed(part))
    now = current_fingerprint(file)
    if not now:
        raise VanishedTable(VANISHED)
    return now == before


def _are_as_listed(part: Part) -> bool:
    with reasons():
        return all(map(is_as_listed, part.files))


def layout_of(file: TableFile, path: AnyPath) -> Layout:
    """How the table is read, by a look at the file at `path`, which has its bytes."""
    override = parse_override(file.dialect) if file.dialect else None
    return hide_columns(_patiently(lambda: detect_layout(path, override)), file)


def current_fingerprint(file: TableFile) -> str:
    """The file's fingerprint now; empty where it is gone."""

    def look() -> str:
        with reasons():
            return source_of(file.path).fingerprint(file)

    return _patiently(look)


def _copy(file: TableFile, folder: Path) -> Copy:
    with reasons():
        return source_of(file.path).copy(file, folder)


def counted_portions(
    path: AnyPath, layout: Layout, part: Part, counter: RowCounter, portion_bytes: int
) -> Iterator[list[RawCounts]]:
    """The columns' distinct values, one list of columns for about every `portion_bytes` that are read."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in read(path, layout, part, counter):
        held.append(batch)
        size += batch.nbytes
        if size >= portion_bytes:
            yield count_columns(pa.Table.from_batches(held), layout.hashed)
            held, size = [], 0
    if held:
        yield count_columns(pa.Table.from_batches(held), layout.hashed)


def _read_whole(file: TableFile, copy: Copy, folder: Path, portion_bytes: int) -> RawTable:
    try:
        layout = layout_of(file, copy.path)
        return _patiently(lambda: _read_portions(file, copy, layout, folder, portion_bytes))
    except (TemporarilyUnreadable, VanishedTable):
        raise
    except UnreadableTable as reason:
        return unreadable(file, str(reason), copy.fingerprint)


def _read_portions(file: TableFile, copy: Copy, layout: Layout, folder: Path, portion_bytes: int) -> RawTable:
    """One portion stays in memory. Of several, each is staged when the next has been read."""
    counter = RowCounter()
    slices: list[Slice] = []
    held: list[RawCounts] = []
    for portion in counted_portions(copy.path, layout, Part(), counter, portion_bytes):
        if held:
            slices.append(write_slice(held, folder))
        held = portion
    if slices:
        slices.append(write_slice(held, folder))
        return staged_table(file, copy.fingerprint, layout, slices, folder, [counter])
    batches = [[counted] for counted in held] or [[] for _ in layout.columns]
    columns = [
        RawColumn(
            name, counter.rows, total_evidence(part.evidence for part in parts), functools.partial(iter, parts),
            name in layout.hashed,
        )
        for name, parts in zip(layout.columns, batches, strict=True)
    ]  # fmt: skip
    return RawTable(record_of(file, copy.fingerprint, layout, counter), columns)


def _patiently(attempt: Callable[[], Answer]) -> Answer:
    """What `attempt` returns; where a fault may pass, after another attempt or two."""
    for number in range(1, _ATTEMPTS):
        try:
            return attempt()
        except (TemporarilyUnreadable, SourceUnreachable):
            time.sleep(_PAUSE * 5 ** (number - 1))
    return attempt()


def _failure(reason: UnreadableTable, before: str) -> dict[str, Any]:
    return {"error": str(reason), "fingerprint": "" if isinstance(reason, TemporarilyUnreadable) else before}
