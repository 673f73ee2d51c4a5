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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._storage.directory import TARGET_FAILURES
from dovetail.errors import BuildFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Task = dict[str, Any]
DIED = "died"
"""The key of the answer of a task that ended its worker."""
RAISED = "raised"
"""The key of the answer of a task that raised an exception: its type, its message and where it came from."""
_RESULT = "result string"


def run_tasks(session: SparkSession, folder: Path, work: Callable[[Task], Any], tasks: list[Task]) -> list[Any]:
    """The answers of `work` to `tasks`, in their order. The descriptions travel through files in `folder`."""
    folder.mkdir(parents=True)
    for number, task in enumerate(tasks):
        (folder / f"{number}.json").write_text(json.dumps(task))
    answers: dict[int, Any] = {}
    while pending := [number for number in range(len(tasks)) if number not in answers]:
        try:
            answers |= _spark_job(session, folder, work, pending)
        except WorkerDied as death:
            answers |= {n: json.loads(_answer(folder, n).read_text()) for n in pending if _answer(folder, n).exists()}
            begun = [n for n in pending if n not in answers and (folder / f"{n}.begun").exists()]
            if not begun:
                raise BuildFailed(str(death)) from death
            for number in begun:
                answers |= _by_itself(session, folder, work, number)
    return [answers[number] for number in range(len(tasks))]


class WorkerDied(Exception):
    """A Spark job failed, and not because of an exception in Python."""


def _by_itself(session: SparkSession, folder: Path, work: Callable[[Task], Any], number: int) -> dict[int, Any]:
    try:
        return _spark_job(session, folder, work, [number])
    except WorkerDied as death:
        return {number: {DIED: str(death)}}


def _spark_job(session: SparkSession, folder: Path, work: Callable[[Task], Any], numbers: list[int]) -> dict[int, Any]:
    place = str(folder)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pa.set_cpu_count(1)  # Spark already keeps every core busy
        for batch in batches:
            answers = [_answered(Path(place), work, numbers[place_]) for place_ in batch.column(0).to_pylist()]
            yield pa.RecordBatch.from_arrays([pa.array(answers, pa.string())], ["result"])

    frame = session.range(0, len(numbers), 1, len(numbers)).mapInArrow(run, _RESULT)
    try:
        rows = frame.collect()
    except _spark_errors() as error:
        if _raised_in_python(error) or _is_gone(error):
            raise BuildFailed(_reason(error)) from error
        raise WorkerDied(_reason(error)) from error
    return dict(json.loads(row.result) for row in rows)


def _answer(folder: Path, number: int) -> Path:
    return folder / f"{number}.answer"


def _answered(folder: Path, work: Callable[[Task], Any], number: int) -> str:
    """Inside a worker: the number and the answer of one task, which is also left on disk."""
    try:
        (folder / f"{number}.begun").touch()
        answer = attempt(work, json.loads((folder / f"{number}.json").read_text()))
        partial = folder / f"{number}.partial"
        partial.write_text(json.dumps(answer))
        partial.rename(_answer(folder, number))
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
    except Exception as error:  # noqa: BLE001  # the driver halves the group, and names the file and the bug
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return {RAISED: {"type": type(error).__name__, "message": str(error), "where": where}}


def _spark_errors() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return Py4JError, PySparkException


def _raised_in_python(error: Exception) -> bool:
    return "Traceback (most recent call last)" in str(error)


def _is_gone(error: Exception) -> bool:
    """Whether Spark itself has died: then every further job fails."""
    from py4j.protocol import Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    return isinstance(error, Py4JNetworkError) or not isinstance(error, Py4JJavaError | PySparkException)


def _reason(error: Exception) -> str:
    """The last line of a worker's own traceback says more than Spark's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if line.split(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
    return f"A Spark task failed for good: {(own or lines or ['no reason given'])[-1]}"
