"""What a run has to do: which tables are new, changed or gone, and how the reading is parted into tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dovetail._storage.directory import Snapshot
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.lake.formats import format_of
from dovetail.lake.listing import TableFile

# How many times its size on disk a compressed file has when read, about.
_EXPANSION = {"": 1, "gz": 5, "zst": 5}
# Below this much of raw tables one segment is made, whatever the number of cores.
_SMALL_BYTES = 16_000_000


@dataclass(frozen=True)
class Place:
    """Where an indexed table is."""

    segment: str
    number: int
    fingerprint: str


@dataclass
class Plan:
    """The difference between the lake and the index."""

    new: list[TableFile] = field(default_factory=list)
    changed: list[TableFile] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0

    @property
    def to_read(self) -> list[TableFile]:
        return self.new + self.changed


def live_tables(snapshot: Snapshot) -> dict[str, Place]:
    """Every table of the index that is not dead, by its id."""
    places = {}
    for segment in snapshot.segments:
        tables = CatalogReader(segment.pack(records.NAME)).tables
        dead = set(segment.ref.dead)
        names, marks = tables["table"].to_pylist(), tables["fingerprint"].to_pylist()
        for number, (name, mark) in enumerate(zip(names, marks, strict=True)):
            if number not in dead:
                places[name] = Place(segment.ref.id, number, mark)
    return places


def compare(files: dict[str, TableFile], indexed: dict[str, Place]) -> Plan:
    plan = Plan()
    for table, file in files.items():
        if table not in indexed:
            plan.new.append(file)
        elif indexed[table].fingerprint != file.fingerprint:
            plan.changed.append(file)
        else:
            plan.unchanged += 1
    plan.gone = [table for table in indexed if table not in files]
    return plan


def read_bytes(file: TableFile) -> int:
    """About how many bytes reading a file means."""
    found = format_of(file.path)
    return file.bytes * _EXPANSION[found[1] if found else ""]


def group(files: Sequence[TableFile], target_bytes: int, big_bytes: int, workers: int) -> list[list[TableFile]]:
    """Part files into groups of about `target_bytes`, each to become one segment; big files stand alone.

    The largest files are dealt out first, each to the lightest group, so that tasks take about the same time. Groups
    with big files come last: their slices keep all cores busy anyway.
    """
    big = [[file] for file in files if read_bytes(file) > big_bytes]
    small = sorted((f for f in files if read_bytes(f) <= big_bytes), key=lambda f: (-read_bytes(f), f.table))
    total = sum(map(read_bytes, small))
    number = max(-(-total // target_bytes), min(workers, -(-total // _SMALL_BYTES)))
    groups: list[list[TableFile]] = [[] for _ in range(min(number, len(small)))] or ([[]] if small else [])
    weights = [0] * len(groups)
    for file in small:
        lightest = weights.index(min(weights))
        groups[lightest].append(file)
        # Every file costs something, however small: opening, settling, counting its columns.
        weights[lightest] += read_bytes(file) + 20_000
    for members in groups:
        members.sort(key=lambda file: file.table)
    return [members for members in groups if members] + big


def without(manifest: Manifest, dead: Iterable[Place]) -> tuple[SegmentRef, ...]:
    """The manifest's segments with these tables marked dead; a segment with nothing alive is dropped."""
    by_segment: dict[str, set[int]] = {}
    for place in dead:
        by_segment.setdefault(place.segment, set()).add(place.number)
    refs = []
    for ref in manifest.segments:
        numbers = tuple(sorted(set(ref.dead) | by_segment.get(ref.id, set())))
        if len(numbers) < ref.tables:
            refs.append(SegmentRef(ref.id, ref.checksum, ref.tables, numbers))
    return tuple(refs)
