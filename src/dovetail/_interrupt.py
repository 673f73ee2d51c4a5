"""What must not stay behind where Ctrl-C ends the process at once: drafts, folders of scratch, a progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

_tidying: list[Callable[[], object]] = []


@contextlib.contextmanager
def tidied(tidy: Callable[[], object]) -> Iterator[None]:
    """Call `tidy` when the context ends, or from another thread when an interrupt ends the process within it."""
    _tidying.append(tidy)
    try:
        yield
    finally:
        tidy()
        _tidying.remove(tidy)


def tidy_all() -> None:
    """Right before the process ends; the latest first, as contexts end."""
    for tidy in reversed(_tidying):
        tidy()
