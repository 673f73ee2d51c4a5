"""Work that nobody waits for any more, or that has taken too long, stops between its steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

Stop = Callable[[], bool]

_stop: ContextVar[Stop | None] = ContextVar("stop", default=None)


class Cancelled(Exception):
    """Whoever asked does not want the answer any more."""


@contextlib.contextmanager
def cancellable(stop: Stop) -> Iterator[None]:
    """Within the context, work of this thread ends with `Cancelled` once `stop` says so."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def check_cancelled() -> None:
    """Called between the steps of long work."""
    stop = _stop.get()
    if stop is not None and stop():
        raise Cancelled
