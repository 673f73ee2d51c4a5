"""Builds the tokens pack of a segment in bounded memory.

Entries (column, token, count) that exceed the memory are set aside in spills on disk, each split by the leading bits of
the tokens' hashes into buckets; equal tokens share a bucket, and each bucket is then processed in memory. Ids rise with
(group, hash), so the tokens of one group in one bucket are a run of consecutive ids: a bucket is written run by run. A
segment that fits into memory is the case of one bucket.

Where several tasks build a segment, some spill the entries of their columns, some process their buckets, and one writes
the pack: the same functions, with files in between.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._storage.spill import Records, write_records
from dovetail._storage.symbol_kernels import Symbols, encode
from dovetail._storage.symbols import learn_symbols
from dovetail._types import Array
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenPackWriter, running_sum
from dovetail.indexes.tokens.kernels import (
    copy_runs,
    gather_lists,
    gather_strings,
    group_lists,
    merge_groups,
    merge_repeats,
    stable_order,
    take_lists,
    transpose,
)
from dovetail.normalise.hashing import as_buffers, hash_tokens

_BUCKET_BITS = 6
BUCKETS = 1 << _BUCKET_BITS
_ENTRY_BYTES = 40  # approximate memory of an entry, without the bytes of its token
_LARGE = 1 << 18  # bytes of a group's tokens from which each bucket's part is worth a write of its own
_PORTION = 1 << 23
_ENTRIES = 1 << 20
ENTRY = pa.schema([("token", pa.large_string()), ("column", pa.uint32()), ("count", pa.int64())])
_ENTRY_TYPES = dict(zip(ENTRY.names, ENTRY.types, strict=True))
# Of a bucket on disk, in two files: mapped files count as memory, and the tokens are let go first.
_TOKEN_TYPES = {"content": pa.uint8(), "offsets": pa.int64(), "hashes": pa.uint64(), "by_hash": pa.int64()}
_LIST_TYPES = {
    "group_tokens": pa.int64(), "group_hashes": pa.uint64(),
    "posting_offsets": pa.int64(), "posting_columns": pa.uint32(),
    "set_offsets": pa.int64(), "set_tokens": pa.uint32(), "set_counts": pa.uint32(),
}  # fmt: skip


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


def write_buckets(
    writer: SegmentWriter,
    buckets: list[Bucket],
    columns: int,
    scratch: Path,
    part: tuple[str, int] = (tokens_format.NAME, tokens_format.VERSION),
) -> dict[str, int]:
    """Write the pack, of this name and version; returns counts for the segment's description.

    The codes of tokens are learned from the first of them: by their hashes, they are a sample of all.
    """
    counts = {"values": sum(b.tokens for b in buckets), "entries": sum(b.entries for b in buckets)}
    first = next((bucket for bucket in buckets if bucket.tokens), buckets[0])
    symbols = learn_symbols(first.content, first.offsets)
    for bucket in buckets:
        bucket.encode(symbols, scratch if len(buckets) > 1 else None)
    writer.write_part(*part, lambda pack: _write(pack, symbols, buckets, columns))
    return counts


@dataclass
class Bucket:
    """The distinct tokens of one bucket in the order of their ids, by group. All ids are the bucket's own."""

    content: Array
    offsets: Array
    hashes: Array
    by_hash: Array
    group_tokens: Array
    group_hashes: Array
    posting_offsets: Array
    posting_columns: Array
    set_offsets: Array
    set_tokens: Array
    set_counts: Array

    @property
    def tokens(self) -> int:
        return len(self.hashes)

    @property
    def entries(self) -> int:
        return len(self.set_counts)

    @classmethod
    def work_through(cls, entries: pa.Table, columns: int) -> Bucket:
        """Distinct tokens, postings, groups, order and sets. Only hashes and groups are sorted by comparison."""
        encoded = entries["token"].combine_chunks().dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        owners, counts, codes = (
            np.array(part, copy=True)
            for part in (entries["column"].to_numpy(), entries["count"].to_numpy(), encoded.indices.to_numpy())
        )
        tokens = len(encoded.dictionary)
        kept = merge_repeats(codes, owners, counts, tokens)
        set_offsets = running_sum(np.bincount(owners[:kept], minlength=columns))
        lists = transpose(set_offsets, codes[:kept], counts[:kept], tokens)
        group_of, example, group_hashes = group_lists(lists[0], lists[1], columns)
        # By frequency, then by the first column, so that the groups of one column lie near each other.
        rank = np.lexsort((group_hashes, lists[1][lists[0][example]], np.diff(lists[0])[example]))
        place = np.empty(len(rank), np.int64)
        place[rank] = np.arange(len(rank))
        hashes = hash_tokens(encoded.dictionary)
        order = stable_order(np.argsort(hashes), place[group_of], len(rank))
        content, offsets = gather_strings(*as_buffers(encoded.dictionary), order)
        postings = gather_lists(*lists, example[rank])
        sets = transpose(*gather_lists(*lists, order), columns)
        group_tokens = running_sum(np.bincount(place[group_of], minlength=len(rank)))
        return cls(
            content, offsets, hashes[order], np.argsort(hashes[order]), group_tokens, group_hashes[rank],
            postings[0], postings[1], *sets,
        )  # fmt: skip

    def save(self, folder: Path) -> list[Path]:
        """Write the bucket into new files."""
        paths = []
        for types in (_TOKEN_TYPES, _LIST_TYPES):
            paths.append(folder / f"bucket-{secrets.token_hex(8)}.arrow")
            write_records(paths[-1], types, [[getattr(self, name) for name in types]])
        return paths

    @classmethod
    def open(cls, paths: Iterable[Path]) -> Bucket:
        """A bucket that was saved, memory-mapped."""
        return cls(*(array.to_numpy() for path in paths for array in Records(path)[0]))

    def encode(self, symbols: Symbols, folder: Path | None) -> None:
        """Code the tokens; into a new file where there is a folder, since all buckets may not fit into memory."""
        self.content, self.offsets = encode(self.content, self.offsets, symbols)
        if folder is not None:
            types = {name: _TOKEN_TYPES[name] for name in ("content", "offsets")}
            path = folder / f"codes-{secrets.token_hex(8)}.arrow"
            write_records(path, types, [[self.content, self.offsets]])
            self.content, self.offsets = (array.to_numpy() for array in Records(path)[0])

    def forget_tokens(self) -> None:
        """Let go of what is written: mapped files count as memory for as long as they are held."""
        self.content = self.offsets = self.hashes = self.by_hash = np.empty(0, np.uint8)


