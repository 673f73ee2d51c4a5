"""Ctrl-C, or too much memory: a command that only asks ends at once, one that writes to an index stops in order.

Python raises KeyboardInterrupt between any two instructions, also inside a callback of C code, a destructor or an
import, where it is printed as a traceback, swallowed or turned into another error; and it raises nothing while a kernel
runs. So nothing is raised where nothing has to be released: the system writes the signal's number to a pipe, and a
thread that waits there ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

from dovetail._interrupt import tidy_all

INTERRUPTED = 130
_STOPPED = b"Stopped.\n"
_LINE_OF_ITS_OWN = b"\n"  # the terminal has shown ^C
_STANDARD_ERROR = 2
_GRACE = 0.5  # seconds for removing drafts and the progress bar; arbitrary, it takes a millisecond
_IN_ORDER_GRACE = 10.0  # seconds for stopping in order where memory is short; arbitrary, Spark takes about one

_interrupted = threading.Event()
_in_order = threading.Event()
_reasons: list[tuple[str, int]] = []


def end_at_interrupt() -> None:
    """From now on an interrupt ends this process within a second, with one line and exit code 130.

    A process that was told to ignore interrupts, as a shell tells those in the background, goes on ignoring them.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _ignore)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()


@contextlib.contextmanager
def stops_in_order() -> Iterator[None]:
    """Within the context, an interrupt raises KeyboardInterrupt, so that locks, scratch and Spark are released.

    It leaves the context as a KeyboardInterrupt, too, where a library made another error of it.
    """
    if signal.getsignal(signal.SIGINT) is not _ignore:
        yield
        return
    _in_order.set()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            _interrupted.wait(_GRACE)  # until the thread that watches has seen it, too, in this context
        if _interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        _in_order.clear()
        signal.signal(signal.SIGINT, _ignore)


def stop_for(reason: str, code: int) -> None:
    """Stop the command from another thread, with this sentence; in order where it has something to release."""
    if _in_order.is_set():
        _reasons.append((reason, code))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_IN_ORDER_GRACE)
    _end(f"{reason}\n".encode(), code)


def reason_to_stop() -> tuple[str, int] | None:
    """Why a command was stopped in order, and its exit code; None where a person has interrupted it."""
    return _reasons[0] if _reasons else None


def _ignore(number: int, frame: object) -> None:
    """The thread that watches has been told already."""


def _watch(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] != signal.SIGINT:
            continue
        in_order = _in_order.is_set()
        _interrupted.set()
        if not in_order:
            _end()


def _end(message: bytes = _STOPPED, code: int = INTERRUPTED) -> None:
    """Not by way of Python's own end, which would run destructors and wait for threads."""
    with contextlib.suppress(RuntimeError):  # Python starts no thread when it is about to end
        tidying = threading.Thread(target=tidy_all, daemon=True)
        tidying.start()
        tidying.join(_GRACE)
    with contextlib.suppress(OSError):
        os.write(_STANDARD_ERROR, _LINE_OF_ITS_OWN * os.isatty(_STANDARD_ERROR) + message)
    os._exit(code)
