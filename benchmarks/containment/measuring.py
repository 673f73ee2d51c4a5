"""What both sides measure with: CPU seconds, in which other programs play no part, and memory (Linux only)."""

from __future__ import annotations

import gc
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