@dataclass(frozen=True)
class _Runs:
    """Where the tokens of a bucket go: `size` tokens from the local id `local` on get ids from `first` on."""

    local: Array
    first: Array
    size: Array

    def ids(self) -> Array:
        """The id of every token of the bucket."""
        return (np.repeat(self.first - self.local, self.size) + np.arange(self.size.sum())).astype(np.uint32)

    def large(self, groups: Array) -> Iterator[tuple[int, int, int]]:
        """The runs at `groups`, those joined that follow each other on both sides."""
        local, first, size = self.local[groups], self.first[groups], self.size[groups]
        joins = (first[:-1] + size[:-1] == first[1:]) & (local[:-1] + size[:-1] == local[1:])
        starts = np.flatnonzero(np.concatenate([[True], ~joins])).tolist() if len(first) else []
        for start, stop in itertools.pairwise([*starts, len(first)]):
            yield int(local[start]), int(first[start]), int(size[start:stop].sum())


def _write(pack: PackWriter, symbols: Symbols, buckets: list[Bucket], columns: int) -> None:
    groups, postings = _number_groups(buckets)
    sizes = np.zeros(len(postings[0]) - 1, np.int64)
    for bucket, group in zip(buckets, groups, strict=True):
        sizes[group] += np.diff(bucket.group_tokens)
    group_tokens = running_sum(sizes)
    runs = _place_runs(buckets, groups, group_tokens)
    lengths = np.empty(int(group_tokens[-1]), np.uint32)
    for bucket, bucket_runs in zip(buckets, runs, strict=True):
        lengths[bucket_runs.ids()] = np.diff(bucket.offsets)
    set_sizes = np.stack([np.diff(bucket.set_offsets) for bucket in buckets]).sum(axis=0)
    out = TokenPackWriter(pack, symbols, lengths, set_sizes)
    del lengths
    out.write_groups(group_tokens, postings, transpose(*postings, postings[1], columns)[:2])
    bounds = out.token_offsets[group_tokens]
    large = np.diff(bounds) >= (_LARGE if len(buckets) > 1 else 0)  # one bucket is in order as it is
    if not large.all():
        _write_small_groups(out, buckets, groups, runs, bounds, np.flatnonzero(large))
    _write_large_groups(out, buckets, groups, runs, large)
    _write_counts(out, buckets, runs, set_sizes)
    out.finish_counts()


