"""Long work: how far it is, and threads that stop as soon as their caller does."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

Progress = Callable[[str, int, int], None]
"""Called with the stage of the work, how much of it is done and how much there is; 0 where the total is unknown."""

ShouldStop = Callable[[], bool]


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def in_threads(threads: int, work: Callable[[Item, ShouldStop], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results in the order of the items; no more items are under way than there are threads.

    `work` has to look at its second argument several times a second and return early where it says so: then the
    caller has been interrupted, and waits for the threads to end.
    """
    stop = threading.Event()
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                if len(under_way) == threads:
                    yield under_way.popleft().result()
                under_way.append(pool.submit(work, item, stop.is_set))
            while under_way:
                yield under_way.popleft().result()
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
