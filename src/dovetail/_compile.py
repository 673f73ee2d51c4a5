"""Kernels: functions that run as Python while there is little to do, and as machine code where that pays.

Importing numba takes half a second and compiling a kernel one second or more, which a command on small tables never
earns back. So a kernel starts as the Python function that it is. Machine code is

- loaded from the cache on disk (see `_numba`) once kernels have run for `WORTH_LOADING` seconds in this process;
- compiled once this kernel has run for about as long as compiling takes, so that nobody waits much longer than twice
  as long as with the better choice. It is kept for the next process.

How long a call takes shows only when it runs: a search gets a whole index, of which it may read ten numbers. A call
that uses up its seconds is stopped and begun again as machine code (`_stopwatch`). Both forms give the same answers,
which tests compare. Machine code runs without the interpreter lock.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from dovetail._deadline import slow_time
from dovetail._stopwatch import TakesTooLong, run_at_most, writable_bytes

Function = TypeVar("Function", bound=Callable[..., Any])

WORTH_LOADING = 0.4
"""Seconds. Importing numba takes 0.3 to 0.45 s; loading a kernel from the cache some milliseconds more."""
COMPILING_A_BYTE = 0.0005
"""Seconds to compile a byte of a kernel's byte code: 0.0003 to 0.001 for fifteen kernels of 850 to 14,600 bytes."""
MOST_COPIED = 1 << 25
"""Bytes. To stop a call, what it may write to is copied before; a call that may write to more is compiled."""

int64 = cast(Callable[[Any], int], np.int64)
"""A machine integer that type checkers take for an ``int``, as which the plain form of a kernel uses it."""

_lock = threading.RLock()
_listeners: list[Callable[[], None]] = []
_thread = threading.local()


class NotCompiled(Exception):
    """There is no machine code for these arguments yet, and none is wanted."""


def compiled(function: Function) -> Function:
    """Make a kernel of a Python function. That stays as ``py_func``, the oracle in tests."""
    return cast(Function, Kernel(function))


def compiled_beside(plain: Function) -> Callable[[Function], Function]:
    """The same where numpy or a library written in C is faster than the Python function, until that is compiled."""

    def make(function: Function) -> Function:
        return cast(Function, Kernel(function, plain=plain))

    return make


def inlined(function: Function) -> Function:
    """The same for a small helper of inner loops, whose code is copied into its callers.

    Handing arrays to a function takes longer than reading a few bytes: a loop over cells was 2.7 times as slow.
    """
    return cast(Function, Kernel(function, inline=True))


class Kernel:
    """A function that runs as Python at first, and by numba's dispatcher where that pays."""

    def __init__(
        self, function: Callable[..., Any], inline: bool = False, plain: Callable[..., Any] | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._inline = inline
        self._given = plain
        self._plain: Callable[..., Any] | None = plain
        self._dispatcher: Callable[..., Any] | None = None
        self._seconds = 0.0
        self._may_be_cached = True

    def __call__(self, *arguments: Any) -> Any:
        if _may_compile():
            return self.dispatcher()(*arguments)
        if self._may_be_cached and (self._dispatcher is not None or slow_time.plain >= WORTH_LOADING):
            try:
                return (self._dispatcher or self.dispatcher())(*arguments)
            except NotCompiled:
                self._may_be_cached = False
        if self._seconds >= self.worth_compiling or writable_bytes(arguments) > MOST_COPIED:
            return self.compile(*arguments)
        try:
            return self._run_plain(arguments)
        except TakesTooLong:
            return self(*arguments)  # more seconds have passed now

    def _run_plain(self, arguments: tuple[Any, ...]) -> Any:
        patience = self.worth_compiling - self._seconds
        if self._may_be_cached:
            patience = min(patience, WORTH_LOADING - slow_time.plain)
        begun = time.perf_counter()
        try:
            with np.errstate(over="ignore"):  # hashes overflow on purpose
                return run_at_most(patience, self.plain(), arguments)
        finally:
            seconds = time.perf_counter() - begun
            self._seconds += seconds
            slow_time.plain += seconds

    @functools.cached_property
    def worth_compiling(self) -> float:
        """Seconds as Python after which this kernel and those that it calls are compiled."""
        return COMPILING_A_BYTE * sum(len(kernel.py_func.__code__.co_code) for kernel in self._reached({}))

    def _reached(self, seen: dict[Kernel, None]) -> dict[Kernel, None]:
        if self not in seen:
            seen[self] = None
            for _, kernel in kernels_of(self.py_func):
                kernel._reached(seen)
        return seen

    def compile(self, *arguments: Any) -> Any:
        """Call the kernel as machine code, which is made now where the cache has none."""
        with machine_code():
            result = self.dispatcher()(*arguments)
        self._may_be_cached = True
        return result

    def plain(self) -> Callable[..., Any]:
        """The Python function, with the plain forms of the kernels that it calls: a detour for each would be slow."""
        if self._plain is None:
            self._plain = function = _copy(self.py_func)
            for name, kernel in kernels_of(self.py_func):
                function.__globals__[name] = kernel.plain()
        return self._plain

    def dispatcher(self) -> Callable[..., Any]:
        """Numba's dispatcher. Where it has to compile it raises `NotCompiled`, unless `compile` has called it."""
        with _lock:
            if self._dispatcher is None:
                from dovetail._numba import make_dispatcher

                function = _copy(self.py_func)
                self._dispatcher = make_dispatcher(function, self._inline, lambda: self._before_compiling(function))
                if self._inline:  # it is never compiled alone, but its code is read with that of its callers
                    self._link(function)
            return self._dispatcher

    def _before_compiling(self, function: FunctionType) -> None:
        if not _may_compile():
            raise NotCompiled
        with _lock:
            while _listeners:
                _listeners.pop()()
            self._link(function)

    def _link(self, function: FunctionType) -> None:
        """Put dispatchers in the place of the kernels that this one calls: numba looks there for them."""
        for name, kernel in kernels_of(self.py_func):
            function.__globals__[name] = kernel.dispatcher()


@contextlib.contextmanager
def machine_code() -> Iterator[None]:
    """Within, this thread runs kernels as machine code only, which is made now where the cache has none."""
    before = _may_compile()
    _thread.may_compile = True
    try:
        yield
    finally:
        _thread.may_compile = before


def _may_compile() -> bool:
    return getattr(_thread, "may_compile", False)


def kernels_of(function: Callable[..., Any]) -> Iterator[tuple[str, Kernel]]:
    """The kernels that a function calls, by name."""
    scope = function.__globals__
    for name in function.__code__.co_names:
        if isinstance(kernel := scope.get(name), Kernel):
            yield name, kernel


def _copy(function: Callable[..., Any]) -> FunctionType:
    """The same function with globals of its own, in which other functions can take the place of kernels."""
    original = cast(FunctionType, function)
    scope = dict(original.__globals__)
    copy = FunctionType(original.__code__, scope, original.__name__, original.__defaults__, original.__closure__)
    copy.__module__, copy.__qualname__ = original.__module__, original.__qualname__
    return copy


def on_first_compilation(listener: Callable[[], None]) -> None:
    """Call `listener` once, when a kernel is not in the cache: the first run after an installation takes longer."""
    _listeners.append(listener)
