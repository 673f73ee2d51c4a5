"""A Spark session at work: its jobs have names, whoever made the session, and report how far they are."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dovetail._progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_DESCRIPTION = "spark.job.description"
_MANY = 1 << 14  # rows: more than clusters have slots, and few enough to cost nothing
_PERIOD = 0.5  # seconds between two looks


def spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises: its own errors, those of its Java, and those of a lost connection to a server."""
    from pyspark.errors import PySparkException

    found: list[type[Exception]] = [PySparkException, ConnectionError]  # the latter where Java has ended
    with contextlib.suppress(ImportError):  # absent from a client of Spark Connect
        from py4j.protocol import Py4JError

        found.append(Py4JError)
    with contextlib.suppress(ImportError):  # absent without Spark Connect
        from grpc import RpcError

        found.append(RpcError)
    return tuple(found)


def reason_of(error: Exception) -> str:
    """Why a job failed. The last line of a worker's own traceback says more than Spark's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("at ", "... "))]  # a trace of Java
    own = [line for line in lines if line.split(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
    return f"A Spark task failed for good: {(own or lines or ['no reason given'])[-1]}"


@dataclass(frozen=True)
class SparkEngine:
    """A session, whether it is our own, and whether its workers are all our own processes on this machine."""

    session: SparkSession
    own: bool
    here: bool = False
    tag: str = field(default_factory=lambda: f"dovetail-{secrets.token_hex(4)}")

    @property
    def is_connect(self) -> bool:
        """Whether the session is a client of Spark Connect, which has no `sparkContext`."""
        return type(self.session).__module__.startswith("pyspark.sql.connect")

    def on_each_slot(self, look: Callable[[], str]) -> list[str]:
        """What `look` returns in tasks that run at the same time: as many as Spark makes where nobody says how many.

        A function that is defined inside another one also runs in workers that do not have our package.
        """

        def answer(batches: Iterable[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for _ in batches:
                pass
            yield pa.RecordBatch.from_arrays([pa.array([look()], pa.string())], ["answer"])

        frame = self.session.range(_MANY).mapInArrow(answer, "answer string")
        return [row.answer for row in frame.collect()]

    @contextlib.contextmanager
    def job(self, description: str) -> Iterator[None]:
        """Jobs inside the context bear this description in Spark's pages, and our tag; an interrupt ends them."""
        text = f"dovetail: {description}"
        with self._tagged() if self.is_connect else self._described(text):
            try:
                yield
            except (KeyboardInterrupt, SystemExit):
                self._cancel()
                raise

    @contextlib.contextmanager
    def _tagged(self) -> Iterator[None]:
        self.session.addTag(self.tag)
        try:
            yield
        finally:
            self.session.removeTag(self.tag)

    @contextlib.contextmanager
    def _described(self, text: str) -> Iterator[None]:
        context = self.session.sparkContext
        before = context.getLocalProperty(_DESCRIPTION)
        context.addJobTag(self.tag)
        context.setJobDescription(text)
        try:
            yield
        finally:
            with contextlib.suppress(*spark_errors()):  # where Spark has died, there is nothing to restore
                context.setLocalProperty(_DESCRIPTION, before)
                context.removeJobTag(self.tag)

    def _cancel(self) -> None:
        with contextlib.suppress(*spark_errors()):  # where Spark has died, so have its jobs
            if self.is_connect:
                self.session.interruptTag(self.tag)
            else:
                self.session.sparkContext.cancelJobsWithTag(self.tag)


@contextlib.contextmanager
def watch_tasks(engine: SparkEngine, stage: str, progress: Progress) -> Iterator[None]:
    """While the context is open, report how many tasks of the running Spark stages are done.

    Only of a session of our own: another may run other jobs as well, and Spark Connect tells no status.
    """
    if progress is silent or not engine.own or engine.is_connect:
        yield
        return
    ended = threading.Event()
    progress(stage, 0, 0)
    thread = threading.Thread(target=_follow, args=(engine, stage, progress, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _follow(engine: SparkEngine, stage: str, progress: Progress, ended: threading.Event) -> None:
    tracker = engine.session.sparkContext.statusTracker()
    with contextlib.suppress(*spark_errors()):  # where Spark has died, the job itself says so
        while not ended.wait(_PERIOD):
            running = [info for number in tracker.getActiveStageIds() if (info := tracker.getStageInfo(number))]
            if running:
                progress(stage, sum(each.numCompletedTasks for each in running), sum(each.numTasks for each in running))
