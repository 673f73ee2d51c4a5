"""Calls are stopped when they take too long, and leave no trace."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from dovetail import _stopwatch
from dovetail._stopwatch import TakesTooLong, run_at_most, writable_bytes


def count_up(counts: np.ndarray, least: float) -> int:
    """Count for at least so many seconds, step by step."""
    ends = time.monotonic() + least
    while time.monotonic() < ends:
        counts[0] += 1
    return int(counts[0])


def test_a_short_call_is_what_it_is():
    counts = np.zeros(1, np.int64)
    assert run_at_most(5, count_up, (counts, 0.01)) == counts[0] > 0
    assert not _stopwatch._calls


def test_a_long_call_is_stopped_with_its_arguments_as_they_were():
    counts, nested = np.array([7]), (np.array([1.5]), 3)

    def change(counts, nested, seconds):
        nested[0][0] = 2.5
        count_up(counts, seconds)

    begun = time.monotonic()
    with pytest.raises(TakesTooLong):
        run_at_most(0.05, change, (counts, nested, 30))
    assert time.monotonic() - begun < 10
    assert counts.tolist() == [7] and nested[0].tolist() == [1.5]
    assert not _stopwatch._calls


def test_an_error_stays_the_error():
    with pytest.raises(ZeroDivisionError):
        run_at_most(5, lambda: 1 // 0, ())
    assert not _stopwatch._calls


def test_calls_that_end_about_when_they_are_stopped():
    """Whoever comes first, nothing is raised afterwards."""
    outcomes = set()
    for _ in range(60):
        try:
            run_at_most(0.01, count_up, (np.zeros(1), 0.02))
            outcomes.add("done")
        except TakesTooLong:
            outcomes.add("stopped")
    time.sleep(0.1)
    assert outcomes <= {"done", "stopped"} and "stopped" in outcomes


def test_threads_are_stopped_one_by_one():
    ended: dict[int, str] = {}

    def run(number: int) -> None:
        try:
            run_at_most(0.05, count_up, (np.zeros(1), 30 if number % 2 else 0.01))
            ended[number] = "done"
        except TakesTooLong:
            ended[number] = "stopped"

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert ended[1] == ended[3] == "stopped"


def test_read_only_arrays_need_no_copy():
    fixed = np.zeros(4, np.int64)
    fixed.flags.writeable = False
    assert writable_bytes((fixed, 3, (np.zeros(2, np.int64), fixed))) == 16
