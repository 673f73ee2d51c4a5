"""Builds the tokens pack of a segment in bounded memory.

Entries (column, token, count) that exceed the memory are set aside in spills on disk, each split by the leading bits of
the tokens' hashes into buckets; equal tokens share a bucket, and each bucket is then processed in memory. A segment
that fits into memory is the case of one bucket.

Where several tasks build a segment, some spill the entries of their columns, some process their buckets, and one writes
the pack: the same functions, with files in between.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import SegmentWriter
from dovetail._storage.spill import Records, write_records
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.bucket import Bucket
from dovetail.indexes.tokens.write import write_buckets
from dovetail.normalise.hashing import hash_tokens

_BUCKET_BITS = 6
BUCKETS = 1 << _BUCKET_BITS
_ENTRY_BYTES = 40  # approximate memory of an entry, without the bytes of its token
ENTRY = pa.schema([("token", pa.large_string()), ("column", pa.uint32()), ("count", pa.int64())])
_ENTRY_TYPES = dict(zip(ENTRY.names, ENTRY.types, strict=True))


class TokenBuilder:
    """Collects chunks, spilling them to disk when they outgrow the memory."""

    def __init__(
        self, scratch: Path, memory_bytes: int, part: tuple[str, int] = (tokens_format.NAME, tokens_format.VERSION)
    ) -> None:
        """`part` is the name and version of the pack."""
        self._scratch = scratch
        self._memory_bytes = memory_bytes
        self._part = part
        self._chunks: list[ColumnChunk] = []
        self._held = 0
        self._spills: list[Path] = []

    def add(self, chunk: ColumnChunk) -> None:
        if not len(chunk.tokens):
            return
        self._chunks.append(chunk)
        self._held += chunk.tokens.nbytes + _ENTRY_BYTES * len(chunk.tokens)
        if self._held > self._memory_bytes:
            self._spill()

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        columns = sum(widths)
        if not self._spills:
            bucket = Bucket.work_through(self._take_entries(), columns)
            return write_buckets(writer, [bucket], columns, self._scratch, self._part)
        spills = [Records(path) for path in self.spilled()]
        buckets = []
        for number in range(BUCKETS):
            bucket = Bucket.work_through(entries_of(spills, number), columns)
            buckets.append(Bucket.open(bucket.save(self._scratch)))  # all of them may not fit into memory together
        return write_buckets(writer, buckets, columns, self._scratch, self._part)

    def spilled(self) -> list[Path]:
        """Files with all entries in order, a record for each bucket."""
        if self._chunks:
            self._spill()
        return self._spills

    def _take_entries(self) -> pa.Table:
        chunks, self._chunks, self._held = self._chunks, [], 0
        return pa.table(
            [
                pa.chunked_array([chunk.tokens for chunk in chunks], pa.large_string()),
                pa.array(
                    np.repeat([chunk.column for chunk in chunks], [len(p.tokens) for p in chunks]),
                    pa.uint32(),
                ),
                pa.chunked_array([pa.array(chunk.counts, pa.int64()) for chunk in chunks], pa.int64()),
            ],
            schema=ENTRY,
        )

    def _spill(self) -> None:
        path = self._scratch / f"spill-{len(self._spills)}.arrow"
        write_records(path, _ENTRY_TYPES, (part.columns for part in split_entries(self._take_entries())))
        self._spills.append(path)


def split_entries(entries: pa.Table) -> Iterator[pa.RecordBatch]:
    """The entries of each bucket, in their order."""
    (batch,) = entries.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], ENTRY)]
    bucket_of = (hash_tokens(batch["token"]) >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint8)
    order = np.argsort(bucket_of, kind="stable")
    bounds = np.searchsorted(bucket_of[order], np.arange(BUCKETS + 1))
    for first, last in itertools.pairwise(bounds.tolist()):
        yield batch.take(pa.array(order[first:last]))


def entries_of(spills: Sequence[Records], bucket: int) -> pa.Table:
    """The entries of one bucket, of all spills. They have to be in the order of their columns, and so do the spills."""
    return pa.Table.from_batches([pa.RecordBatch.from_arrays(spill[bucket], schema=ENTRY) for spill in spills], ENTRY)
