"""Answers that several wait for: of a question under way, and those given lately, for whoever asks the same again.

A question is given up when the last of them has left. Answers are bounded by their bytes and belong to one state of the
index. With the next one nobody can be given them any more, so that they are let go: a server whose index is often
updated takes no more memory for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable

from dovetail._cancel import Cancelled
from dovetail.serve.lanes import HasLeft, watch

_LARGEST = 8  # one answer may take at most one such part of the room; arbitrary, keeps room for several
_OVERHEAD = 500  # bytes of an answer of no bytes: objects and a place in the dictionary, generously


class SharedQuestion:
    """The answers so far, and who waits for more."""

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.state: str | None = None
        self._failure: BaseException | None = None
        self._is_over = False
        self._waiting: set[asyncio.Event] = set()

    def start(self, stream: AsyncGenerator[bytes, None], ended: Callable[[], None]) -> None:
        self._ended = ended
        self._work = asyncio.create_task(self._collect(stream))

    async def _collect(self, stream: AsyncGenerator[bytes, None]) -> None:
        try:
            async with contextlib.aclosing(stream):
                async for answer in stream:
                    self.given.append(answer)
                    self._wake()
        except BaseException as failure:  # noqa: BLE001  # raised again for each who waits
            self._failure = failure
        finally:
            self._is_over = True
            self._ended()
            self._wake()

    def _wake(self) -> None:
        for each in self._waiting:
            each.set()

    async def answers(self, has_left: HasLeft | None) -> AsyncGenerator[bytes, None]:
        """All answers, also those that came before; for one who waits."""
        awake, left = asyncio.Event(), asyncio.Event()

        def leave() -> None:
            left.set()
            awake.set()

        self._waiting.add(awake)
        watching = asyncio.create_task(watch(has_left, leave)) if has_left else None
        seen = 0
        try:
            while seen < len(self.given) or not self._is_over:
                for answer in self.given[seen:]:
                    seen += 1
                    yield answer
                if not self._is_over:
                    await awake.wait()
                    awake.clear()
                if left.is_set():
                    raise Cancelled
            if self._failure is not None:
                raise self._failure
        finally:
            if watching:
                watching.cancel()
            self._waiting.discard(awake)
            if not self._waiting:
                self._ended()  # from now on, nobody joins
                self._work.cancel()


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
