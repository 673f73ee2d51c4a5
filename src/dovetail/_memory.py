"""A limit on the memory of this process and of all that it has started, kept by a thread that looks at them.

Memory is what a process has of its own. Pages of files that it maps, as an index is, do not count: the system takes
them back where others need the room. Nothing that the system offers limits just that: its limits of address space count
what is never touched, by a multiple, and groups of processes need a system administrator.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from dovetail.errors import InputError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)
# Seconds between two looks. This process can touch some gigabytes a second; a look at it takes 20 µs, one at the others
# some milliseconds, since the system has to be asked for all that run.
_OWN_SECONDS = 0.01
_TREE_SECONDS = 0.2
_ENOUGH = 0.95  # of the limit: what is taken until a process has ended comes on top


def parse_size(written: str) -> int:
    """Bytes, from a number with a unit: 512MB, 2GB, 1.5g."""
    match = _SIZE.fullmatch(written)
    if match is None or not (size := int(float(match[1]) * _UNITS[match[2].upper()])):
        raise InputError(f"The memory {written!r} is no size such as 512MB or 2GB.")
    return size


def guard_memory(limit: int, exceeded: Callable[[int], None]) -> None:
    """Call `exceeded` once, from another thread, when this process and its descendants come near `limit` bytes."""
    threading.Thread(target=_watch, args=(limit, exceeded), name="memory", daemon=True).start()


def _watch(limit: int, exceeded: Callable[[int], None]) -> None:
    me = psutil.Process()
    enough = int(limit * _ENOUGH)
    others, looked = 0, 0.0
    while True:
        if time.monotonic() - looked >= _TREE_SECONDS:
            others, looked = sum(map(_unshared, _descendants(me))), time.monotonic()
        # Forks share pages with their parents, so what is cheap to know is too much; only then the rest is asked for.
        if _unshared(me) + others > enough and (used := tree_bytes(me)) > enough:
            exceeded(used)
            return
        time.sleep(_OWN_SECONDS)


def tree_bytes(root: psutil.Process) -> int:
    """What a process and its descendants have of their own; pages that they share are divided among them."""
    return sum(map(_proportional, [root, *_descendants(root)]))


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _unshared(process: psutil.Process) -> int:
    """At least what a process has of its own."""
    try:
        memory = process.memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))
    except psutil.NoSuchProcess:  # it has ended between two looks
        return 0


def _proportional(process: psutil.Process) -> int:
    rollup = Path(f"/proc/{process.pid}/smaps_rollup")
    try:
        lines = rollup.read_text().splitlines()
    except OSError:  # it has ended, or this is another system than Linux
        return _unshared(process)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
