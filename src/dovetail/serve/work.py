"""Who works on a question, and who waits for it; nobody's event loop does.

Questions have three lanes, so that quick ones do not wait for slow ones: looking things up and questions about the
whole lake run in threads, questions about tables in processes of their own (`processes`) or, if there are none, in
threads. A question about tables that is under way is shared by all who ask it, and its answer is kept (`shared`).
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any, TypeVar

from dovetail.serve.lanes import HasLeft, Lane
from dovetail.serve.limits import MB
from dovetail.serve.processes import Processes
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.shared import Answers, SharedQuestion

T = TypeVar("T")


class Workers:
    """Threads and processes for the questions of one service."""

    def __init__(self, service: Service) -> None:
        self._service, self._limits = service, service.limits
        limits = service.limits
        self._processes = Processes(service.index, service.kept.folder, limits) if limits.processes else None
        self._quick = Lane("look-up", limits.threads, limits.waiting)
        self._lake = Lane("lake", limits.lake_threads, limits.waiting)
        self._tables = Lane("question", limits.processes or limits.threads, limits.waiting)
        self._answers = Answers(limits.answers_mb * MB)
        self._shared: dict[str, SharedQuestion] = {}

    def warm_up(self) -> None:
        """Wait until the first question would be answered at once."""
        if self._processes:
            self._processes.warm_up()
        else:
            self._service.warm_up()

    async def run(self, work: Callable[[], T], has_left: HasLeft | None = None, seconds: float | None = None) -> T:
        """What `work` returns, which looks something up."""
        return await _only(self._quick.stream(lambda: iter((work(),)), seconds or self._limits.seconds, has_left))

    async def run_on_lake(self, work: Callable[[], T], has_left: HasLeft | None = None) -> T:
        """What `work` returns, which is about the whole lake."""
        return await _only(self._lake.stream(lambda: iter((work(),)), self._limits.lake_seconds, has_left))

    async def ask(self, question: Question, has_left: HasLeft | None = None) -> Any:
        """The answer to a question about tables; of several, the last."""
        async with contextlib.aclosing(self._pickled(question, has_left)) as answers:
            given = [each async for each in answers]
        return pickle.loads(given[-1])

    async def stages(self, question: Question, has_left: HasLeft | None = None) -> AsyncGenerator[Any, None]:
        """The answers to a question about tables, as they come."""
        async with contextlib.aclosing(self._pickled(question, has_left)) as answers:
            async for each in answers:
                yield pickle.loads(each)

    async def _pickled(self, question: Question, has_left: HasLeft | None) -> AsyncGenerator[bytes, None]:
        state = await self.run(self._service.state, has_left)
        kept = self._answers.get(state, question.written)
        for each in kept or ():
            yield each
        if kept is None:
            shared = self._share(f"{state} {question.written}", question)
            async with contextlib.aclosing(shared.answers(has_left)) as answers:
                async for each in answers:
                    yield each

    def _share(self, key: str, question: Question) -> SharedQuestion:
        """The same question under way, or else this one from now on."""
        if key not in self._shared:
            self._tables.check_room()
            shared = self._shared[key] = SharedQuestion()
            stream = self._tables.stream(lambda: self._work_on(question, shared), self._limits.seconds)
            shared.start(stream, lambda: self._end(key, question, shared))
        return self._shared[key]

    def _work_on(self, question: Question, shared: SharedQuestion) -> Iterator[bytes]:
        """In a thread: pickled answers, and the state of the index that they belong to."""
        if self._processes:
            shared.state = yield from self._processes.answers(question, self._service.lake.generation)
            self._service.catch_up(shared.state)
        else:
            shared.state = yield from self._pickle(self._service.answers(question))

    @staticmethod
    def _pickle(answers: Generator[Any, None, str | None]) -> Generator[bytes, None, str | None]:
        while True:
            try:
                yield pickle.dumps(next(answers))
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    def _end(self, key: str, question: Question, shared: SharedQuestion) -> None:
        """Keep the answers, if the index has stayed the same while they were made."""
        if self._shared.get(key) is shared:
            del self._shared[key]
        if shared.state is not None:
            self._answers.keep(shared.state, question.written, tuple(shared.given))

    def close(self) -> None:
        for lane in (self._quick, self._lake, self._tables):
            lane.close()
        if self._processes:
            self._processes.close()


async def _only(answers: AsyncGenerator[T, None]) -> T:
    (answer,) = [each async for each in answers]
    return answer
