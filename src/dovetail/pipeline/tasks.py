"""Runs tasks on Spark: one partition each, small descriptions in and small results out.

Bulk data never passes through Spark: tasks read the lake and write segments (or staged slices) themselves, with kernels
inside the workers. What a task gets and gives is one JSON document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.errors import BuildFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Task = dict[str, Any]
_RESULT = "result string"


def run_tasks(session: SparkSession, folder: Path, work: Callable[[Task], Any], tasks: list[Task]) -> list[Any]:
    """The results of `work` over `tasks`, in their order. The descriptions travel through files in `folder`."""
    folder.mkdir(parents=True)
    for number, task in enumerate(tasks):
        (folder / f"{number}.json").write_text(json.dumps(task))
    place = str(folder)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pa.set_cpu_count(1)  # Spark already keeps every core busy
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            answers = [json.dumps([n, work(json.loads(Path(place, f"{n}.json").read_text()))]) for n in numbers]
            yield pa.RecordBatch.from_arrays([pa.array(answers, pa.string())], ["result"])

    frame = session.range(0, len(tasks), 1, len(tasks)).mapInArrow(run, _RESULT)
    try:
        rows = frame.collect()
    except _spark_errors() as error:
        raise BuildFailed(_reason(error)) from error
    return [answer for _, answer in sorted((json.loads(row.result) for row in rows), key=lambda pair: pair[0])]


def _spark_errors() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return Py4JError, PySparkException


def _reason(error: Exception) -> str:
    """The last line of a worker's own traceback says more than Spark's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if line.split(":")[0].rpartition(".")[2].endswith(("Error", "Exception"))]
    return f"A Spark task failed for good: {(own or lines or ['no reason given'])[-1]}"