def _number_groups(buckets: list[Bucket]) -> tuple[list[Array], tuple[Array, Array]]:
    """The segment's group for every group of every bucket, and the segment's posting lists."""
    if len(buckets) == 1:
        (bucket,) = buckets
        return [np.arange(len(bucket.group_hashes))], (bucket.posting_offsets, bucket.posting_columns)
    lengths = np.concatenate([np.diff(bucket.posting_offsets) for bucket in buckets])
    columns = np.concatenate([bucket.posting_columns for bucket in buckets])
    hashes = np.concatenate([bucket.group_hashes for bucket in buckets])
    starts = running_sum(lengths)[:-1]
    firsts = columns[starts]
    order = np.lexsort((hashes, firsts, lengths))
    numbers, examples = merge_groups(order, lengths, firsts, hashes, starts, columns)
    parts = np.split(numbers, np.cumsum([len(bucket.group_hashes) for bucket in buckets])[:-1])
    return parts, take_lists(starts, lengths, columns, examples)


def _place_runs(buckets: list[Bucket], groups: list[Array], group_tokens: Array) -> list[_Runs]:
    """Within a group the buckets follow each other: they are split by leading bits of the hash."""
    cursor = group_tokens[:-1].copy()
    runs = []
    for bucket, group in zip(buckets, groups, strict=True):
        size = np.diff(bucket.group_tokens)
        runs.append(_Runs(bucket.group_tokens[:-1], cursor[group], size))
        cursor[group] += size
    return runs


def _write_small_groups(
    out: TokenPackWriter, buckets: list[Bucket], groups: list[Array], runs: list[_Runs], bounds: Array, large: Array
) -> None:
    """The tokens of small groups, of all buckets together, so that they are written in large chunks.

    `bounds` are the bytes at which the groups begin. The `large` groups between them are left out.
    """
    steps = np.searchsorted(bounds, np.arange(0, bounds[-1], _PORTION))
    cuts = np.unique(np.concatenate([[0, len(bounds) - 1], steps, large, large + 1]))
    left_out = set(large.tolist())
    for start, stop in itertools.pairwise(cuts.tolist()):
        if start in left_out:
            continue
        chunk = np.empty(int(bounds[stop] - bounds[start]), np.uint8)
        for bucket, group, run in zip(buckets, groups, runs, strict=True):
            low, high = np.searchsorted(group, [start, stop])
            copy_runs(
                chunk, out.token_offsets, int(bounds[start]), run.first[low:high],
                bucket.content, bucket.offsets, bucket.group_tokens[low : high + 1],
            )  # fmt: skip
        out.write_content(int(bounds[start]), chunk)


def _write_large_groups(
    out: TokenPackWriter, buckets: list[Bucket], groups: list[Array], runs: list[_Runs], large: Array
) -> None:
    """Bucket by bucket, with its hashes: what is written is let go."""
    hashes_written = 0
    for bucket, group, bucket_runs in zip(buckets, groups, runs, strict=True):
        for local, first_id, size in bucket_runs.large(np.flatnonzero(large[group])):
            out.write_tokens(first_id, bucket.content[bucket.offsets[local] : bucket.offsets[local + size]])
        out.write_hashes(hashes_written, bucket.hashes[bucket.by_hash], bucket_runs.ids()[bucket.by_hash])
        hashes_written += bucket.tokens
        bucket.forget_tokens()
    out.write_hash_starts()


def _write_counts(out: TokenPackWriter, buckets: list[Bucket], runs: list[_Runs], set_sizes: Array) -> None:
    """Of some columns at a time, by column and then by token; a large column is alone."""
    if len(buckets) == 1:
        out.write_counts(buckets[0].set_counts)
        return
    ids = [bucket_runs.ids() for bucket_runs in runs]
    bounds = running_sum(set_sizes)
    cuts = np.unique(np.append(np.searchsorted(bounds, np.arange(0, bounds[-1], _ENTRIES)), len(set_sizes)))
    for start, stop in itertools.pairwise(cuts.tolist()):
        keys, counts = [], []
        for bucket, bucket_ids in zip(buckets, ids, strict=True):
            place = slice(bucket.set_offsets[start], bucket.set_offsets[stop])
            owners = np.repeat(np.arange(stop - start, dtype=np.uint64), np.diff(bucket.set_offsets[start : stop + 1]))
            keys.append((owners << np.uint64(32)) | bucket_ids[bucket.set_tokens[place]])
            counts.append(bucket.set_counts[place])
        out.write_counts(np.concatenate(counts)[np.argsort(np.concatenate(keys))])
