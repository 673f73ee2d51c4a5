"""A time budget leaves out the time in which kernels compile."""

from __future__ import annotations

import time

import numba

from dovetail._deadline import Deadline, _compile_time


def test_a_deadline_is_over_after_its_seconds():
    deadline = Deadline(0.05)
    assert not deadline.is_over and 0 < deadline.left <= 0.05
    time.sleep(0.06)
    assert deadline.is_over and deadline.left == 0


def test_compiling_does_not_count():
    deadline = Deadline(60)
    before, begun = _compile_time().seconds, time.perf_counter()
    assert numba.njit(lambda number: number * 3 + 1)(2) == 7
    compiling = _compile_time().seconds - before
    assert 0 < compiling <= time.perf_counter() - begun
    assert deadline.left >= 60 - (time.perf_counter() - begun) + compiling - 0.001
