"""The pipeline inside this process, without Spark: the same task functions, and the same JSON in between."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dovetail.pipeline import jobs, maintain, run, tasks
from dovetail.pipeline.report import Report
from dovetail.pipeline.run import Request, index_lake
from dovetail.settings import MB, Settings

Worker = Callable[[str], contextlib.AbstractContextManager[None]]
SMALLEST = Settings(segment_mb=1, slice_mb=1, memory_mb=1)
UNMERGED = replace(SMALLEST, merge_factor=1_000_000)


@contextlib.contextmanager
def without_spark(megabyte: int = MB, worker: Worker = lambda _: contextlib.nullcontext()) -> Iterator[None]:
    """Inside this context `index` and `compact` run here; a small `megabyte` makes many segments, slices and spills.

    `worker` is entered around what a worker does, "probe" or "task": as if the worker were another machine.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (run, maintain):
            patch.setattr(module, "spark_session", lambda _: contextlib.nullcontext(FakeEngine(worker)))
        patch.setattr(jobs, "run_tasks", _run_tasks)
        for module in (run, maintain, jobs):
            patch.setattr(module, "MB", megabyte)
        yield


@dataclass
class FakeEngine:
    """As if Spark had two slots, both in this process."""

    worker: Worker = lambda _: contextlib.nullcontext()
    here = False

    def job(self, _: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def on_each_slot(self, look: Callable[[], str]) -> list[str]:
        with self.worker("probe"):
            return [look(), look()]


def _run_tasks(engine: FakeEngine, folder: str, work: Callable[[Any], Any], described: list[Any], *_: Any) -> list[Any]:
    with engine.worker("task"):
        return [json.loads(json.dumps(_answer(work, json.loads(json.dumps(task))))) for task in described]


def _answer(work: Callable[[Any], Any], task: Any) -> Any:
    try:
        return tasks.attempt(work, task)
    except WorkerDied as death:
        return {tasks.DIED: str(death)}


def by_one_task(sizes: list[int], slots: int, least: int) -> list[bool]:
    """In the place of `worth_dividing`: every segment is built by one task."""
    return [False] * len(sizes)


class WorkerDied(BaseException):
    """Raised by a test inside a task: as if the task had ended its worker."""


def index(lake: Path | Sequence[Path | str], to: str | Path, **options: Any) -> Report:
    """Index with the smallest settings, whatever gets lost."""
    lakes = lake if isinstance(lake, Sequence) and not isinstance(lake, str) else [lake]
    return index_lake(Request(tuple(map(str, lakes)), to, **{"settings": SMALLEST, "allow_drop": True} | options))
