"""Tables that clients have sent or made, kept for a while so that every state of the pages has an address.

An upload is named by its content, a result by the step that made it; so whoever does the same gets the same name, and a
result that had to make room is made again from its step. What was used longest ago makes room first.

    <folder>/upload-<hash>.parquet      rows
    <folder>/result-<hash>.parquet
    <folder>/<name>.json                what it is called, and the step that made it
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from dovetail._output import whole_file
from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.formats import COMPRESSION_BY_SUFFIX, format_of, split_suffix
from dovetail.lake.reader import detect_layout, read
from dovetail.serve.limits import MB, Limits
from dovetail.serve.problems import GONE, TOO_LARGE, Refused
from dovetail.tables.input_table import InputTable, open_table

Step = dict[str, Any]
_NAME = re.compile(r"(upload|result)-[0-9a-f]{24}")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")
_LONGEST = 100  # characters of a file's name; arbitrary
_LEAST = MB  # that a table in memory counts for at least: one of a few cells takes more than their text


@dataclass(frozen=True)
class KeptTable:
    """A table that is kept: its name in addresses, what people call it, and the step that made it, if any."""

    name: str
    title: str
    rows: int
    columns: tuple[str, ...]
    step: Step | None

    def to_dict(self) -> dict[str, Any]:
        return {"table": self.name, "title": self.title, "rows": self.rows, "columns": list(self.columns),
                "step": self.step}  # fmt: skip


def is_kept(name: str) -> bool:
    """Whether this is a name of an upload or a result, and not of a table of the lake."""
    return _NAME.fullmatch(name) is not None


class KeptTables:
    """Uploads and results, bounded in memory and on disk."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self._limits = limits
        self._lock = threading.Lock()
        self._opened: OrderedDict[str, InputTable] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)

    def keep_upload(self, file: Path, title: str) -> KeptTable:
        """Read a file that a client has sent."""
        return self._keep("upload", _content_hash(file), _clean(title), None, lambda: self._read(file))

    def keep_result(self, step: Step, title: str, table: pa.Table) -> KeptTable:
        """Keep what a step has made."""
        return self._keep("result", result_hash(step), _clean(title), step, lambda: table)

    def describe(self, name: str) -> KeptTable:
        """What is known of a kept table, its rows being there or not."""
        try:
            body = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Refused(GONE, f"{name} is not kept any more. Send the file again.") from None
        return KeptTable(name, body["title"], body["rows"], tuple(body["columns"]), body["step"])

    def open(self, name: str) -> InputTable | None:
        """A kept table; None where its rows had to make room and its step must be done again."""
        with self._lock:
            if name in self._opened:
                self._opened.move_to_end(name)
                return self._opened[name]
        kept, path = self.describe(name), self.folder / f"{name}.parquet"
        try:
            table = pyarrow.parquet.read_table(path)
            path.touch()
        except FileNotFoundError:
            if kept.step is None:
                raise Refused(GONE, f"{kept.title} is not kept any more. Send the file again.") from None
            return None
        return self._remember(name, open_table(table, kept.title))

    def _keep(self, kind: str, digest: str, title: str, step: Step | None, rows: Any) -> KeptTable:
        name = f"{kind}-{digest}"
        path = self.folder / f"{name}.parquet"
        if not path.exists():
            table: pa.Table = rows()
            with whole_file(path) as draft:
                pyarrow.parquet.write_table(table, draft)
            body = {"title": title, "rows": table.num_rows, "columns": table.column_names, "step": step}
            with whole_file(path.with_suffix(".json")) as draft:
                draft.write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")
            self._remember(name, open_table(table, title))
            self._make_room()
        return self.describe(name)

    def _read(self, file: Path) -> pa.Table:
        try:
            layout = detect_layout(file)
            batches = list(self._bounded(read(file, layout)))
        except UnreadableTable as reason:
            raise InputError(f"This file cannot be read: {reason}.") from reason
        empty = pa.schema([(name, pa.string()) for name in layout.columns])
        return pa.Table.from_batches(batches, None if batches else empty)

    def _bounded(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Stop reading a file that unpacks to more than fits: a small archive may hold any number of rows."""
        size = 0
        for batch in batches:
            size += batch.nbytes
            if size > self._limits.table_bytes:
                raise Refused(TOO_LARGE, f"The table needs more than {self._limits.table_mb:,} MB of memory.")
            yield batch

    def _remember(self, name: str, table: InputTable) -> InputTable:
        with self._lock:
            self._opened[name] = table
            self._opened.move_to_end(name)
            while len(self._opened) > 1 and _bytes(self._opened.values()) > self._limits.opened_mb * MB:
                self._opened.popitem(last=False)
        return table

    def _make_room(self) -> None:
        """On disk, results go before uploads: they can be made again, as long as their steps are known."""
        found = self._files(".parquet")
        files = sorted((path.name.startswith("upload"), time, size, path) for path, time, size in found)
        bytes_left, left = sum(size for _, _, size, _ in files), len(files)
        for is_upload, _, size, path in files[:-1]:
            if bytes_left <= self._limits.kept_mb * MB and left <= self._limits.kept_tables:
                break
            path.unlink(missing_ok=True)
            if is_upload:
                path.with_suffix(".json").unlink(missing_ok=True)
            bytes_left, left = bytes_left - size, left - 1
        described = sorted((time, path) for path, time, _ in self._files(".json"))
        for _, path in described[: -(self._limits.kept_tables + self._limits.kept_steps)]:
            if not path.with_suffix(".parquet").exists():
                path.unlink(missing_ok=True)

    def _files(self, suffix: str) -> Iterator[tuple[Path, float, int]]:
        """Files of the folder with their time and size; other processes may take some away meanwhile."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(suffix) and not entry.name.startswith("."):
                    with contextlib.suppress(FileNotFoundError):
                        state = entry.stat()
                        yield Path(entry.path), state.st_mtime, state.st_size


def result_hash(step: Step) -> str:
    """The same for the same step, whoever takes it."""
    return _digest(json.dumps(step, sort_keys=True, ensure_ascii=False).encode())


def result_name(step: Step) -> str:
    return f"result-{result_hash(step)}"


def _content_hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:24]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _clean(title: str) -> str:
    return _UNSAFE.sub("_", title).strip()[-_LONGEST:] or "table"


def upload_suffix(title: str) -> str:
    """The suffixes by which a file is read; what is called otherwise is read as delimited text."""
    if format_of(title) is None:
        return ".csv"
    stem, last = split_suffix(title)
    return split_suffix(stem)[1] + last if last in COMPRESSION_BY_SUFFIX else last


def _bytes(tables: Iterable[InputTable]) -> int:
    return sum(max(table.text.nbytes, _LEAST) for table in tables)
