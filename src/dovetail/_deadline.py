"""A time budget. The time in which kernels compile, once after an installation, does not count."""

from __future__ import annotations

import threading
import time

from numba.core import event


class _CompileTime(event.Listener):  # type: ignore[misc]  # numba is not typed
    """How long kernels have been compiling in this process. Compilations nest: only the outermost counts."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = threading.local()

    def on_start(self, event: event.Event) -> None:
        self._depth.value = getattr(self._depth, "value", 0) + 1
        if self._depth.value == 1:
            self._depth.begun = time.perf_counter()

    def on_end(self, event: event.Event) -> None:
        self._depth.value -= 1
        if self._depth.value == 0:
            self.seconds += time.perf_counter() - self._depth.begun


_COMPILING = _CompileTime()
event.register("numba:compile", _COMPILING)


class Deadline:
    """Begins when it is made. Work looks at `is_over` between its steps."""

    def __init__(self, seconds: float) -> None:
        self._ends = self._now() + seconds

    @property
    def is_over(self) -> bool:
        return self._now() > self._ends

    @property
    def left(self) -> float:
        """Seconds; 0 where it is over."""
        return max(0.0, self._ends - self._now())

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - _COMPILING.seconds
