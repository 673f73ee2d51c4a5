"""Kernels: plain functions that are compiled when they are first called.

Importing numba, and making a dispatcher for each of some hundred kernels, would take longer than most commands run.
Compiled code is cached on disk (see `_numba`) and runs without the interpreter lock.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

int64 = cast(Callable[[Any], int], np.int64)
"""A machine integer that type checkers take for an ``int``, as which the plain form of a kernel uses it."""

_lock = threading.RLock()
_listeners: list[Callable[[], None]] = []


def compiled(function: Function) -> Function:
    """Compile a plain Python function when it is first called; the plain form is ``py_func``, the oracle in tests."""
    return cast(Function, Kernel(function))


def inlined(function: Function) -> Function:
    """The same for a small helper of inner loops, whose code is copied into its callers.

    Handing arrays to a function takes longer than reading a few bytes: a loop over cells was 2.7 times as slow.
    """
    return cast(Function, Kernel(function, inline=True))


class Kernel:
    """A function that becomes a numba dispatcher when it is first called."""

    def __init__(self, function: Callable[..., Any], inline: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._inline = inline
        self._dispatcher: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return (self._dispatcher or self.dispatcher())(*arguments)

    def dispatcher(self) -> Callable[..., Any]:
        with _lock:
            if self._dispatcher is None:
                from dovetail._numba import make_dispatcher

                self._dispatcher = make_dispatcher(self.py_func, self._inline, self._before_compiling)
                if self._inline:  # it is never compiled alone, but its code is read with that of its callers
                    self._link()
            return self._dispatcher

    def _before_compiling(self) -> None:
        """Put dispatchers in the place of the kernels that this one calls: numba looks for them in its module."""
        with _lock:
            while _listeners:
                _listeners.pop()()
            self._link()

    def _link(self) -> None:
        scope = self.py_func.__globals__
        for name in self.py_func.__code__.co_names:
            if isinstance(kernel := scope.get(name), Kernel):
                scope[name] = kernel.dispatcher()


def on_first_compilation(listener: Callable[[], None]) -> None:
    """Call `listener` once, when a kernel is not in the cache: the first run after an installation takes longer."""
    _listeners.append(listener)
