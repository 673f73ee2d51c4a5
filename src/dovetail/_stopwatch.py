"""Function calls that are stopped when they take too long, with their arguments as they were before.

For functions that do nothing but read arrays and write to arrays. A thread of the process watches them and raises an
exception in theirs. A call and its watcher agree by a dictionary who of them comes first: `pop` is atomic.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dovetail._types import Array

_PAUSE = 0.02  # seconds between two looks of the watcher
_IDLE_LOOKS = 50  # after so many looks at nothing it ends, until a call comes


class TakesTooLong(BaseException):
    """The call was stopped. Not an Exception, so that nothing inside of the call takes it for an error of its own."""


class _Call:
    def __init__(self, seconds: float) -> None:
        self.thread = threading.get_ident()
        self.ends = time.monotonic() + seconds


_calls: dict[_Call, bool] = {}
_watching: list[threading.Thread] = []  # one, while there are calls


def run_at_most(seconds: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The function's result; `TakesTooLong` after so many seconds, with the content of all arguments restored."""
    before = [(array, array.copy()) for array in _writable(arguments)]
    call = _Call(seconds)
    try:
        _calls[call] = True
        if not _watching:
            _start_watching()
        result = function(*arguments)
        _finish(call)
    except TakesTooLong:
        for array, content in before:
            array[...] = content
        raise
    except BaseException:
        with contextlib.suppress(TakesTooLong):  # as late as that it does not matter any more
            _finish(call)
        raise
    return result


def writable_bytes(arguments: tuple[Any, ...]) -> int:
    """How much memory a call may change."""
    return sum(array.nbytes for array in _writable(arguments))


def _writable(arguments: tuple[Any, ...]) -> Iterator[Array]:
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if argument.flags.writeable:
                yield argument
        elif isinstance(argument, tuple):
            yield from _writable(argument)


def _finish(call: _Call) -> None:
    """End a call. If the watcher has come first, wait here for its exception: nowhere else may it be raised."""
    if not _calls.pop(call, False):
        while True:
            time.sleep(0)


def _start_watching() -> None:
    watcher = threading.Thread(target=_watch, name="dovetail-stopwatch", daemon=True)
    _watching.append(watcher)
    watcher.start()


def _watch() -> None:
    idle = 0
    while idle < _IDLE_LOOKS:
        time.sleep(_PAUSE)
        calls = list(_calls)
        idle = 0 if calls else idle + 1
        now = time.monotonic()
        for call in calls:
            if call.ends < now and _calls.pop(call, False):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread), ctypes.py_object(TakesTooLong))
    _watching.clear()
    if _calls:  # one has come since the last look, and has not seen that this thread ends
        _start_watching()


def _forget() -> None:
    """Threads do not survive a fork."""
    _calls.clear()
    _watching.clear()


os.register_at_fork(after_in_child=_forget)
