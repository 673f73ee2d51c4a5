"""A time budget. The time in which kernels compile, once after an installation, does not count."""

from __future__ import annotations

import functools
import threading
import time
from typing import Any

from dovetail._cancel import check_cancelled


class OutOfTime(Exception):
    """The time budget is used up in the middle of a step."""


class Deadline:
    """Begins when it is made. Work looks at `is_over` between its steps, and ends there where it is cancelled."""

    def __init__(self, seconds: float) -> None:
        self._compiling = _compile_time()
        self._ends = self._now() + seconds

    @property
    def is_over(self) -> bool:
        check_cancelled()
        return self._now() > self._ends

    def check(self) -> None:
        """Stop work that is of no use unless it is finished."""
        if self.is_over:
            raise OutOfTime

    @property
    def left(self) -> float:
        """Seconds; 0 where it is over."""
        return max(0.0, self._ends - self._now())

    def _now(self) -> float:
        return time.perf_counter() - self._compiling.seconds


class CompileTime:
    """How long kernels have been compiling in this process. Compilations nest: only the outermost counts."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._thread = threading.local()

    def on_start(self, event: Any) -> None:
        self._thread.depth = getattr(self._thread, "depth", 0) + 1
        if self._thread.depth == 1:
            self._thread.begun = time.perf_counter()

    def on_end(self, event: Any) -> None:
        self._thread.depth -= 1
        if self._thread.depth == 0:
            self.seconds += time.perf_counter() - self._thread.begun

    def notify(self, event: Any) -> None:
        if event.is_start:
            self.on_start(event)
        else:
            self.on_end(event)


@functools.cache
def _compile_time() -> CompileTime:
    """Numba is imported for it here, not before a budget is needed."""
    from numba.core import event

    event.Listener.register(CompileTime)
    listener = CompileTime()
    event.register("numba:compile", listener)
    return listener
