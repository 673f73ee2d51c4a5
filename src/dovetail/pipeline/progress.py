"""How far a run is, told while it runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PERIOD = 0.2


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


@contextlib.contextmanager
def watch(folder: Path, total: int, tell: Callable[[Progress], None]) -> Iterator[None]:
    """While the context is open, tell how many tables the tasks have marked as done in `folder`."""
    ended = threading.Event()

    def done() -> int:
        return min(total, sum(file.stat().st_size for file in folder.iterdir()))

    def follow() -> None:
        while not ended.wait(_PERIOD):
            tell(Progress("build", total, done()))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    tell(Progress("build", total, total))
