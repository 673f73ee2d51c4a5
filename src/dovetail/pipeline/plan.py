"""What a run has to do: which tables are new, changed or gone, and which files each task reads."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dovetail.lake.column_rules import is_hidden_as_asked
from dovetail.lake.formats import format_of
from dovetail.lake.listing import TableFile
from dovetail.pipeline.generation import TablePlace

# How many times its size on disk a compressed file has when read, about.
_EXPANSION = {"": 1, "gz": 5, "zst": 5}
# Below this much of raw tables one segment is made, whatever the number of cores.
_SMALL_BYTES = 16_000_000
# What a file costs however small it is (opening it, detecting its dialect, counting its columns), as bytes to read.
_FILE_COST_BYTES = 20_000
# At least so many groups are built between two commits, so that counting and committing stay cheap beside building.
_GROUPS_A_BATCH = 8
# Of an index and what building it sets aside, at most about: bytes in any case, and for a byte that is read.
_DISK_BYTES = 100_000
_DISK_SHARE = 4.5


# Groups that are built at the same time and committed together.
Batch = list[list[TableFile]]


@dataclass
class Changes:
    """The difference between the lake and the index."""

    new: list[TableFile] = field(default_factory=list)
    changed: list[TableFile] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0

    @property
    def to_read(self) -> list[TableFile]:
        return self.new + self.changed


def compare(files: Mapping[str, TableFile], indexed: Mapping[str, TablePlace]) -> Changes:
    changes = Changes()
    for table, file in files.items():
        if table not in indexed:
            changes.new.append(file)
        elif indexed[table].fingerprint != file.fingerprint or not is_hidden_as_asked(indexed[table].layout, file):
            changes.changed.append(file)
        else:
            changes.unchanged += 1
    changes.gone = [table for table in indexed if table not in files]
    return changes


def read_bytes(file: TableFile) -> int:
    """About how many bytes reading a file means."""
    found = format_of(file.path)
    return file.bytes * _EXPANSION[found[1] if found else ""]


def disk_bytes(files: Iterable[TableFile]) -> int:
    """How many bytes of disk indexing these files takes, at most about."""
    return _DISK_BYTES + int(sum(map(read_bytes, files)) * _DISK_SHARE)


def group_files(files: Sequence[TableFile], target_bytes: int, big_bytes: int, workers: int) -> list[list[TableFile]]:
    """Split files into groups of about `target_bytes`, each to become one segment; a big file has a group of its own.

    The largest files are dealt out first, each to the lightest group, so that tasks take about the same time. Groups
    with big files come last: their slices keep all cores busy anyway.
    """
    big: list[list[TableFile]] = []
    small: list[tuple[int, str, TableFile]] = []
    for file in files:
        size = read_bytes(file)
        if size > big_bytes:
            big.append([file])
        else:
            small.append((-size, file.table, file))
    small.sort()  # ids are unique, so that files themselves are never compared
    total = -sum(size for size, _, _ in small)
    number = max(-(-total // target_bytes), min(workers, -(-total // _SMALL_BYTES)))
    groups: list[list[TableFile]] = [[] for _ in range(min(number, len(small)))] or ([[]] if small else [])
    lightest = [(0, place) for place in range(len(groups))]  # a heap: weights of the groups, and their places
    for size, _, file in small:
        weight, place = lightest[0]
        groups[place].append(file)
        heapq.heapreplace(lightest, (weight - size + _FILE_COST_BYTES, place))
    for members in groups:
        members.sort(key=lambda file: file.table)
    return [members for members in groups if members] + big


def batch_groups(groups: list[list[TableFile]], workers: int) -> list[Batch]:
    size = max(_GROUPS_A_BATCH, 2 * workers)
    return [groups[start : start + size] for start in range(0, len(groups), size)]
