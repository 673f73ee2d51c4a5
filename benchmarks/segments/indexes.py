"""Indexes of the same tables in any number of segments, made directly: no Spark, one commit."""

from __future__ import annotations

import functools
import random
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail._storage.directory import SEGMENTS, newest_manifest, open_writer
from dovetail._storage.segment import SegmentRef
from dovetail._storage.store import LocalStore
from dovetail.embedders import DEFAULT
from dovetail.indexes.pexeso.core import VectorParameters
from dovetail.lake.listing import Root, TableFile
from dovetail.pipeline.build import build_segment
from dovetail.pipeline.generation import commit
from dovetail.pipeline.reading import scan
from dovetail.pipeline.roots import list_tables
from dovetail.pipeline.survey import freeze
from dovetail.pipeline.work import merge_group
from dovetail.settings import DEFAULTS, MB

_MOST_BYTES = 2_000_000  # of a table: many tables are wanted, not much text


def some_tables(lake: Path, number: int) -> list[TableFile]:
    """Tables of a lake, drawn the same way each time."""
    with tempfile.TemporaryDirectory() as folder:
        listed = list_tables((Root.of(str(lake)),), LocalStore(Path(folder)))
    files = [file for file in listed.values() if file.bytes < _MOST_BYTES]
    random.Random(1).shuffle(files)
    if len(files) < number:
        raise SystemExit(
            f"{lake} has {len(files):,} tables of less than {_MOST_BYTES / MB:g} MB; {number:,} are needed."
        )
    return files[:number]


@dataclass(frozen=True)
class _Build:
    segments: str
    frozen: dict[str, Any]

    def __call__(self, files: Sequence[TableFile]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            tables = (scan(file, Path(folder, str(n)), DEFAULTS.slice_mb * MB) for n, file in enumerate(files))
            memory = DEFAULTS.memory_mb * MB
            return build_segment(Path(self.segments), Path(folder), tables, memory, self.frozen, lambda: None).to_json()


def index_one_by_one(files: Sequence[TableFile], to: Path) -> None:
    """A segment for each table."""
    frozen = freeze(list(files), DEFAULTS, VectorParameters.chosen(DEFAULT, ()))
    with open_writer(to, create=True) as writer, ProcessPoolExecutor() as pool:
        build = _Build(str(to / SEGMENTS), frozen)
        refs = [SegmentRef.from_json(ref) for ref in pool.map(build, [[file] for file in files], chunksize=16)]
        commit(writer, writer.manifest.next(segments=tuple(refs), frozen=frozen))


def merge_into(index: Path, number: int, to: Path) -> None:
    """The same tables as in an index, in so many segments."""
    manifest = newest_manifest(index)
    names = [ref.id for ref in manifest.segments]
    groups = [names[start::number] for start in range(number)]
    shutil.copytree(index, to)
    with open_writer(to) as writer, ProcessPoolExecutor() as pool:
        common = {
            "index": writer.store.absolute, "shared": writer.shared.absolute,
            "memory_bytes": DEFAULTS.memory_mb * MB, "frozen": manifest.frozen,
        }  # fmt: skip
        merge = functools.partial(_merge, common)
        refs = [SegmentRef.from_json(answer["segment"]) for answer in pool.map(merge, groups)]
        commit(writer, writer.manifest.next(segments=tuple(refs), frozen=manifest.frozen))


def _merge(common: dict[str, Any], group: list[str]) -> dict[str, Any]:
    answer: dict[str, Any] = merge_group(common | {"merge": group, "number": group[0]})
    return answer
