"""What a run reports: its progress while it runs, and in the end what it did."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dovetail.indexes.statistics import Skipped

_PERIOD_SECONDS = 0.2  # often enough for a bar that moves; arbitrary, nothing depends on it


@dataclass(frozen=True)
class Progress:
    """`stage` is "plan" once, then "build" as tables get done.

    With the plan come the bytes of disk that it will need, about, and those that are free.
    """

    stage: str
    total: int
    done: int = 0
    disk: int = 0
    free: int = 0


ShowProgress = Callable[[Progress], None]


@dataclass
class Report:
    """What a run did, and what the index holds after it."""

    generation: int = 0
    segments: int = 0
    tables: int = 0
    columns: int = 0
    rows: int = 0
    values: int = 0
    values_are_exact: bool = True
    bytes: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    spark_start_seconds: float = 0.0
    skipped: list[Skipped] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "skipped": [vars(skipped) for skipped in self.skipped]}


@contextlib.contextmanager
def watch_progress(folder: Path, total: int, show: ShowProgress) -> Iterator[None]:
    """While the context is open, show how many tables the tasks have recorded as done in `folder`, a byte each."""
    ended = threading.Event()

    def done() -> int:
        return min(total, sum(file.stat().st_size for file in folder.iterdir()))

    def follow() -> None:
        while not ended.wait(_PERIOD_SECONDS):
            show(Progress("build", total, done()))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    show(Progress("build", total, total))
