"""Runs tasks on Spark: one partition each, small descriptions in and small results out.

Bulk data never passes through Spark: tasks read the lake and write segments (or staged slices) themselves, with kernels
inside the workers. What a task gets and gives is one JSON document.

A task that raises answers with what it raised. One that ends its worker, by taking all memory or by a crash in native
code, fails the whole Spark job, after Spark has tried it four times: the others keep their answers, which are also on
disk, and each of those that had begun is tried by itself to see which one it was.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._spark.engine import SparkEngine, reason_of, spark_errors
from dovetail._storage.directory import TARGET_FAILURES
from dovetail._storage.store import Address, Store, open_store
from dovetail.errors import BuildFailed, InputError
from dovetail.normalise.keyed import hash_key, use_key
from dovetail.pipeline.probe import Witness, first_unseen, host, require_unchanged

Task = dict[str, Any]
DIED = "died"
"""The key of the answer of a task that ended its worker."""
RAISED = "raised"
"""The key of the answer of a task that raised an exception: its type, its message and where it came from."""
LACKING = "lacking"
"""The key of the answer of a task that cannot go on for want of a package or a server: a sentence."""
_RESULT = "result string"
_UNSEEN = "unseen"
_GONE = "Spark has ended, or cannot be reached. What was committed stays; the next run goes on from there."


def run_tasks(
    engine: SparkEngine,
    folder: Address,
    work: Callable[[Task], Any],
    tasks: list[Task],
    description: str,
    witnesses: list[Witness],
) -> list[Any]:
    """The answers of `work` to `tasks`, in their order. The descriptions travel through `folder`, which all can reach.

    Every task first looks at the witnesses: a worker that does not see them as the driver does fails the run.
    """
    store = open_store(folder)
    for number, task in enumerate(tasks):
        store.put(f"{number}.json", json.dumps(task).encode())
    answers: dict[int, Any] = {}
    job = _Job(engine, store, work, description, witnesses)
    while pending := [number for number in range(len(tasks)) if number not in answers]:
        try:
            answers |= job.run(pending)
        except WorkerDied as death:
            left = {entry.name for entry in store.entries()}
            answers |= {n: json.loads(store.read(f"{n}.answer")) for n in pending if f"{n}.answer" in left}
            begun = [n for n in pending if n not in answers and f"{n}.begun" in left]
            if not begun:
                raise BuildFailed(str(death)) from death
            for number in begun:
                answers |= job.run_alone(number)
    return [answers[number] for number in range(len(tasks))]


class WorkerDied(Exception):
    """A Spark job failed, and not because of an exception in Python."""


@dataclass
class _Job:
    """Some of the tasks in one Spark job."""

    engine: SparkEngine
    store: Store
    work: Callable[[Task], Any]
    description: str
    witnesses: list[Witness]

    def run(self, numbers: list[int]) -> dict[int, Any]:
        """The answers of the tasks with these numbers; without those that have to be tried again."""
        place, work, witnesses = self.store.absolute, self.work, list(self.witnesses)
        key = hash_key()  # with the function, never in a file

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            pa.set_cpu_count(1)  # Spark already keeps every core busy
            use_key(key)
            for batch in batches:
                found = [_answered(place, work, numbers[n], witnesses) for n in batch.column(0).to_pylist()]
                yield pa.RecordBatch.from_arrays([pa.array(found, pa.string())], ["result"])

        frame = self.engine.session.range(0, len(numbers), 1, len(numbers)).mapInArrow(answer, _RESULT)
        try:
            with self.engine.job(self.description):
                rows = frame.collect()
        except spark_errors() as error:
            if _is_gone(error):
                raise BuildFailed(_GONE) from error
            if _raised_in_python(error):
                raise BuildFailed(reason_of(error)) from error
            raise WorkerDied(reason_of(error)) from error
        answers = dict(json.loads(row.result) for row in rows)
        return {number: answer for number, answer in answers.items() if not self._is_blind(answer)}

    def run_alone(self, number: int) -> dict[int, Any]:
        try:
            return self.run([number])
        except WorkerDied as death:
            return {number: {DIED: str(death)}}

    def _is_blind(self, answer: Any) -> bool:
        if not (isinstance(answer, dict) and _UNSEEN in answer):
            return False
        if any(found.path == answer[_UNSEEN] for found in self.witnesses):
            require_unchanged(self.witnesses, answer[_UNSEEN], answer["host"])
        return True


def _answered(folder: str, work: Callable[[Task], Any], number: int, witnesses: list[Witness]) -> str:
    """Inside a worker: the number and the answer of one task, which is also left in the store."""
    if unseen := first_unseen(witnesses):
        return json.dumps([number, {_UNSEEN: unseen, "host": host()}])
    try:
        store = open_store(folder)
        store.put(f"{number}.begun", b"")
        answer = attempt(work, json.loads(store.read(f"{number}.json")))
        store.put(f"{number}.answer", json.dumps(answer).encode())
    except OSError as error:  # the target is full: then there is no room for the answer either
        if error.errno not in TARGET_FAILURES:
            raise
        answer = {"failed": os.strerror(error.errno)}
    return json.dumps([number, answer])


def attempt(work: Callable[[Task], Any], task: Task) -> Any:
    """The answer to one task. Failures of the disks, which Spark's further attempts may survive, are raised."""
    try:
        return work(task)
    except OSError:
        raise
    except InputError as error:
        return {LACKING: str(error), "host": host()}
    except Exception as error:  # noqa: BLE001  # the driver halves the group, and names the file and the bug
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return {RAISED: {"type": type(error).__name__, "message": str(error), "where": where}}


def _raised_in_python(error: Exception) -> bool:
    return "Traceback (most recent call last)" in str(error)


def _is_gone(error: Exception) -> bool:
    """Whether Spark itself has died, or cannot be reached: then every further job fails.

    Errors of its Java that are none of a job have other classes; those of a lost connection to a server, too.
    """
    from pyspark.errors import PySparkException

    return not (isinstance(error, PySparkException) or type(error).__name__ == "Py4JJavaError")
