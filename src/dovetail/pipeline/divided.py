"""Builds one segment by many tasks: a huge table, or a large merge, that one task would keep the others waiting for.

Its stages are those of `stages.py`, a Spark job each, one after another:

    feed ──► merge ──► dictionary ──► derive ──► finish

Between two of them lie files in the store and not a shuffle of Spark's, which costs the same: a worker that is lost
after its task has ended takes nothing with it. What a stage has used up is removed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail._storage.directory import SEGMENTS, IndexWriter
from dovetail._storage.pack import SUFFIX
from dovetail._storage.segment import DESCRIPTION, describe_segment, new_segment_id
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.tokens.build import BUCKETS
from dovetail.indexes.tokens.index import TOKENS
from dovetail.lake.layout import Layout
from dovetail.normalise import TypeEvidence
from dovetail.pipeline import stages
from dovetail.pipeline.report import Ticks
from dovetail.pipeline.tasks import DIED, RAISED
from dovetail.pipeline.work import SLICES, Task, tables_to_merge

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


def chains() -> list[list[str]]:
    """Indexes that can be built apart once the tokens are written; those that need another of them come after it."""
    found: list[list[str]] = []
    for index in INDEXES:
        if index.name == TOKENS.name:
            continue
        needed = [chain for chain in found if set(chain) & set(index.needs)]
        found = [chain for chain in found if chain not in needed]
        found.append([*itertools.chain.from_iterable(needed), index.name])
    return found


def _only(entry: Task, first: int, last: int) -> Task:
    """A staged table with what is known of some of its columns: of all, a table of many columns has megabytes."""
    slices = [
        {**part, "evidence": [one if first <= n < last else None for n, one in enumerate(part["evidence"])]}
        for part in entry["slices"]
    ]
    return {**entry, "slices": slices}


class _TaskFailed(Exception):
    """A task of a stage has no result; holds its answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


@dataclass
class DividedBuild:
    """Builds segments one after another, each by all slots."""

    writer: IndexWriter
    run: RunJob
    slots: int
    base: Task
    """What all tasks are told: where index and staging are, memory, and what is frozen."""

    def table(self, entry: Task) -> Any:
        """The answer of a task that had built the segment of one staged table alone."""
        layout = Layout.from_json(entry["layout"])
        evidence = [[TypeEvidence.from_json(one) for one in part["evidence"]] for part in entry["slices"]]
        weights = [sum(one.distinct_values for one in column) for column in zip(*evidence, strict=True)]
        cuts = cut_evenly(weights, _TASKS_A_SLOT * self.slots)
        tasks = [{"entry": _only(entry, *cut), "first": cut[0], "last": cut[1]} for cut in cuts]
        used = [f"{SLICES}/{part['name']}" for part in entry["slices"]]
        answer = self._build(stages.feed_big, tasks, len(layout.columns), entry["file"]["table"], used)
        Ticks(self.writer.shared, self.base["number"])()
        return answer

    def merge(self, names: list[str]) -> Any:
        """The same of a merge of segments."""
        segments = {segment.ref.id: segment for segment in self.writer.snapshot().segments}
        catalogs = {name: CatalogReader(segments[name].pack(records.NAME)).tables for name in names}
        tables = tables_to_merge(self.base["index"], names)
        sizes, widths = (
            [int(columns[name][number]) for name, number in tables]
            for columns in ({n: t[what].to_numpy() for n, t in catalogs.items()} for what in ("bytes", "columns"))
        )
        firsts = [0, *np.cumsum(widths).tolist()]
        cuts = cut_evenly(sizes, _TASKS_A_SLOT * self.slots)
        tasks = [{"merge": names, "start": start, "stop": stop, "first": firsts[start]} for start, stop in cuts]
        return self._build(stages.feed_merged, tasks, firsts[-1], f"{len(names)} segments", [])

    def _build(self, feed: Callable[[Task], Any], tasks: list[Task], columns: int, what: str, used: list[str]) -> Any:
        try:
            return {"segment": self._stages(feed, tasks, columns, what, used)}
        except _TaskFailed as failure:
            return failure.answer

    def _stages(
        self, feed: Callable[[Task], Any], tasks: list[Task], columns: int, what: str, used: list[str]
    ) -> dict[str, Any]:
        id = new_segment_id()
        fed = self._job(feed, tasks, f"normalise columns of {what}")
        self.writer.shared.delete(used)
        entries = [name for each in fed for name in each["entries"]]
        ranges = [range(*cut) for cut in cut_evenly([1] * BUCKETS, _TASKS_A_SLOT * self.slots)]
        merging = [{"entries": entries, "buckets": list(some), "columns": columns} for some in ranges]
        merged = self._job(stages.merge_ranges, merging, f"merge values of {what}")
        self.writer.shared.delete(entries)
        buckets = [bucket for each in merged for bucket in each["buckets"]]
        writing = {"id": id, "buckets": buckets, "catalogs": [each["catalog"] for each in fed]}
        (written,) = self._job(stages.write_dictionary, [writing], f"number values of {what}")
        self.writer.shared.delete(name for bucket in buckets for name in bucket)
        chunks = [spill for each in fed for spill in each["chunks"]]
        derived = self._derive(id, written, chunks, what)
        return self._assemble(id, [written, *derived])

    def _derive(self, id: str, written: Task, chunks: list[Task], what: str) -> list[Task]:
        """All indexes but the tokens: what takes longest and cannot be shared comes first."""
        tokens = {"name": TOKENS.name, "file": written["files"][TOKENS.name], **written["parts"][TOKENS.name]}
        about = {"id": id, "tokens": tokens}
        shared = {name: max(least, self.slots) for name, least in written["shares"].items()}
        whole = [chain for chain in chains() if not set(chain) & set(shared)]
        tasks = [
            {**about, "names": chain, "widths": written["widths"], "chunks": chunks}
            for chain in sorted(whole, key=len, reverse=True)
        ]
        tasks += [{**about, "name": name, "share": [n, of]} for name, of in shared.items() for n in range(of)]
        answers = self._job(stages.derive, tasks, f"index {what}")
        found: dict[str, list[str]] = {name: [] for name in shared}
        for task, answer in zip(tasks, answers, strict=True):
            if "share" in answer:
                found[task["name"]].append(answer["share"])
        ending = [{**about, "name": name, "shares": shares} for name, shares in found.items()]
        finished = self._job(stages.finish_shares, ending, f"write shared indexes of {what}")
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
        ref, description = describe_segment(id, counts, parts)
        store.put_if_absent(f"{SEGMENTS}/{id}/{DESCRIPTION}", description)
        return ref.to_json()

    def _job(self, work: Callable[[Task], Any], tasks: list[Task], description: str) -> list[Any]:
        answers = self.run(work, [{**self.base, **task} for task in tasks], description)
        for answer in answers:
            if {DIED, RAISED} & set(answer):
                raise _TaskFailed(answer)
        return answers
