"""A time budget leaves out the time in which kernels compile, or run without being compiled."""

from __future__ import annotations

import time

import numba

from dovetail import _numba  # noqa: F401  # counts what numba compiles
from dovetail._compile import compiled
from dovetail._deadline import Deadline, slow_time


def test_a_deadline_is_over_after_its_seconds():
    deadline = Deadline(0.05)
    assert not deadline.is_over and 0 < deadline.left <= 0.05
    time.sleep(0.06)
    assert deadline.is_over and deadline.left == 0


def test_compiling_does_not_count():
    deadline = Deadline(60)
    before, begun = slow_time.compiling, time.perf_counter()
    assert numba.njit(lambda number: number * 3 + 1)(2) == 7
    compiling = slow_time.compiling - before
    assert 0 < compiling <= time.perf_counter() - begun
    assert deadline.left >= 60 - (time.perf_counter() - begun) + compiling - 0.001


def test_running_as_python_does_not_count():
    @compiled
    def slow():
        return sum(range(300_000))

    deadline = Deadline(60)
    before, begun = slow_time.plain, time.perf_counter()
    assert slow() == sum(range(300_000))
    plain = slow_time.plain - before
    assert 0 < plain <= time.perf_counter() - begun
    assert deadline.left >= 60 - (time.perf_counter() - begun) + plain - 0.001
