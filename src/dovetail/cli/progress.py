"""Long questions on the terminal: a progress bar once two seconds have passed."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dovetail._interrupt import tidied
from dovetail._progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0  # seconds before the bar is shown


@contextlib.contextmanager
def long_question(stage: str = "") -> Iterator[Progress]:
    """Within the context, the stage and the progress that is reported show as a bar."""
    bar = _Bar(stage)
    with tidied(bar.close):
        bar.open()
        yield bar.report


class _Bar:
    """A bar on the terminal's error stream, from two seconds on; nothing where there is no terminal."""

    def __init__(self, stage: str) -> None:
        self._lock = threading.Lock()
        self._bar: Bar | None = None
        self._latest = (stage, 0, 0)
        self._closed = not sys.stderr.isatty()
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def open(self) -> None:
        if not self._closed:
            self._timer.start()

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
