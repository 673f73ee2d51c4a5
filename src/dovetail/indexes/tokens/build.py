"""Builds the tokens pack of a segment in bounded memory.

Entries (column, token, count) that exceed the memory are parted by the leading bits of the token's hash into buckets on
disk; equal tokens meet in one bucket, and each bucket is then worked through in memory. Ids rise with (frequency,
hash), so the tokens of one bucket with one frequency are one run of consecutive ids: a bucket is written run by run.
A segment that fits into memory is the case of one bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.segment import SegmentWriter
from dovetail.indexes.protocol import Piece
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.core import as_buffers, hash_tokens
from dovetail.indexes.tokens.format import TokenPackWriter, running_sum
from dovetail.indexes.tokens.kernels import gather_strings, merge_repeats, order_by_frequency, transpose

Array = npt.NDArray[Any]

_BUCKET_BITS = 6
_ENTRY_BYTES = 40  # what an entry costs in memory beside the bytes of its token, about
_SPILL = pa.schema([("token", pa.large_string()), ("column", pa.uint32()), ("count", pa.int64())])


class TokenBuilder:
    """Collects pieces, spilling them to buckets on disk when they outgrow the memory."""

    def __init__(self, scratch: Path, memory_bytes: int) -> None:
        self._scratch = scratch
        self._memory_bytes = memory_bytes
        self._pieces: list[Piece] = []
        self._held = 0
        self._buckets: list[pa.RecordBatchStreamWriter] = []

    def add(self, piece: Piece) -> None:
        if not len(piece.tokens):
            return
        self._pieces.append(piece)
        self._held += piece.tokens.nbytes + _ENTRY_BYTES * len(piece.tokens)
        if self._held > self._memory_bytes:
            self._spill()

    def finish(self, writer: SegmentWriter, columns: int) -> dict[str, int]:
        if self._buckets:
            self._spill()
            for bucket in self._buckets:
                bucket.close()
            paths = [self._bucket_path(number) for number in range(1 << _BUCKET_BITS)]
            buckets = [_Bucket.work_through(_read_bucket(path), columns).to_disk(path) for path in paths]
        else:
            buckets = [_Bucket.work_through(self._take_entries(), columns)]
        writer.write_part(tokens_format.NAME, tokens_format.VERSION, lambda pack: _write(pack, buckets, columns))
        return {
            "values": sum(bucket.tokens for bucket in buckets),
            "entries": sum(bucket.entries for bucket in buckets),
        }

    def _take_entries(self) -> pa.Table:
        pieces, self._pieces, self._held = self._pieces, [], 0
        return pa.table(
            [
                pa.chunked_array([piece.tokens for piece in pieces], pa.large_string()),
                pa.array(
                    np.repeat([piece.column for piece in pieces], [len(p.tokens) for p in pieces]),
                    pa.uint32(),
                ),
                pa.chunked_array([pa.array(piece.counts, pa.int64()) for piece in pieces], pa.int64()),
            ],
            schema=_SPILL,
        )

    def _spill(self) -> None:
        entries = self._take_entries().combine_chunks()
        if not self._buckets:
            numbers = range(1 << _BUCKET_BITS)
            self._buckets = [pa.ipc.new_stream(self._bucket_path(number), _SPILL) for number in numbers]
        if not entries.num_rows:
            return
        bucket_of = hash_tokens(entries["token"].chunk(0)) >> np.uint64(64 - _BUCKET_BITS)
        order = np.argsort(bucket_of, kind="stable")
        bounds = np.searchsorted(bucket_of[order], np.arange((1 << _BUCKET_BITS) + 1))
        for number, bucket in enumerate(self._buckets):
            bucket.write_table(entries.take(order[bounds[number] : bounds[number + 1]]))

    def _bucket_path(self, number: int) -> Path:
        return self._scratch / f"bucket-{number:02d}.arrow"


@dataclass
class _Bucket:
    """The distinct tokens of one bucket in the order of their ids, with postings and sets in local ids."""

    content: Array
    offsets: Array
    hashes: Array
    by_hash: Array
    frequency: Array
    posting_columns: Array
    set_offsets: Array
    set_tokens: Array
    set_counts: Array

    @property
    def tokens(self) -> int:
        return len(self.frequency)

    @property
    def entries(self) -> int:
        return len(self.posting_columns)

    @classmethod
    def work_through(cls, entries: pa.Table, columns: int) -> _Bucket:
        """Distinct tokens, frequencies, order, postings and sets: no comparison sort but that of the hashes."""
        encoded = entries["token"].combine_chunks().dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        owners, counts, codes = (
            np.array(part, copy=True)
            for part in (
                entries["column"].to_numpy(),
                entries["count"].to_numpy(),
                encoded.indices.to_numpy(),
            )
        )
        frequency, kept = merge_repeats(codes, owners, counts, len(encoded.dictionary))
        codes, owners, counts = codes[:kept], owners[:kept], counts[:kept]
        content, offsets = as_buffers(encoded.dictionary)
        hashes = hash_tokens(encoded.dictionary)
        order = order_by_frequency(np.argsort(hashes), frequency)
        local_id = np.empty(len(order), np.uint32)
        local_id[order] = np.arange(len(order), dtype=np.uint32)
        sizes = np.bincount(owners, minlength=columns)
        posting_offsets, posting_columns, posting_counts = transpose(
            running_sum(sizes), local_id[codes], counts, len(order)
        )
        set_offsets, set_tokens, set_counts = transpose(posting_offsets, posting_columns, posting_counts, columns)
        content, offsets = gather_strings(content, offsets, order)
        hashes = hashes[order]
        return cls(
            content, offsets, hashes, np.argsort(hashes), frequency[order],
            posting_columns, set_offsets, set_tokens, set_counts,
        )  # fmt: skip

    def to_disk(self, path: Path) -> _Bucket:
        """The same bucket with its arrays on disk, memory-mapped: 64 of them may not fit into memory together."""
        path.unlink()
        mapped = {}
        for name, array in vars(self).items():
            file = path.with_suffix(f".{name}")
            file.write_bytes(np.ascontiguousarray(array).view(np.uint8).data)  # np.save hides that a disk is full
            mapped[name] = np.memmap(file, array.dtype, "r", shape=array.shape) if len(array) else array
        return _Bucket(**mapped)


def _read_bucket(path: Path) -> pa.Table:
    with pa.ipc.open_stream(path) as stream:
        return stream.read_all()


def _write(pack: Any, buckets: list[_Bucket], columns: int) -> None:
    runs, total = _number_runs(buckets)
    lengths, frequencies = np.empty(total, np.uint32), np.empty(total, np.uint32)
    for bucket, bucket_runs in zip(buckets, runs, strict=True):
        for local, first_id, size in bucket_runs:
            lengths[first_id : first_id + size] = np.diff(bucket.offsets[local : local + size + 1])
            frequencies[first_id : first_id + size] = bucket.frequency[local : local + size]
    set_sizes = np.stack([np.diff(bucket.set_offsets) for bucket in buckets]).sum(axis=0)
    out = TokenPackWriter(pack, lengths, frequencies, set_sizes)
    _write_tokens(out, buckets, runs)
    _write_sets(out, buckets, [_global_ids(b, r) for b, r in zip(buckets, runs, strict=True)], columns)


def _number_runs(buckets: list[_Bucket]) -> tuple[list[list[tuple[int, int, int]]], int]:
    """For each bucket its runs of one frequency as (first local id, first global id, size), and the number of ids."""
    starts = [np.unique(bucket.frequency, return_index=True, return_counts=True) for bucket in buckets]
    runs: list[list[tuple[int, int, int]]] = [[] for _ in buckets]
    next_id = 0
    places = sorted(
        (int(frequency), number, int(local), int(size))
        for number, found in enumerate(starts)
        for frequency, local, size in zip(*found, strict=True)
    )
    for _, number, local, size in places:
        runs[number].append((local, next_id, size))
        next_id += size
    return runs, next_id


def _global_ids(bucket: _Bucket, runs: list[tuple[int, int, int]]) -> Array:
    ids = np.empty(bucket.tokens, np.uint32)
    for local, first_id, size in runs:
        ids[local : local + size] = np.arange(first_id, first_id + size, dtype=np.uint32)
    return ids


def _write_tokens(out: TokenPackWriter, buckets: list[_Bucket], runs: list[list[tuple[int, int, int]]]) -> None:
    hashes_written = 0
    for bucket, bucket_runs in zip(buckets, runs, strict=True):
        postings = running_sum(bucket.frequency)
        for local, first_id, size in bucket_runs:
            content = bucket.content[bucket.offsets[local] : bucket.offsets[local + size]]
            out.write_tokens(first_id, content, bucket.posting_columns[postings[local] : postings[local + size]])
        # Buckets are parted by leading bits of the hash, so their ascending hashes follow each other.
        ids = _global_ids(bucket, bucket_runs)
        out.write_hashes(hashes_written, bucket.hashes[bucket.by_hash], ids[bucket.by_hash])
        hashes_written += bucket.tokens


def _write_sets(out: TokenPackWriter, buckets: list[_Bucket], ids: list[Array], columns: int) -> None:
    if len(buckets) == 1:
        out.write_sets(0, ids[0][buckets[0].set_tokens], buckets[0].set_counts)
        return
    for column in range(columns):
        parts, counts = [], []
        for bucket, global_ids in zip(buckets, ids, strict=True):
            place = slice(bucket.set_offsets[column], bucket.set_offsets[column + 1])
            parts.append(global_ids[bucket.set_tokens[place]])
            counts.append(bucket.set_counts[place])
        members = np.concatenate(parts)
        order = np.argsort(members)
        out.write_sets(column, members[order], np.concatenate(counts)[order])
