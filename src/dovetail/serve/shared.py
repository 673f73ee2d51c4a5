"""A question under way that several may wait for. It is given up when the last of them has left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

from dovetail._cancel import Cancelled
from dovetail.serve.lanes import HasLeft, watch


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
