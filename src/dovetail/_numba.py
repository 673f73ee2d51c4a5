"""Numba's dispatchers, with a cache on disk that notices a change of any file of kernels.

Numba's own cache notices a change of the file that holds a kernel and of no other file. With ours a kernel may call
functions and read constants of another file. Every compiled function therefore lives in a file called `*kernels.py`,
and the named tuples that kernels take live there or in a `core.py`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event
from numba.core.runtime import rtsys
from numba.cpython import hashing  # noqa: F401  # registers symbols that machine code may refer to

from dovetail._deadline import slow_time

STAMPED = ("*kernels.py", "core.py")

_PACKAGE = Path(__file__).parent


@functools.cache
def kernel_stamp() -> bytes:
    """A digest of all files that machine code depends on."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in STAMPED for path in _PACKAGE.rglob(pattern)):
        digest.update(path.read_bytes())
    return digest.digest()


def _stamped(locator: Any) -> Any:
    """The locator of a cache file, with the stamp of all kernels in place of that of one file."""
    return type(locator.__name__, (locator,), {"get_source_stamp": lambda self: kernel_stamp()})


class _CacheFile(caching.CompileResultCacheImpl):  # type: ignore[misc]  # numba is not typed
    _locator_classes = [_stamped(locator) for locator in caching.CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheFile

    def __init__(self, function: Callable[..., Any], on_miss: Callable[[], None]) -> None:
        super().__init__(function)
        self._on_miss = on_miss

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(signature, target_context)
        except (AttributeError, ImportError):  # the cache names a type that has been renamed or moved since
            self.flush()
            return None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The machine code from the cache. Only what running it needs is set up: that is a third of numba's imports.

        The rest, which typing and lowering need, numba's compiler sets up itself.
        """
        rtsys.initialize(target_context)
        found = None
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(signature, target_context)
        if found is None:
            self._on_miss()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep machine code for the next process. A failure costs that one time and nothing else."""
        try:
            super().save_overload(signature, data)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            warnings.warn(f"Compiled code could not be kept in {self.cache_path}: {reason}.", stacklevel=2)


def make_dispatcher(function: Callable[..., Any], inline: bool, on_miss: Callable[[], None]) -> Callable[..., Any]:
    """A dispatcher of the function; `on_miss` is called before anything is compiled."""
    dispatcher = numba.njit(nogil=True, inline="always" if inline else "never")(function)
    dispatcher._cache = _Cache(function, on_miss)
    made: Callable[..., Any] = dispatcher
    return made


class _CompileTime(event.Listener):  # type: ignore[misc]
    """Counts how long kernels have been compiling in this process. Compilations nest: only the outermost counts."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def on_start(self, event: Any) -> None:
        self._thread.depth = getattr(self._thread, "depth", 0) + 1
        if self._thread.depth == 1:
            self._thread.begun = time.perf_counter()

    def on_end(self, event: Any) -> None:
        self._thread.depth -= 1
        if self._thread.depth == 0:
            slow_time.compiling += time.perf_counter() - self._thread.begun


event.register("numba:compile", _CompileTime())
