"""The Spark jobs of one run, batch by batch: groups of tables in, segments out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dovetail._spark.engine import SparkEngine
from dovetail._storage.directory import IndexWriter
from dovetail._storage.segment import SegmentRef
from dovetail.errors import BuildFailed
from dovetail.lake.listing import TableFile, is_spark
from dovetail.lake.source import is_divisible
from dovetail.pipeline import work
from dovetail.pipeline.divided import DividedBuild, worth_dividing
from dovetail.pipeline.plan import read_bytes
from dovetail.pipeline.probe import Witness, unseen_table
from dovetail.pipeline.reading import CHANGED, VANISHED, current_fingerprint
from dovetail.pipeline.report import forget_progress
from dovetail.pipeline.spark_source import SparkSource
from dovetail.pipeline.stages import STAGED
from dovetail.pipeline.tasks import DIED, LACKING, RAISED, run_tasks
from dovetail.pipeline.work import SLICES
from dovetail.settings import MB, Settings

KILLED = "reading it ended the worker process: out of memory, or a crash in a library"
_OUT_OF_MEMORY = ("MemoryError", "ArrowMemoryError", "_ArrayMemoryError")
# Finding each takes a few jobs. Arbitrary: beyond it, the installation is to blame.
_MOST_FAILURES = 20


@dataclass(frozen=True)
class Bug:
    """A table that Dovetail itself failed on."""

    table: str
    reason: str


class SparkBuild:
    """Runs groups of tables through Spark for one writer."""

    def __init__(
        self,
        engine: SparkEngine,
        writer: IndexWriter,
        frozen: dict[str, dict[str, Any]],
        settings: Settings,
        witnesses: list[Witness],
        slots: int,
        tables: SparkSource | None = None,
    ) -> None:
        self._engine = engine
        self._witnesses = witnesses
        self._tables_of_spark = tables
        self._slots = slots
        self._writer = writer
        self._frozen = frozen
        self._slice_bytes = settings.slice_mb * MB
        self._memory_bytes = settings.memory_mb * MB
        self._jobs = 0
        self._tasks = 0
        self._unreadable: list[dict[str, Any]] = []
        self._failures = 0
        self.bugs: list[Bug] = []

    def run(self, groups: list[list[TableFile]]) -> list[SegmentRef]:
        """The segments of the groups. A file that cannot be built is found by halving its group, and set aside."""
        entries = {file.table: {"file": file.to_json()} for files in groups for file in files}
        files_of_lake = (file for files in groups for file in files if not is_spark(file.path))
        big = [file for file in files_of_lake if read_bytes(file) > self._slice_bytes and is_divisible(file.path)]
        if big:
            entries |= self._stage(big)
        of_spark = [file for files in groups for file in files if is_spark(file.path)]
        if of_spark and self._tables_of_spark is not None:
            shared = self._writer.shared.absolute
            entries |= self._tables_of_spark.stage(
                self._engine, of_spark, shared, self._slice_bytes, self._slots, self._job
            )
        aside = {bug.table for bug in self.bugs} | {entry["file"]["table"] for entry in self._unreadable}
        kept = [[entries[file.table] for file in files if file.table not in aside] for files in groups]
        kept = [tables for tables in kept if tables]
        divide = worth_dividing([_weight(tables) for tables in kept], self._slots, self._slice_bytes)
        divided = [one and _is_cut(tables) for one, tables in zip(divide, kept, strict=True)]
        whole = [tables for tables, apart in zip(kept, divided, strict=True) if not apart]
        answers = iter(self._build(whole))
        refs = []
        for tables, apart in zip(kept, divided, strict=True):
            refs += self._segments_of(tables, self._divide(tables[0]) if apart else next(answers))
        if self._unreadable:
            refs += self._segments_of(self._unreadable, *self._build([self._unreadable]))
            self._unreadable = []
        return refs

    def merge(self, groups: list[list[str]]) -> list[SegmentRef]:
        tasks = [self._build_task(merge=names) for names in groups]
        answers = self._job(work.merge_group, tasks, f"merge into {len(tasks):,} segment(s)")
        for answer in answers:
            if "segment" not in answer:
                raise BuildFailed(f"{_reason(answer)}. Nothing was merged.")
        return [SegmentRef.from_json(answer["segment"]) for answer in answers]

    def forget_progress(self) -> None:
        """Let what follows be counted from 0."""
        forget_progress(self._writer.shared)

    def clear(self) -> None:
        """Free the disk that staged slices and what was made of them take, once their segments are committed."""
        shared = self._writer.shared
        for folder in (SLICES, STAGED):
            shared.delete([folder] if shared.is_local else [file.name for file in shared.entries(folder)])

    def raise_for_bugs(self) -> None:
        """Once all else is committed, say where Dovetail itself failed."""
        if self.bugs:
            named = "; ".join(f"{bug.table} ({bug.reason})" for bug in self.bugs)
            raise BuildFailed(
                f"All other tables are indexed, but a bug in Dovetail left out {len(self.bugs):,}: {named}. "
                "The next run tries again. Please report this."
            )

    def _divide(self, table: dict[str, Any]) -> Any:
        return DividedBuild(self._writer, self._job, self._slots, self._build_task()).build(table)

    def _build(self, groups: list[list[dict[str, Any]]]) -> list[Any]:
        tasks = [self._build_task(tables=tables) for tables in groups]
        tables = sum(map(len, groups))
        return self._job(work.build_group, tasks, f"index {tables:,} table(s), {len(groups):,} segment(s)")

    def _segments_of(self, tables: list[dict[str, Any]], answer: dict[str, Any]) -> list[SegmentRef]:
        missing = set(answer.get("missing", ()))
        for entry in tables:
            if entry["file"]["table"] in missing:
                self._set_missing(TableFile(**entry["file"]), answer["host"])
        if "segment" in answer:
            return [SegmentRef.from_json(answer["segment"])]
        if missing:
            return []
        if len(tables) == 1:
            self._set_aside(tables[0], answer)
            return []
        half = len(tables) // 2
        # One after the other: where two ran side by side and one ended, both would have to be tried again.
        return [ref for part in (tables[:half], tables[half:]) for ref in self._segments_of(part, *self._build([part]))]

    def _set_aside(self, entry: dict[str, Any], answer: dict[str, Any]) -> None:
        """Record the reason where the file or the memory is to blame; remember a bug of ours for the end."""
        file = entry["file"]
        if DIED in answer:
            mark = entry.get("fingerprint", file["fingerprint"])
            self._unreadable.append({"file": file, "error": KILLED, "fingerprint": mark})
        elif answer[RAISED]["type"] in _OUT_OF_MEMORY:
            self._unreadable.append({"file": file, "error": "cannot be read now: out of memory", "fingerprint": ""})
        else:
            self.bugs.append(Bug(file["table"], _reason(answer)))
        self._failures += 1
        if self._failures > _MOST_FAILURES:
            raise BuildFailed(
                f"More than {_MOST_FAILURES} files could not be built, so the files are hardly to blame. "
                f"The last one, {file['table']}: {_reason(answer)}. What was committed stays."
            )

    def _set_missing(self, file: TableFile, host: str) -> None:
        """Record why a worker did not find a file. Raises if the driver still sees the file as it was listed."""
        now = current_fingerprint(file)
        if now == file.fingerprint:
            raise unseen_table(file.path, host)
        self._unreadable.append({"file": file.to_json(), "error": CHANGED if now else VANISHED, "fingerprint": ""})

    def _stage(self, big: list[TableFile]) -> dict[str, dict[str, Any]]:
        """Count big tables in slices; returns what the build needs of each."""
        described = {file.table: {"file": file.to_json(), "slice_bytes": self._slice_bytes} for file in big}
        entries: dict[str, dict[str, Any]] = {}
        parts = []
        for table, answer in self._cuts(described).items():
            entries[table] = {"file": described[table]["file"]}
            if self._is_staged(entries[table], answer):
                entries[table] |= answer
                about = {name: value for name, value in answer.items() if name in ("fingerprint", "layout")}
                more = {**described[table], **about, "shared": self._writer.shared.absolute}
                parts += [{**more, "part": part} for part in answer.get("parts", [])]
        staged = self._job(work.stage_big, parts, f"read {len(parts):,} slice(s) of big tables")
        for part, answer in zip(parts, staged, strict=True):
            entry = entries[part["file"]["table"]]
            if not self._is_staged(entry, answer):
                continue
            if "error" in answer:
                entry |= answer
            else:
                entry.setdefault("slices", []).extend(answer["slices"])
                entry.setdefault("counters", []).append(answer["counter"])
        return entries

    def _cuts(self, described: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """How each big table is read and where it is cut: guesses that several tasks check, or else a walk by one."""
        answers = self._prepare(described, guess=True)
        checks = [
            {"file": described[table]["file"], "layout": answer["layout"], "part": part}
            for table, answer in answers.items()
            if answer.get("guessed")
            for part in answer["parts"][:-1]
        ]
        found = self._job(work.check_cut, checks, f"check {len(checks):,} cut(s) of big tables")
        wrong = {check["file"]["table"] for check, answer in zip(checks, found, strict=True) if not answer.get("exact")}
        again = {table: task for table, task in described.items() if table in wrong}
        return answers | self._prepare(again, guess=False)

    def _prepare(self, described: dict[str, dict[str, Any]], guess: bool) -> dict[str, dict[str, Any]]:
        tasks = [task | {"guess": guess} for task in described.values()]
        answers = self._job(work.prepare_big, tasks, f"find cuts of {len(tasks):,} big table(s)")
        return dict(zip(described, answers, strict=True))

    def _is_staged(self, entry: dict[str, Any], answer: dict[str, Any]) -> bool:
        """Whether a task of a big table got through; if not, the table is set aside, once."""
        if not {DIED, RAISED, "missing"} & set(answer):
            return True
        if "set_aside" not in entry:
            entry["set_aside"] = True
            if "missing" in answer:
                self._set_missing(TableFile(**entry["file"]), answer["host"])
            else:
                self._set_aside(entry, answer)
        return False

    def _build_task(self, **what: Any) -> dict[str, Any]:
        self._tasks += 1
        return {
            "index": self._writer.store.absolute,
            "shared": self._writer.shared.absolute,
            "number": self._tasks,
            "memory_bytes": self._memory_bytes,
            "slice_bytes": self._slice_bytes,
            "frozen": self._frozen,
            **what,
        }

    def _job(
        self, function: Callable[[dict[str, Any]], Any], tasks: list[dict[str, Any]], description: str
    ) -> list[Any]:
        if not tasks:
            return []
        self._jobs += 1
        folder = f"{self._writer.shared.absolute}/job-{self._jobs}"
        answers = run_tasks(self._engine, folder, function, tasks, description, self._witnesses)
        for answer in answers:
            if "failed" in answer:
                place = self._writer.store.address
                raise BuildFailed(f"Cannot write to {place}: {answer['failed']}. What was committed stays.")
            if LACKING in answer:
                raise BuildFailed(
                    f"The worker {answer['host']} cannot go on. {answer[LACKING]} What was committed stays."
                )
        return answers


def _weight(tables: list[dict[str, Any]]) -> int:
    """About how many bytes of raw tables a task would build."""
    return sum(
        sum(part["bytes"] for part in entry["slices"]) if "slices" in entry else read_bytes(TableFile(**entry["file"]))
        for entry in tables
    )


def _is_cut(tables: list[dict[str, Any]]) -> bool:
    """Whether this is one table in several slices."""
    return len(tables) == 1 and len(tables[0].get("slices", ())) > 1


def _reason(answer: dict[str, Any]) -> str:
    if DIED in answer:
        return str(answer[DIED])
    raised = answer[RAISED]
    return f"{raised['type']}: {raised['message']}, at {raised['where']}"
