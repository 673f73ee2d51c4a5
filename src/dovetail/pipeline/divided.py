"""Builds the segment of one huge table, for which all others would wait, by many tasks.

Its stages are those of `stages.py`, a Spark job each, one after another:

    feed ──► merge ──► dictionary ──► derive ──► finish

Between two of them lie files in the store and not a shuffle of Spark's, which costs the same: a worker that is lost
after its task has ended takes nothing with it. What a stage has used up is removed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail._storage.directory import SEGMENTS, IndexWriter
from dovetail._storage.pack import SUFFIX
from dovetail._storage.segment import DESCRIPTION, describe_segment, new_segment_id
from dovetail.catalog import records
from dovetail.indexes.frozen import left_out
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.tokens.build import BUCKETS
from dovetail.indexes.tokens.index import TOKENS
from dovetail.normalise import TypeEvidence
from dovetail.pipeline import stages
from dovetail.pipeline.report import Ticks
from dovetail.pipeline.tasks import DIED, RAISED
from dovetail.pipeline.work import SLICES, Task

RunJob = Callable[[Callable[[Task], Any], list[Task], str], list[Any]]

# Tasks of a stage for each slot: several, so that unequal ones even out. A task costs some 0.05 s.
_TASKS_A_SLOT = 4


def worth_dividing(sizes: Sequence[int], slots: int, least: int) -> list[bool]:
    """Of segments that are built at the same time, those that take longer than an equal share of all the work."""
    return [size >= least and size * slots > sum(sizes) for size in sizes]


def cut_evenly(weights: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Ranges of items that follow each other, at most `parts`, of about the same weight."""
    ends = np.cumsum(np.asarray(weights, np.int64) + 1)
    bounds = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts) + 1
    return list(itertools.pairwise(np.unique([0, *bounds, len(ends)]).tolist()))


def chains(without: Collection[str] = ()) -> list[list[str]]:
    """Indexes that can be built apart once the tokens are written; those that need another of them come after it."""
    found: list[list[str]] = []
    for index in INDEXES:
        if index.name == TOKENS.name or index.name in without:
            continue
        needed = [chain for chain in found if set(chain) & set(index.needs)]
        found = [chain for chain in found if chain not in needed]
        found.append([*itertools.chain.from_iterable(needed), index.name])
    return found


def _only(table: Task, first: int, last: int) -> Task:
    """A staged table with what is known of some of its columns: of all, a table of many columns has megabytes."""
    slices = [
        {**part, "evidence": [one if first <= n < last else None for n, one in enumerate(part["evidence"])]}
        for part in table["slices"]
    ]
    return {**table, "slices": slices}


class _TaskFailed(Exception):
    """A task of a stage has no result; holds its answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


@dataclass
class DividedBuild:
    """Builds the segment of a table by all slots."""

    writer: IndexWriter
    run: RunJob
    slots: int
    base: Task
    """What all tasks are told: where index and staging are, memory, and what is frozen."""

    def build(self, table: Task) -> Any:
        """The answer of a task that had built the segment of a staged table alone."""
        try:
            answer = {"segment": self._stages(table)}
        except _TaskFailed as failure:
            return failure.answer
        Ticks(self.writer.shared, self.base["number"])()
        return answer

    def _stages(self, table: Task) -> dict[str, Any]:
        id, name, shared = new_segment_id(), table["file"]["table"], self.writer.shared
        feeding, columns = self._feeding(table)
        fed = self._job(stages.feed, feeding, f"normalise columns of {name}")
        shared.delete(f"{SLICES}/{part['name']}" for part in table["slices"])
        entries = [file for each in fed for file in each["entries"]]
        ranges = [list(range(*cut)) for cut in cut_evenly([1] * BUCKETS, _TASKS_A_SLOT * self.slots)]
        merging = [{"entries": entries, "buckets": some, "columns": columns} for some in ranges]
        merged = self._job(stages.merge_ranges, merging, f"merge values of {name}")
        shared.delete(entries)
        buckets = [bucket for each in merged for bucket in each["buckets"]]
        writing = {"id": id, "buckets": buckets, "records": [each["records"] for each in fed]}
        (written,) = self._job(stages.write_dictionary, [writing], f"number values of {name}")
        shared.delete(file for bucket in buckets for file in bucket)
        chunks = [spill for each in fed for spill in each["chunks"]]
        return self._assemble(id, [written, *self._derive(id, written, chunks, name)])

    def _feeding(self, table: Task) -> tuple[list[Task], int]:
        """Tasks with columns that have about as many distinct values together, and the number of all columns."""
        evidence = [[TypeEvidence.from_json(one) for one in part["evidence"]] for part in table["slices"]]
        weights = [sum(one.distinct_values for one in column) for column in zip(*evidence, strict=True)]
        cuts = cut_evenly(weights, _TASKS_A_SLOT * self.slots)
        return [{"table": _only(table, *cut), "first": cut[0], "last": cut[1]} for cut in cuts], len(weights)

    def _derive(self, id: str, written: Task, chunks: list[Task], table: str) -> list[Task]:
        """All indexes but the tokens: what takes longest and cannot be shared comes first."""
        lent = [
            {"name": name, "file": written["files"][name], **written["parts"][name]}
            for name in (TOKENS.name, records.NAME)
        ]
        about = {"id": id, "lent": lent}
        shared = {name: max(least, self.slots) for name, least in written["shares"].items()}
        whole = [chain for chain in chains(left_out(self.base["frozen"])) if not set(chain) & set(shared)]
        tasks = [
            {**about, "names": chain, "widths": written["widths"], "chunks": chunks}
            for chain in sorted(whole, key=len, reverse=True)
        ]
        tasks += [{**about, "name": name, "share": [n, of]} for name, of in shared.items() for n in range(of)]
        answers = self._job(stages.derive, tasks, f"index {table}")
        found: dict[str, list[str]] = {name: [] for name in shared}
        for task, answer in zip(tasks, answers, strict=True):
            if "share" in answer:
                found[task["name"]].append(answer["share"])
        ending = [{**about, "name": name, "shares": shares} for name, shares in found.items()]
        finished = self._job(stages.finish_shares, ending, f"write shared indexes of {table}")
        return [answer for answer in answers if "parts" in answer] + finished

    def _assemble(self, id: str, written: list[Task]) -> dict[str, Any]:
        """Give the packs their names in the index, and write the description."""
        store = self.writer.store
        staging = self.writer.shared.absolute.removeprefix(f"{store.absolute}/")
        parts: dict[str, Any] = {}
        counts: dict[str, int] = {}
        for answer in written:
            for name, file in answer["files"].items():
                store.copy(f"{staging}/{file}", f"{SEGMENTS}/{id}/{name}{SUFFIX}")
            parts |= answer["parts"]
            counts |= answer["counts"]
        ref, description = describe_segment(id, counts, parts, left_out(self.base["frozen"]))
        store.put_if_absent(f"{SEGMENTS}/{id}/{DESCRIPTION}", description)
        return ref.to_json()

    def _job(self, work: Callable[[Task], Any], tasks: list[Task], description: str) -> list[Any]:
        answers = self.run(work, [{**self.base, **task} for task in tasks], description)
        for answer in answers:
            if {DIED, RAISED} & set(answer):
                raise _TaskFailed(answer)
        return answers
