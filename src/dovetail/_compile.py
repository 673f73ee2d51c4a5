"""How kernels are compiled: cached on disk, without the interpreter lock.

Numba's cache notices a change of the file that holds a kernel and of no other file. So a kernel calls only
functions, and reads only constants, of its own file; whatever is declared elsewhere comes in as an
argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

int64 = cast(Callable[[Any], int], np.int64)
"""A machine integer that type checkers take for an ``int``, as which the plain form of a kernel uses it."""


def compiled(kernel: Kernel) -> Kernel:
    """Compile a plain Python function; the plain form stays as ``py_func``, the oracle in tests."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))


class _First(event.Listener):  # type: ignore[misc]  # numba is not typed
    """Calls once, as soon as anything is compiled."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: event.Event) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, event: event.Event) -> None:
        pass


def tell_of_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called when a kernel is not in the cache: the first run after an installation takes longer."""
    event.register("numba:compile", _First(tell))
