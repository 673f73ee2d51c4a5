"""A question about the whole lake on Spark: tasks that share a folder, and the values of all segments, merged by them.

A task for each range of token hashes merges the ranges of all segments' dictionaries, which are sorted by hash, and
leaves the groups of its tokens: which columns hold them, and how many they are. The driver joins the groups and makes
the lake's value sets of them; further tasks take a range of sets each. So work grows with the posting lists, not with
pairs of segments.

What tasks leave goes through a folder beside the index, so that a lost worker costs its tasks only. The generation is
held meanwhile, and no writer's lock is taken: writers go on.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from dovetail._progress import Progress, silent
from dovetail._storage.directory import Snapshot, open_segment
from dovetail._storage.segment import SegmentRef
from dovetail._storage.store import Store, open_store
from dovetail._types import Array
from dovetail.errors import BuildFailed
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import InclusionFilters, InclusionFinder, InclusionQuery, eligible
from dovetail.graph.shared_arrays import get_arrays, put_arrays, shared_folder
from dovetail.graph.value_sets import Dictionaries, TokenGroups, ValueSets, hash_ranges, join_groups, value_sets
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.tokens.query import TokenReader

if TYPE_CHECKING:
    from dovetail._spark.engine import SparkEngine
    from dovetail._spark.session import SparkRequest
    from dovetail.pipeline.probe import Witness

Task = dict[str, Any]

_TASKS = 4  # for each core, so that none waits long for the last one
_TOKENS_A_TASK = 1 << 22  # bounds the memory of a task that merges values: some 100 bytes a token
_SEGMENTS = "segments.json"
_COLUMNS, _TABLES, _OFFSETS = "columns.arrow", "tables.arrow", "columns.npz"


@contextlib.contextmanager
def spark_question(
    snapshot: Snapshot, columns: LakeColumns, spark: SparkRequest, progress: Progress = silent
) -> Iterator[SparkQuestion]:
    """Ask on Spark about the columns of a snapshot, which has a segment at least."""
    from dovetail._spark.session import spark_session
    from dovetail.pipeline import probe

    with shared_folder(snapshot.store) as folder, spark_session(spark) as engine:
        witnesses = [probe.witness_of_store(folder)]
        slots = probe.check_workers(engine, witnesses)
        put_columns(folder, columns)
        folder.put(_SEGMENTS, json.dumps([ref.to_json() for ref in snapshot.manifest.segments]).encode())
        yield SparkQuestion(snapshot, columns, folder, engine, witnesses, _TASKS * slots, progress)


def put_columns(folder: Store, columns: LakeColumns) -> None:
    """Write what workers need of the columns."""
    catalog, tables, offsets = columns.parts
    for name, table in ((_COLUMNS, catalog), (_TABLES, tables)):
        content = pa.BufferOutputStream()
        with pa.ipc.new_file(content, table.schema) as file:
            file.write_table(table)
        folder.put(name, content.getvalue().to_pybytes())
    put_arrays(folder, _OFFSETS, offsets)


class SparkQuestion:
    """Runs tasks that share a folder. `tasks` is how many a job should have."""

    def __init__(
        self,
        snapshot: Snapshot,
        columns: LakeColumns,
        folder: Store,
        engine: SparkEngine,
        witnesses: list[Witness],
        tasks: int,
        progress: Progress,
    ) -> None:
        self.columns, self.folder, self.tasks = columns, folder, tasks
        self._snapshot, self._engine, self._witnesses, self._progress = snapshot, engine, witnesses, progress

    def run(self, work: Callable[[Task], Any], tasks: Sequence[Task], description: str) -> list[Any]:
        """The answers of the tasks, which are given what `columns_of` needs. Raises where one has none."""
        from dovetail._spark.engine import watch_tasks
        from dovetail.pipeline.tasks import run_tasks

        if not tasks:
            return []
        place = self.folder.sub(work.__name__)
        common = {"folder": self.folder.absolute, "index": self._snapshot.store.absolute}
        described = [common | task | {"number": number} for number, task in enumerate(tasks)]
        with watch_tasks(self._engine, description, self._progress):
            answers = run_tasks(self._engine, place, work, described, description, self._witnesses)
        for answer in answers:
            if isinstance(answer, dict):
                raise BuildFailed(f"Spark cannot {description}: {json.dumps(answer)}.")
        return answers

    def arrays(
        self, work: Callable[[Task], Mapping[str, Array]], tasks: Sequence[Task], description: str
    ) -> list[dict[str, Array]]:
        """The arrays that tasks return: they go through the folder."""
        names = self.run(Kept(work), tasks, description)
        return [get_arrays(self.folder, name) for name in names]

    def merge_values(self, query: InclusionQuery) -> TokenGroups:
        """The groups of the tokens of the columns that a query is about."""
        segments = self._snapshot.segments
        tokens = sum(segment.counts["values"] for segment in segments)
        asked = query_to_json(query)
        ranges = hash_ranges(tokens, _TOKENS_A_TASK, least=self.tasks // _TASKS)
        tasks = [{"query": asked, "low": low, "high": high} for low, high in ranges]
        parts = self.arrays(group_tokens, tasks, f"merge {tokens:,} values of {len(segments):,} segment(s)")
        return join_groups([TokenGroups(**part) for part in parts], len(self.columns))

    def set_tasks(
        self, name: str, query: InclusionQuery, groups: TokenGroups, referable: Array | None = None
    ) -> list[Task]:
        """Leave the value sets of a query under a name; returns a task for each range of them, for `finder_of`.

        `referable` marks the only columns that may be referenced, whether they repeat values or not.
        """
        wanted, can_be = eligible(self.columns, query)
        can_be = can_be if referable is None else wanted & referable
        sets = value_sets(self.columns, wanted, can_be, query.null_is_a_value, groups=groups)
        put_arrays(self.folder, _sets_file(name), _arrays_of(sets))
        asked = query_to_json(query)
        ranges = set_ranges(sets, self.tasks)
        return [{"sets": name, "query": asked, "first": first, "last": last} for first, last in ranges]


class Kept:
    """Work whose arrays are kept in the folder; its answer is their name."""

    def __init__(self, work: Callable[[Task], Mapping[str, Array]]) -> None:
        self.__name__, self._work = work.__name__, work

    def __call__(self, task: Task) -> str:
        name = f"{self.__name__}-{task['number']}.npz"
        put_arrays(open_store(task["folder"]), name, self._work(task))
        return name


def group_tokens(task: Task) -> dict[str, Array]:
    """Group the tokens of one range of hashes over all segments."""
    columns = columns_of(task)
    wanted, _ = eligible(columns, query_from_json(task["query"]))
    readers = [TokenReader(segment.segment) for segment in columns.segments]
    return _arrays_of(Dictionaries(readers, columns.offsets[:-1]).groups_between(task["low"], task["high"], wanted))


def columns_of(task: Task) -> LakeColumns:
    """Inside a worker: the lake's columns, with segments that are opened when they are first asked for."""
    folder = open_store(task["folder"])
    segments = _Segments(task["index"], json.loads(folder.read(_SEGMENTS)))
    paths = (folder.local_file(name, lambda _: True) for name in (_COLUMNS, _TABLES))
    catalog, tables = (pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in paths)
    return LakeColumns.of_parts(segments, catalog, tables, get_arrays(folder, _OFFSETS))


