"""What a run reports: its progress while it runs, and in the end what it did."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dovetail._storage.store import Store
from dovetail.indexes.statistics import Skipped

_PERIOD_SECONDS = 0.2  # often enough for a bar that moves; arbitrary, nothing depends on it
_REMOTE_PERIOD_SECONDS = 5.0  # each look at an object store costs a request
_FOLDER = "progress"


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


@dataclass(frozen=True)
class UnreachableLake:
    """A lake of the index that did not answer, so that its tables have stayed as they were."""

    lake: str
    reason: str


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
    unreachable: list[UnreachableLake] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        lists = {name: [vars(each) for each in getattr(self, name)] for name in ("skipped", "unreachable")}
        return {**vars(self), **lists}


@contextlib.contextmanager
def watch_progress(store: Store, total: int, show: ShowProgress) -> Iterator[None]:
    """While the context is open, show how many tables the tasks have recorded as done in the store, a byte each."""
    ended = threading.Event()
    period = _period(store)

    def done() -> int:
        return min(total, sum(file.bytes for file in store.entries(_FOLDER)))

    def follow() -> None:
        while not ended.wait(period):
            show(Progress("build", total, done()))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    show(Progress("build", total, total))


def forget_progress(store: Store) -> None:
    """Let what follows be counted from 0."""
    store.delete([file.name for file in store.entries(_FOLDER)])


class Ticks:
    """Inside a task: counts tables that are done, and records the number from time to time."""

    def __init__(self, store: Store, task: int | str) -> None:
        self._store, self._name = store, f"{_FOLDER}/{task}"
        self._period = _period(store)
        self._done, self._recorded = 0, -math.inf

    def __call__(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._recorded >= self._period:
            self._store.put(self._name, b"." * self._done)
            self._recorded = now


def _period(store: Store) -> float:
    return _PERIOD_SECONDS if store.is_local else _REMOTE_PERIOD_SECONDS
