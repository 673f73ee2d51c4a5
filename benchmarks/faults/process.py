"""Commands in processes that are forked from this one, which has everything imported and compiled: each takes a moment.

Spark is left out: its tasks run in the forked process (tests/support/pipeline.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail.cli.verbs import run
from support.pipeline import without_spark

PATIENCE = 60.0
"""Seconds after which a process hangs: a hundred times what the slowest command takes."""
HANGS = -1000
"""The exit code of a process that had to be ended."""


@dataclass(frozen=True)
class Ending:
    """How a process ended: its exit code, or minus the number of the signal; what it printed."""

    code: int
    out: str
    err: str
    seconds: float = 0.0


@dataclass
class Forked:
    """A process at work, and the files that it prints to."""

    pid: int
    out: Path
    err: Path
    begun: float
    code: int | None = None

    def is_running(self) -> bool:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is None

    def send(self, number: int) -> None:
        if self.is_running():
            os.kill(self.pid, number)

    def wait(self, patience: float = PATIENCE) -> bool:
        """Whether it has ended by then."""
        end = time.monotonic() + patience
        while self.is_running():
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    def ending(self) -> Ending:
        """Wait for its end, or bring it about."""
        hung = not self.wait()
        if hung:
            self.send(signal.SIGKILL)
            self.wait()
        seconds = time.monotonic() - self.begun
        code = HANGS if hung else self.code or 0
        return Ending(code, self.out.read_text(errors="replace"), self.err.read_text(errors="replace"), seconds)


def fork(work: Callable[[], int], folder: Path) -> Forked:
    """Run `work` in a process of its own, which ends with its answer; what it prints goes into files of the folder."""
    out, err = folder / "out", folder / "err"
    for path in (out, err):
        path.write_bytes(b"")
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return Forked(pid, out, err, time.monotonic())
    code = 1
    try:
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
        code = work()
    except BaseException:  # noqa: BLE001, which is looked for in what it printed
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def command(*arguments: object) -> int:
    """One command in this process."""
    with without_spark():
        return run([str(argument) for argument in arguments])


@contextlib.contextmanager
def forked(work: Callable[[], int], folder: Path) -> Iterator[Forked]:
    """A process that ends with the context at the latest."""
    process = fork(work, folder)
    try:
        yield process
    finally:
        process.send(signal.SIGKILL)
        process.wait()