def finder_of(task: Task, columns: LakeColumns) -> InclusionFinder:
    """Inside a worker: finds the dependencies of the sets that `put_sets` left under the name in the task."""
    sets = ValueSets(**get_arrays(open_store(task["folder"]), _sets_file(task["sets"])))
    return InclusionFinder(columns, query_from_json(task["query"]), sets=sets)


class _Segments(Sequence[OpenSegment]):
    """The segments of a generation, each opened once, when it is asked for."""

    def __init__(self, index: str, refs: Sequence[dict[str, Any]]) -> None:
        self._index, self._refs = index, refs
        self._opened: dict[int, OpenSegment] = {}

    def __len__(self) -> int:
        return len(self._refs)

    @overload
    def __getitem__(self, place: int) -> OpenSegment: ...
    @overload
    def __getitem__(self, place: slice) -> list[OpenSegment]: ...
    def __getitem__(self, place: int | slice) -> OpenSegment | list[OpenSegment]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if place not in self._opened:
            ref = SegmentRef.from_json(self._refs[place])
            self._opened[place] = OpenSegment(open_segment(self._index, ref))
        return self._opened[place]


def set_ranges(sets: ValueSets, tasks: int) -> list[tuple[int, int]]:
    """The sets in ranges with about the same number of groups."""
    return even_ranges(sets.group_offsets, tasks)


def even_ranges(costs: Array, tasks: int) -> list[tuple[int, int]]:
    """Ranges of places with about the same cost each; `costs` are running sums, one more than there are places."""
    cuts = np.searchsorted(costs, np.linspace(0, costs[-1], tasks + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [len(costs) - 1]])).tolist()
    return list(itertools.pairwise(bounds))


def _sets_file(name: str) -> str:
    return f"sets-{name}.npz"


def _arrays_of(found: TokenGroups | ValueSets) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(found)}


def query_to_json(query: InclusionQuery) -> dict[str, Any]:
    filters = asdict(query.filters) | {"coverage": str(query.filters.coverage)}
    return asdict(query) | {"filters": filters, "containment": str(query.containment)}


def query_from_json(values: dict[str, Any]) -> InclusionQuery:
    filters = InclusionFilters(**values["filters"] | {"coverage": Fraction(values["filters"]["coverage"])})
    return InclusionQuery(**values | {"filters": filters, "containment": Fraction(values["containment"])})
