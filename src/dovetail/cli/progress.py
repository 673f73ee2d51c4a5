"""Long questions on the terminal: a progress bar once two seconds have passed, and a quick, clean stop by Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dovetail._progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

INTERRUPTED = 130
_STOPPED = "Stopped; nothing was changed."
_PATIENCE = 2.0  # seconds before the bar is shown
_GRACE = 0.5  # seconds after Ctrl-C in which the work may stop by itself


@contextlib.contextmanager
def long_question() -> Iterator[Progress]:
    """Within the context, progress that is reported shows as a bar, and Ctrl-C ends the process within a second.

    For verbs that change nothing: where a kernel or a library does not return in time, the process just ends.
    """
    with _Bar() as bar, _ended_by_interrupt(bar) as interrupted:
        try:
            yield bar.report
        except BaseException as error:
            # Some libraries turn an interrupt into an error of their own, as an import inside another one does.
            if not isinstance(error, KeyboardInterrupt) and not interrupted.is_set():
                raise
            bar.close()
            click.echo(_STOPPED, err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


class _Bar:
    """A bar on the terminal's error stream, from two seconds on; nothing where there is no terminal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bar: Bar | None = None
        self._latest = ("", 0, 0)
        self._closed = not sys.stderr.isatty()
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> _Bar:
        if not self._closed:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def report(self, stage: str, done: int, total: int) -> None:
        self._latest = (stage, done, total)
        if self._bar is not None:
            self._update()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        self._update()

    def _update(self) -> None:
        stage, done, total = self._latest
        with self._lock:
            if self._bar is not None:
                self._bar.update(self._task, description=stage.capitalize(), total=total or None, completed=done)


@contextlib.contextmanager
def _ended_by_interrupt(bar: _Bar) -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a moment later the process ends, should the main thread be busy inside a kernel.

    Python runs signal handlers between instructions of the main thread only; the system writes the signal's number to a
    socket at once, and a thread waits there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    finished, interrupted = threading.Event(), threading.Event()

    def watch() -> None:
        while number := reader.recv(1):
            if number[0] != signal.SIGINT:
                continue
            interrupted.set()
            if not finished.wait(_GRACE):
                bar.close()
                print(_STOPPED, file=sys.stderr, flush=True)
                os._exit(INTERRUPTED)

    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield interrupted
    finally:
        finished.set()
        signal.set_wakeup_fd(before)
        writer.close()  # ends the watcher
        watcher.join()
        reader.close()
