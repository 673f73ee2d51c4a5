"""Answers that were given lately, for whoever asks the same again; bounded by their bytes."""

from __future__ import annotations

import sys
from collections import OrderedDict

_LARGEST = 8  # one answer may take at most one such part of the room; arbitrary, keeps room for several
_OVERHEAD = 500  # bytes of an answer of no bytes: objects and a place in the dictionary, generously


class Answers:
    """Pickled answers by question and state of the index. What was used longest ago makes room first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[str, tuple[bytes, ...]] = OrderedDict()
        self.bytes = 0

    def get(self, key: str) -> tuple[bytes, ...] | None:
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, key: str, answers: tuple[bytes, ...]) -> None:
        if _size(key, answers) > self._most // _LARGEST or key in self._kept:
            return
        self._kept[key] = answers
        self.bytes += _size(key, answers)
        while self.bytes > self._most:
            self.bytes -= _size(*self._kept.popitem(last=False))


def _size(key: str, answers: tuple[bytes, ...]) -> int:
    """A question may be longer than its answer."""
    return _OVERHEAD + sys.getsizeof(key) + sum(map(len, answers))
