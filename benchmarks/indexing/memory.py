"""Peak memory of a process and all that it starts, as proportional set size: shared pages count once. Linux only."""

from __future__ import annotations

import resource
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_EVERY_SECONDS = 0.5


@dataclass
class Usage:
    """What a process tree used: seconds from start to end, of CPU, and bytes at the peak of some looks."""

    seconds: float = 0.0
    peak_bytes: int = 0
    peak_parts: dict[str, int] = field(default_factory=dict)  # driver, JVM, workers
    ended_cpu: float = 0.0  # of the processes that were waited for
    _cpu: dict[tuple[int, float], float] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        """Of all processes as last seen; those that end soon are seen at their end only."""
        return max(self.ended_cpu, sum(self._cpu.values()))

    def sample(self, root: psutil.Process) -> None:
        parts: dict[str, int] = {}
        for process in _tree(root):
            try:
                part = _role(process, root)
                parts[part] = parts.get(part, 0) + pss(process.pid)
                times = process.cpu_times()
                self._cpu[process.pid, process.create_time()] = times.user + times.system
            except (psutil.NoSuchProcess, OSError):
                continue  # it ended between two looks
        if sum(parts.values()) > self.peak_bytes:
            self.peak_bytes, self.peak_parts = sum(parts.values()), parts


def pss(pid: int) -> int:
    """Bytes that a process has in memory, shared pages divided by the number of their users."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _tree(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _role(process: psutil.Process, root: psutil.Process) -> str:
    if process.pid == root.pid:
        return "driver"
    return "JVM" if process.name() == "java" else "workers"


def _cpu_of_ended() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_measured(command: list[str], well: tuple[int, ...] = (0,)) -> tuple[str, Usage]:
    """Run a command to its end; returns its output and what it used. Raises if it ends with a code that is not well."""
    usage, ended = Usage(), threading.Event()
    begun, before = time.perf_counter(), _cpu_of_ended()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        root = psutil.Process(process.pid)

        def watch() -> None:
            while not ended.wait(_EVERY_SECONDS):
                usage.sample(root)

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, complaint = process.communicate()
        usage.seconds = time.perf_counter() - begun
        ended.set()
        watcher.join()
    usage.ended_cpu = _cpu_of_ended() - before
    if process.returncode not in well:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{complaint[-3000:]}")
    return output, usage
