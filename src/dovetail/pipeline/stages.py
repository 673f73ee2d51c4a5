"""A huge table built by many tasks: what each stage of `divided.py` does inside Spark's workers.

    feed         some columns: normalised, with their entries (column, token, count) split by ranges of hashes, their
                 chunks of rows, and their records
    merge        some ranges of hashes: the entries of all columns become buckets of distinct tokens
    dictionary   all buckets become the tokens pack, with ids by offsets of counts; the records become the catalog
    derive       an index that needs the tokens alone, or a share of one; indexes over rows, from the chunks
    finish       the pack of a shared index, from its shares

A stage takes and gives a small JSON document. Bulk data is staged in the store as Arrow files with typed columns, under
new names: a task that is tried again, on whatever worker, disturbs nobody.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail._storage.pack import SUFFIX, Pack, PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._storage.store import Store, open_store
from dovetail.catalog import records
from dovetail.catalog.profile import TokenCounts
from dovetail.catalog.records import CatalogReader, CatalogWriter
from dovetail.indexes.frozen import left_out
from dovetail.indexes.protocol import Builder, ColumnChunk, Index
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.rows.build import RowsBuilder, Spill
from dovetail.indexes.shares import SharedBuilder, open_share, save_share
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.bucket import Bucket
from dovetail.indexes.tokens.build import TokenBuilder, entries_of
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.tokens.write import write_buckets
from dovetail.pipeline.build import TableSource
from dovetail.pipeline.staging import open_records
from dovetail.pipeline.work import SLICES, Task, slices_of, target_failures

STAGED = "stages"
"""What the stages exchange, in the place that driver and workers share."""
_BY_NAME: Mapping[str, Index] = {index.name: index for index in INDEXES}


@dataclass(frozen=True)
class Fed:
    """Files of one task's columns: spilled entries and chunks in order, and a catalog of the columns' records."""

    entries: list[Path]
    chunks: list[Spill]
    records: Path


def feed_columns(table: TableSource, first: int, folder: Path, memory_bytes: int) -> Fed:
    """Work through some columns of a table, of which they are those from `first` on."""
    tokens, rows, catalog = TokenBuilder(folder, memory_bytes), RowsBuilder(folder, memory_bytes), CatalogWriter()

    def emit(column: int, found: TokenCounts) -> None:
        chunk = ColumnChunk(first + column, found.tokens, found.counts, found.codes)
        tokens.add(chunk)
        rows.add(chunk)

    catalog.add_table(table.record, table.feed(emit))
    path = folder / (records.NAME + SUFFIX)
    with PackWriter(path, records.NAME, records.VERSION, "") as pack:
        catalog.write(pack, [0] * catalog.columns)
    return Fed(tokens.spilled(), rows.spilled(), path)


def join_records(parts: Sequence[CatalogReader]) -> CatalogWriter:
    """The catalog of a table from those of its columns, in order."""
    joined = CatalogWriter()
    joined.add_table(parts[0].table(0), [column for part in parts for column in part.columns_of(0)])
    return joined


@target_failures
def feed(task: Task) -> Any:
    """The stage `feed` over some columns of the table."""
    columns = range(task["first"], task["last"])
    table = slices_of(task["table"], f"{task['shared']}/{SLICES}", columns)
    with _staging(task) as (_, place):
        fed = feed_columns(table, columns.start, place.folder, task["memory_bytes"])
        return {
            "entries": [place.name(path) for path in fed.entries],
            "chunks": [{"file": place.name(spill.path), "columns": spill.columns} for spill in fed.chunks],
            "records": place.name(fed.records),
        }


@target_failures
def merge_ranges(task: Task) -> Any:
    """The stage `merge` over some buckets."""
    with _staging(task) as (store, place):
        spills = [open_records(f"{store.absolute}/{name}") for name in task["entries"]]
        saved = []
        for number in task["buckets"]:
            bucket = Bucket.work_through(entries_of(spills, number), task["columns"])
            saved.append([place.name(path) for path in bucket.save(place.folder)])
        return {"buckets": saved}


@target_failures
def write_dictionary(task: Task) -> Any:
    """The stage `dictionary`."""
    with _staging(task) as (store, place), tempfile.TemporaryDirectory(dir=place.scratch) as fetched:
        files = iter(store.fetch([name for bucket in task["buckets"] for name in bucket], Path(fetched)))
        buckets = [Bucket.open([next(files) for _ in bucket]) for bucket in task["buckets"]]
        parts = [Pack(path, records.NAME, records.VERSION) for path in store.fetch(task["records"], Path(fetched))]
        catalog = join_records([CatalogReader(part) for part in parts])
        writer = SegmentWriter(place.folder, task["id"])
        counts = write_buckets(writer, buckets, catalog.columns, Path(fetched))
        distinct = np.diff(TokenArrays(writer.pack(tokens_format.NAME)).set_offsets)
        writer.write_part(records.NAME, records.VERSION, lambda pack: catalog.write(pack, distinct))
        shares = {
            index.name: builder.least_shares(writer)
            for index in INDEXES
            if index.name not in left_out(task["frozen"])
            and isinstance(builder := _builder(index, task, place.scratch), SharedBuilder)
        }
        about = {"counts": counts | catalog.counts(), "widths": catalog.widths, "shares": shares}
        return _written(writer, place) | about


@target_failures
def derive(task: Task) -> Any:
    """The stage `derive`: a share of one index, or some indexes as a whole."""
    with _staging(task) as (store, place), tempfile.TemporaryDirectory(dir=place.scratch) as fetched:
        writer = _lent_writer(store, place, task)
        if "share" in task:
            builder = _builder(_BY_NAME[task["name"]], task, Path(fetched))
            assert isinstance(builder, SharedBuilder)
            number, of = task["share"]
            path = save_share(place.folder / "share.arrow", builder.share(writer, number, of))
            return {"share": place.name(path)}
        counts: dict[str, int] = {}
        for name in task["names"]:
            builder = _builder(_BY_NAME[name], task, Path(fetched))
            if isinstance(builder, RowsBuilder):
                paths = store.fetch([spill["file"] for spill in task["chunks"]], Path(fetched))
                for path, spill in zip(paths, task["chunks"], strict=True):
                    builder.add_spilled(Spill(path, spill["columns"]))
            counts |= builder.finish(writer, task["widths"])
        return _written(writer, place) | {"counts": counts}


@target_failures
def finish_shares(task: Task) -> Any:
    """The stage `finish`."""
    with _staging(task) as (store, place), tempfile.TemporaryDirectory(dir=place.scratch) as fetched:
        writer = _lent_writer(store, place, task)
        builder = _builder(_BY_NAME[task["name"]], task, Path(fetched))
        assert isinstance(builder, SharedBuilder)
        shares = [open_share(path) for path in store.fetch(task["shares"], Path(fetched))]
        counts = builder.finish_shares(writer, shares)
        return _written(writer, place) | {"counts": counts}


@dataclass(frozen=True)
class _Place:
    """A new folder of this machine whose files are in the store when the task has ended."""

    folder: Path
    published: Path
    scratch: Path

    def name(self, path: Path) -> str:
        """The name of a file in the store."""
        return f"{STAGED}/{path.relative_to(self.published).as_posix()}"


@contextmanager
def _staging(task: Task) -> Iterator[tuple[Store, _Place]]:
    store = open_store(task["shared"])
    scratch = store.scratch("spilled")
    scratch.mkdir(parents=True, exist_ok=True)
    with store.publish(STAGED) as published:
        folder = published / secrets.token_hex(8)
        folder.mkdir(parents=True)
        yield store, _Place(folder, published, scratch)


def _written(writer: SegmentWriter, place: _Place) -> dict[str, Any]:
    """The packs that a task has written, and where they are staged."""
    return {
        "parts": writer.parts,
        "files": {name: place.name(writer.folder / (name + SUFFIX)) for name in writer.parts},
    }


def _lent_writer(store: Store, place: _Place, task: Task) -> SegmentWriter:
    """A writer of the segment that can read its tokens and its catalog."""
    writer = SegmentWriter(place.folder, task["id"])
    for part in task["lent"]:
        writer.lend(_pack(store, part))
    return writer


def _pack(store: Store, part: dict[str, Any]) -> Pack:
    """A pack that another task has staged; fetched once for all tasks of a machine."""
    name, version, checksum = part["name"], part["version"], part["checksum"]

    def is_whole(path: Path) -> bool:
        pack = Pack(path, name, version)
        return pack.is_whole() and f"{pack.checksum:016x}" == checksum

    return Pack(store.local_file(part["file"], is_whole), name, version)


def _builder(index: Index, task: Task, scratch: Path) -> Builder:
    return index.builder(scratch, task["memory_bytes"], task["frozen"].get(index.name, {}))
