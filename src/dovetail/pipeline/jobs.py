"""The Spark jobs of one run, batch by batch: groups of tables in, segments out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dovetail._storage.directory import IndexWriter
from dovetail._storage.segment import SegmentRef
from dovetail.errors import BuildFailed
from dovetail.lake.listing import TableFile
from dovetail.pipeline import work
from dovetail.pipeline.plan import read_bytes
from dovetail.pipeline.tasks import run_tasks
from dovetail.settings import MB, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkBuild:
    """Runs groups of tables through Spark for one writer."""

    def __init__(
        self, session: SparkSession, writer: IndexWriter, frozen: dict[str, dict[str, Any]], settings: Settings
    ) -> None:
        self._session = session
        self._writer = writer
        self._frozen = frozen
        self._slice_bytes = settings.slice_mb * MB
        self._memory_bytes = settings.memory_mb * MB
        self._jobs = 0
        self._tasks = 0
        self.progress = writer.staging / "progress"
        self.progress.mkdir(parents=True)
        self._slices = writer.staging / "slices"

    def run(self, groups: list[list[TableFile]]) -> list[SegmentRef]:
        entries = {file.table: {"file": vars(file)} for files in groups for file in files}
        big = [file for files in groups for file in files if read_bytes(file) > self._slice_bytes]
        if big:
            entries |= self._stage(big)
        tasks = [self._build_task(tables=[entries[file.table] for file in files]) for files in groups]
        return [SegmentRef.from_json(answer["segment"]) for answer in self._job(work.build_group, tasks)]

    def merge(self, groups: list[list[str]]) -> list[SegmentRef]:
        tasks = [self._build_task(index=str(self._writer.path), merge=names) for names in groups]
        return [SegmentRef.from_json(answer["segment"]) for answer in self._job(work.merge_group, tasks)]

    def clear(self) -> None:
        """Free the disk that staged slices take, once the segments made of them are committed."""
        if self._slices.exists():
            shutil.rmtree(self._slices)

    def _stage(self, big: list[TableFile]) -> dict[str, dict[str, Any]]:
        """Count big tables in slices; returns what the build needs of each."""
        described = {file.table: {"file": vars(file), "slice_bytes": self._slice_bytes} for file in big}
        prepared = dict(zip(described, self._job(work.prepare_big, list(described.values())), strict=True))
        parts = [
            {**described[table], "mark": answer["mark"], "layout": answer["layout"], "part": part}
            | {"staging": str(self._slices)}
            for table, answer in prepared.items()
            for part in answer.get("parts", [])
        ]
        entries = {table: {"file": described[table]["file"], **answer} for table, answer in prepared.items()}
        for part, answer in zip(parts, self._job(work.stage_big, parts), strict=True):
            entry = entries[part["file"]["table"]]
            if "error" in answer:
                entry |= answer
            else:
                entry.setdefault("slices", []).extend(answer["slices"])
                entry.setdefault("counters", []).append(answer["counter"])
        return entries

    def _build_task(self, **what: Any) -> dict[str, Any]:
        self._tasks += 1
        return {
            "segments": str(self._writer.segments),
            "staging": str(self._writer.staging / "spilled"),
            "progress": str(self.progress / str(self._tasks)),
            "memory_bytes": self._memory_bytes,
            "frozen": self._frozen,
            **what,
        }

    def _job(self, function: Callable[[dict[str, Any]], Any], tasks: list[dict[str, Any]]) -> list[Any]:
        if not tasks:
            return []
        self._jobs += 1
        answers = run_tasks(self._session, self._writer.staging / f"job-{self._jobs}", function, tasks)
        for answer in answers:
            if "failed" in answer:
                raise BuildFailed(f"Cannot write to {self._writer.path}: {answer['failed']}. What was committed stays.")
        return answers
