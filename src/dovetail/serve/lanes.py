"""A lane: threads for one kind of question, in the order of asking, and a bounded number of questions that wait.

A question stops between its steps when its client has left or its time is over (see `_cancel`).
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dovetail._cancel import Cancelled, cancellable
from dovetail.serve.problems import OUT_OF_TIME, Busy, Refused

T = TypeVar("T")
HasLeft = Callable[[], Awaitable[bool]]
_LOOK = 0.1  # seconds between two looks whether the client is still there
_LONGEST_WAIT = 60  # seconds, of what clients are told; arbitrary
_LATELY = 0.2  # the weight of the last question in the mean of their times; arbitrary
_END = object()


class Lane:
    """Threads for one kind of question, in the order of asking; and how many wait for one."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._threads, self._waiting = threads, waiting
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._asked = 0
        self._seconds = 1.0  # that a question takes, of late

    def check_room(self) -> None:
        if self._asked >= self._threads + self._waiting:
            wait = math.ceil(self._asked * self._seconds / self._threads)
            raise Busy(min(max(1, wait), _LONGEST_WAIT))

    async def stream(
        self, work: Callable[[], Iterator[T]], seconds: float, has_left: HasLeft | None = None
    ) -> AsyncGenerator[T, None]:
        """What `work` yields, as it comes.

        Raises `Busy`, `Refused` if its time is over, and `Cancelled` if nobody waits.
        """
        self.check_room()
        question = _Question(seconds)
        self._asked += 1
        running = asyncio.get_running_loop().run_in_executor(self._executor, question.work_on, work)
        running.add_done_callback(lambda _: self._done(question))
        watching = asyncio.create_task(watch(has_left, question.leave)) if has_left else None
        try:
            while (answer := await question.answers.get()) is not _END:
                if isinstance(answer, BaseException):
                    raise answer
                yield answer
        finally:
            question.left.set()
            if watching:
                watching.cancel()

    def _done(self, question: _Question) -> None:
        self._asked -= 1
        self._seconds += _LATELY * (question.worked - self._seconds)

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)


class _Question:
    """One question on its way: what was answered, and whether anybody still waits."""

    def __init__(self, seconds: float) -> None:
        self.left = threading.Event()
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._ends = float("inf")  # the time begins when a thread is free
        self.worked = 0.0  # seconds

    def work_on(self, work: Callable[[], Iterator[Any]]) -> None:
        begun = time.monotonic()
        self._ends = begun + self._seconds
        try:
            with cancellable(self._is_over):
                for answer in work() if not self.left.is_set() else ():
                    self._put(answer)
            self._put(_END)
        except Cancelled:
            self._put(Cancelled() if self.left.is_set() else self._out_of_time())
        except BaseException as error:  # noqa: BLE001  # raised again where the answer is awaited
            self._put(error)
        finally:
            self.worked = time.monotonic() - begun

    def leave(self) -> None:
        self.left.set()
        self.answers.put_nowait(Cancelled())

    def _is_over(self) -> bool:
        return self.left.is_set() or time.monotonic() > self._ends

    def _out_of_time(self) -> Refused:
        return Refused(OUT_OF_TIME, f"This takes longer than {self._seconds:g} seconds, which is the server's limit.")

    def _put(self, answer: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.answers.put_nowait, answer)


async def watch(has_left: HasLeft, leave: Callable[[], Any]) -> None:
    """Call `leave` once the client has left."""
    while not await has_left():
        await asyncio.sleep(_LOOK)
    leave()
