"""What both sides measure with: CPU seconds, in which other programs play no part, and memory (Linux only)."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

now = time.process_time
"""All threads of the process together: a side that uses two counts both."""
ROUNDS = 3

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def ask_all(ask: Callable[[Item], Answer], items: Sequence[Item]) -> tuple[list[Answer], list[float]]:
    """The answer for each item, and its seconds: the median over rounds, each through all items.

    When an item's turn comes again, the others have been through the caches.
    """
    answers: list[Answer] = []
    seconds: list[list[float]] = [[] for _ in items]
    for _ in range(ROUNDS):
        answers = []
        for item, taken in zip(items, seconds, strict=True):
            begun = now()
            answer = ask(item)
            taken.append(now() - begun)
            answers.append(answer)
    return answers, [median(taken) for taken in seconds]


def pss_now() -> int:
    """Bytes that this process has in memory, shared pages divided by the number of their users."""
    gc.collect()
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def peak_now() -> int:
    """The most bytes that this process had in memory so far (RSS: mapped files count too)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
