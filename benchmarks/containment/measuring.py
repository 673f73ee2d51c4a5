"""What both sides measure with: CPU seconds, in which other programs play no part, and memory (Linux only)."""

from __future__ import annotations

import gc
import resource
import time
from pathlib import Path

now = time.process_time
"""All threads of the process together: a side that uses two counts both."""


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
