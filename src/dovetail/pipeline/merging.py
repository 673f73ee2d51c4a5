"""Which segments are merged, and when: levels of sizes, as in Lucene's LogMergePolicy, without a largest size.

A level spans sizes up to `factor` times its smallest. Where it has `factor` segments or more, they and all smaller ones
become one, which belongs to a higher level and may fill it in turn. So an index has fewer than `factor` segments on
each of its levels, O(log n) in all, and a table is rewritten at most once a level. A merge reads every segment once,
however many levels it passes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from dovetail._storage.directory import IndexWriter
from dovetail._storage.segment import Segment, SegmentRef
from dovetail.indexes.statistics import known_values, totals_of
from dovetail.pipeline.generation import commit
from dovetail.pipeline.jobs import SparkBuild

TABLE_BYTES = 20_000
"""What a table costs however small it is, as bytes of raw tables: the same as when it is read."""

Group = list[str]


def sizes_of(segments: Iterable[Segment]) -> dict[str, int]:
    """The live bytes of each segment, by id."""
    sizes = {}
    for segment in segments:
        totals = segment.ref.totals or totals_of(segment)
        alive = segment.ref.tables - len(segment.ref.dead)
        sizes[segment.ref.id] = totals["bytes"] + alive * TABLE_BYTES
    return sizes


def plan_merges(sizes: Mapping[str, int], factor: int, ceiling: int | None = None, floor: int = 1) -> list[Group]:
    """Groups of segments to merge, so that no level has `factor` segments; those from `ceiling` on are left alone.

    Segments below `floor` count as that large: they are of one level, however small they are.
    """
    levels: dict[int, list[tuple[int, Group]]] = {}
    for name, size in sizes.items():
        if ceiling is None or size < ceiling:
            levels.setdefault(_level(max(size, floor), factor), []).append((size, [name]))
    merged = []
    level = min(levels, default=0)
    while level <= max(levels, default=-1):
        if len(levels.get(level, [])) >= factor:
            found = [each for lower in sorted(levels) if lower <= level for each in levels.pop(lower)]
            size = sum(each for each, _ in found)
            group = [name for _, names in found for name in names]
            if ceiling is None or size < ceiling:
                levels.setdefault(_level(max(size, floor), factor), []).append((size, group))
            else:
                merged.append(group)
        level += 1
    return merged + [group for found in levels.values() for _, group in found if len(group) > 1]


def split_merge(group: Group, sizes: Mapping[str, int], least_bytes: int, tasks: int) -> list[Group]:
    """A large merge as several that run at the same time: at most `tasks`, of at least about `least_bytes` each."""
    number = min(tasks, sum(sizes[name] for name in group) // least_bytes)
    if number < 2:
        return [group]
    if number >= len(group):
        return []  # as many segments as before
    parts: list[Group] = [[] for _ in range(number)]
    lightest = [(0, place) for place in range(number)]
    for name in sorted(group, key=lambda name: (-sizes[name], name)):
        size, place = lightest[0]
        parts[place].append(name)
        heapq.heapreplace(lightest, (size + sizes[name], place))
    return [part for part in parts if len(part) > 1]


def run_merges(writer: IndexWriter, build: SparkBuild, groups: list[Group], tasks: int) -> None:
    """Merge each group into one segment, `tasks` at the same time, and commit those: what is merged stays merged."""
    for start in range(0, len(groups), tasks):
        wave = groups[start : start + tasks]
        refs = build.merge(wave)
        merged = {name for group in wave for name in group}
        kept = tuple(ref for ref in writer.manifest.segments if ref.id not in merged)
        commit(writer, writer.manifest.next(segments=(*kept, *refs)), known_values(writer.manifest))


def tables_of(refs: Iterable[SegmentRef], groups: list[Group]) -> int:
    """How many tables the merges copy."""
    merged = {name for group in groups for name in group}
    return sum(ref.tables - len(ref.dead) for ref in refs if ref.id in merged)


def _level(size: int, factor: int) -> int:
    level, bound = 0, factor
    while size >= bound:
        level, bound = level + 1, bound * factor
    return level
