"""How far Spark is, by its own status."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from dovetail._progress import Progress, silent
from dovetail._spark.engine import SparkEngine, spark_errors

_PERIOD = 0.5  # seconds between two looks


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
