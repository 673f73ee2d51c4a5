"""Answers that were given lately, for whoever asks the same again; bounded by their bytes.

They belong to one state of the index. With the next one nobody can be given them any more, so that they are let go: a
server whose index is often updated takes no more memory for it.
"""

from __future__ import annotations

import sys
from collections import OrderedDict

_LARGEST = 8  # one answer may take at most one such part of the room; arbitrary, keeps room for several
_OVERHEAD = 500  # bytes of an answer of no bytes: objects and a place in the dictionary, generously


class Answers:
    """Pickled answers by question, over the newest state of the index. What was used longest ago makes room first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._state = ""
        self._kept: OrderedDict[str, tuple[bytes, ...]] = OrderedDict()
        self.bytes = 0

    def get(self, state: str, question: str) -> tuple[bytes, ...] | None:
        """The answers to a question over this state, which is the newest from now on."""
        if state != self._state:
            self._state, self.bytes = state, 0
            self._kept.clear()
        if question not in self._kept:
            return None
        self._kept.move_to_end(question)
        return self._kept[question]

    def keep(self, state: str, question: str, answers: tuple[bytes, ...]) -> None:
        size = _size(question, answers)
        if state != self._state or size > self._most // _LARGEST or question in self._kept:
            return
        self._kept[question] = answers
        self.bytes += size
        while self.bytes > self._most:
            self.bytes -= _size(*self._kept.popitem(last=False))


def _size(question: str, answers: tuple[bytes, ...]) -> int:
    """A question may be longer than its answer."""
    return _OVERHEAD + sys.getsizeof(question) + sum(map(len, answers))
