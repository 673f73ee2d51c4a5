"""How kernels are compiled: cached on disk, without the interpreter lock.

Numba's cache notices a change of the file that holds a kernel and of no other file. Ours notices a change of any file
of kernels, so that a kernel may call functions and read constants of another one. Every compiled function therefore
lives in a file called `*kernels.py` (a test looks).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching, event

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

int64 = cast(Callable[[Any], int], np.int64)
"""A machine integer that type checkers take for an ``int``, as which the plain form of a kernel uses it."""

_PACKAGE = Path(__file__).parent


@functools.cache
def kernel_stamp() -> bytes:
    """A digest of all files of kernels."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*kernels.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _stamped(locator: Any) -> Any:
    """The locator of a cache file, with the stamp of all kernels in place of that of one file."""
    return type(locator.__name__, (locator,), {"get_source_stamp": lambda self: kernel_stamp()})


class _CacheFile(caching.CompileResultCacheImpl):  # type: ignore[misc]  # numba is not typed
    _locator_classes = [_stamped(locator) for locator in caching.CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheFile

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(sig, target_context)
        except (AttributeError, ImportError):  # the cache names a type that has been renamed or moved since
            self.flush()
            return None


def compiled(kernel: Kernel) -> Kernel:
    """Compile a plain Python function; the plain form stays as ``py_func``, the oracle in tests."""
    dispatcher = numba.njit(nogil=True)(kernel)
    dispatcher._cache = _Cache(kernel)
    return cast(Kernel, dispatcher)


class _First(event.Listener):  # type: ignore[misc]
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
