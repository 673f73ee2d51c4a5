"""Questions run in a few threads, which share one index; nobody's event loop waits for them.

A question stops between its steps when its client has left or its time is over (see `_cancel`). Kernels run without
the interpreter's lock, so several questions use several cores.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dovetail._cancel import Cancelled, cancellable
from dovetail.serve.limits import Limits
from dovetail.serve.problems import BUSY, OUT_OF_TIME, Refused

T = TypeVar("T")
HasLeft = Callable[[], Awaitable[bool]]
_LOOK = 0.1  # seconds between two looks whether the client is still there
_END = object()


class Workers:
    """Threads for questions, and how many wait for one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="question")
        self._asked = 0

    async def run(self, work: Callable[[], T], seconds: float | None = None, has_left: HasLeft | None = None) -> T:
        """What `work` returns. Raises `Refused` where too many wait or the time is over, `Cancelled` if nobody does."""
        (answer,) = [each async for each in self.stream(lambda: iter((work(),)), seconds, has_left)]
        return answer

    async def stream(
        self, work: Callable[[], Iterator[T]], seconds: float | None = None, has_left: HasLeft | None = None
    ) -> AsyncIterator[T]:
        """What `work` yields, as it comes."""
        if self._asked >= self._limits.threads + self._limits.waiting:
            raise Refused(BUSY, "The server is busy. Try again in a moment.")
        question = _Question(seconds or self._limits.seconds)
        self._asked += 1
        running = asyncio.get_running_loop().run_in_executor(self._threads, question.work_on, work)
        running.add_done_callback(self._done)
        watching = asyncio.create_task(question.watch(has_left)) if has_left else None
        try:
            while (answer := await question.answers.get()) is not _END:
                if isinstance(answer, BaseException):
                    raise answer
                yield answer
        finally:
            question.left.set()
            if watching:
                watching.cancel()

    def _done(self, _: Any) -> None:
        self._asked -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Question:
    """One question on its way: what was answered, and whether anybody still waits."""

    def __init__(self, seconds: float) -> None:
        self.left = threading.Event()
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._ends = float("inf")  # the time begins when a thread is free

    def work_on(self, work: Callable[[], Iterator[Any]]) -> None:
        self._ends = time.monotonic() + self._seconds
        try:
            with cancellable(self._is_over):
                for answer in work() if not self.left.is_set() else ():
                    self._put(answer)
            self._put(_END)
        except Cancelled:
            self._put(Cancelled() if self.left.is_set() else self._out_of_time())
        except BaseException as error:  # noqa: BLE001  # raised again where the answer is awaited
            self._put(error)

    async def watch(self, has_left: HasLeft) -> None:
        while not await has_left():
            await asyncio.sleep(_LOOK)
        self.left.set()
        self.answers.put_nowait(Cancelled())

    def _is_over(self) -> bool:
        return self.left.is_set() or time.monotonic() > self._ends

    def _out_of_time(self) -> Refused:
        return Refused(OUT_OF_TIME, f"This takes longer than {self._seconds:g} seconds, which is the server's limit.")

    def _put(self, answer: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.answers.put_nowait, answer)
