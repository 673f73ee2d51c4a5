"""A time budget. What kernels take because they are not compiled yet, after an installation, does not count."""

from __future__ import annotations

import time

from dovetail._cancel import check_cancelled


class SlowTime:
    """Seconds that this process has spent on kernels without machine code: running them as Python, or compiling."""

    plain = 0.0
    compiling = 0.0

    @property
    def seconds(self) -> float:
        return self.plain + self.compiling


slow_time = SlowTime()


class OutOfTime(Exception):
    """The time budget is used up in the middle of a step."""


class Deadline:
    """Begins when it is made. Work looks at `is_over` between its steps, and ends there where it is cancelled."""

    def __init__(self, seconds: float) -> None:
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
        return time.perf_counter() - slow_time.seconds
