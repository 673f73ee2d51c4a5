"""Writes the tokens pack of a segment from its buckets.

Ids rise with (group, hash), so the tokens of one group in one bucket are a run of consecutive ids: a bucket is written
run by run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._storage.symbol_kernels import Symbols
from dovetail._storage.symbols import learn_symbols
from dovetail._types import Array
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.bucket import Bucket
from dovetail.indexes.tokens.format import TokenPackWriter, running_sum
from dovetail.indexes.tokens.kernels import copy_runs, merge_groups, take_lists, transpose

_LARGE = 1 << 18  # bytes of a group's tokens from which each bucket's part is worth a write of its own
_PORTION = 1 << 23
_ENTRIES = 1 << 20


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
