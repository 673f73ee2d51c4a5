"""A server to be asked, in a process of its own, and what it uses."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

_PATIENCE = 20  # seconds for a server to end


@contextlib.contextmanager
def serving(index: str, *options: str) -> Iterator[tuple[str, psutil.Process]]:
    """The address and the process of a `dovetail serve` on loopback, which ends with the block."""
    command = [Path(sys.executable).with_name("dovetail"), "serve", index, "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = server.stdout.readline().removeprefix("Dovetail at ").strip()
        try:
            yield address, psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait(_PATIENCE)


def processes(server: psutil.Process) -> list[psutil.Process]:
    return [server, *server.children(recursive=True)]


def own_memory(server: psutil.Process) -> int:
    """Bytes of the server and its processes without the mapped files of the index, which the system takes back."""
    total = 0
    for process in processes(server):
        with contextlib.suppress(psutil.NoSuchProcess):
            found = process.memory_info()
            total += found.rss - found.shared
    return total


def cpu_seconds(server: psutil.Process) -> float:
    """Of the server and its processes so far: unlike the clock, they do not depend on who else computes."""
    times = [process.cpu_times() for process in processes(server)]
    return sum(each.user + each.system for each in times)
