"""What a container is: a file that holds tables, its members, each of which becomes a file that the reader can read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pyarrow as pa


@dataclass(frozen=True)
class Member:
    """A table of a container, by its name there; a container that is itself a table has one without a name."""

    name: str
    bytes: int
    """About how many bytes reading it means."""


class Container(Protocol):
    """A kind of file that holds tables. What is wrong with a file is raised as `UnreadableTable`.

    One that is read `in_place` may be an object of a store: then only the bytes that are needed are fetched.
    """

    in_place: ClassVar[bool]

    def members(self, path: Any) -> list[Member]:
        """The tables of the file, in its order."""
        ...

    def extract(self, path: Any, name: str, folder: Path) -> Path:
        """A member as a file in `folder` that the reader reads. FileNotFoundError where there is no such member."""
        ...


def gone(name: str) -> FileNotFoundError:
    return FileNotFoundError(2, "No such table in the file", name)


def write_csv(rows: Iterable[Sequence[str]], path: Path) -> Path:
    """Rows of cells as a CSV file: header and notes are found out as in any other."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_MINIMAL).writerows(rows)
    return path


def write_arrow(schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path
