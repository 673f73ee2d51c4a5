"""Finds any flipped byte and any broken cross-reference of an index."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dovetail._storage.cache import FileCache
from dovetail._storage.directory import open_snapshot
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import Segment, SegmentRef
from dovetail._storage.store import Address, ObjectStore, Store, open_store
from dovetail.catalog import records
from dovetail.catalog.decisions import read_decisions
from dovetail.catalog.records import CatalogReader
from dovetail.errors import FormatMismatch, IndexDamaged
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.statistics import distinct_values, known_values, statistics_of, totals_of
from dovetail.indexes.tokens.query import TokenReader

_KEPT_BYTES = 1_000_000_000  # of what is fetched: enough for the packs of a segment, which are checked together


@dataclass(frozen=True)
class Verification:
    """What was looked at, and every problem as a sentence. No problem: the index is whole."""

    generation: int
    segments: int
    tables: int
    bytes: int
    problems: tuple[str, ...]


def verify_index(path: Address) -> Verification:
    """Read every byte. Goes on after a broken segment, so that all damage is named at once."""
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        store = open_store(path)
        if isinstance(store, ObjectStore):  # what was fetched before says nothing about the store
            store = ObjectStore(store.address, FileCache(Path(folder), _KEPT_BYTES))
        return _verify(store)


def _verify(store: Store) -> Verification:
    try:
        snapshot = open_snapshot(store)
    except IndexDamaged as damage:
        return Verification(0, 0, 0, 0, (str(damage),))
    manifest = snapshot.manifest
    problems: list[str] = []
    names: Counter[str] = Counter()
    segments = []
    for segment in snapshot.segments:
        try:
            problems += _problems_of(segment, names)
            segments.append(segment)
        except (IndexDamaged, FormatMismatch) as damage:
            problems.append(str(damage))
    problems += [f"table {name} is alive {count} times" for name, count in sorted(names.items()) if count > 1]
    if not problems:
        problems += _wrong_statistics(manifest, segments)
    problems += _damaged_decisions(store)
    size = sum(part["bytes"] for segment in segments for part in segment.parts.values())
    return Verification(manifest.generation, len(manifest.segments), len(names), size, tuple(problems))


def _problems_of(segment: Segment, names: Counter[str]) -> Iterator[str]:
    damage = segment.damage()
    yield from damage
    if damage:
        return  # references of damaged bytes would only be noise
    for index in INDEXES:
        if index.name not in segment.without:
            yield from index.check(segment)
    catalog = CatalogReader(segment.pack(records.NAME))
    yield from (f"{segment.ref.id}/catalog: {problem}" for problem in _catalog_problems(catalog, segment))
    dead = set(segment.ref.dead)
    names.update(n for i, n in enumerate(catalog.tables["table"].to_pylist()) if i not in dead)


def _catalog_problems(catalog: CatalogReader, segment: Segment) -> Iterator[str]:
    ref: SegmentRef = segment.ref
    tables, columns = catalog.tables, catalog.columns
    if tables.num_rows != ref.tables or any(number >= ref.tables for number in ref.dead):
        yield "the manifest speaks of other tables"
    counts = tables["columns"].to_numpy()
    if not np.array_equal(tables["first_column"].to_numpy(), np.cumsum(counts) - counts):
        yield "its tables do not follow each other"
    if not np.array_equal(columns["table"].to_numpy(), np.repeat(np.arange(len(counts)), counts)):
        yield "its columns do not belong to its tables"
    sets = TokenReader(segment)
    if not np.array_equal(columns["distinct"].to_numpy(), sets.set_sizes()):
        yield "its distinct counts are not the sizes of the sets"
    if not np.array_equal(columns["rows"].to_numpy() - columns["nulls"].to_numpy(), sets.rows()):
        yield "its rows are not those that the sets count"


def _damaged_decisions(path: Store) -> Iterator[str]:
    try:
        read_decisions(path)
    except (IndexDamaged, FormatMismatch) as damage:
        yield str(damage)


def _wrong_statistics(manifest: Manifest, segments: list[Segment]) -> Iterator[str]:
    counted = statistics_of(map(totals_of, segments)) if manifest.statistics else {}
    if known_values(manifest):
        counted |= distinct_values(segments).statistics
    for name, number in counted.items():
        if manifest.statistics.get(name) != number:
            yield f"the manifest states {manifest.statistics.get(name)} {name}, the segments hold {number}"
