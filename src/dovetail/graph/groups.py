"""One view of all segments: which tokens are held by exactly the same columns of the lake.

A segment knows its own groups. Equal tokens of several segments meet by merging the segments' ascending hashes, a range
of them at a time, and comparing bytes where hashes meet. What is kept of a token is the combination of segments' groups
that hold it: there are far fewer combinations than tokens, and memory is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.graph.group_kernels import expand_lists, meet
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.kernels import gather_lists, gather_strings, group_lists
from dovetail.indexes.tokens.query import TokenReader

_TOKENS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Groups:
    """For each group the columns that hold its tokens, ascending, and how many tokens it has."""

    offsets: Array
    columns: Array
    weights: Array


def lake_groups(readers: Sequence[TokenReader], first_columns: Array, wanted: Array) -> Groups:
    """The groups over the columns that `wanted` marks, numbered over the lake; `first_columns` begins each segment."""
    columns = len(wanted)
    combinations, members, weights = _combinations(readers)
    lists = expand_lists(combinations, members, *_postings(readers, first_columns), wanted)
    return regroup(*lists, weights, columns)


def regroup(offsets: Array, columns: Array, weights: Array, width: int) -> Groups:
    """Equal lists become one, with their weights added up; empty lists and those without weight go."""
    filled = np.flatnonzero((np.diff(offsets) > 0) & (weights > 0))
    offsets, columns, _ = gather_lists(offsets, columns, columns, filled)
    group_of, examples, _ = group_lists(offsets, columns, width)
    added = np.bincount(group_of, weights[filled], len(examples)).astype(np.int64)
    offsets, columns, _ = gather_lists(offsets, columns, columns, examples)
    return Groups(offsets, columns, added)


def _postings(readers: Sequence[TokenReader], first_columns: Array) -> tuple[Array, Array]:
    """The posting lists of all segments' groups, one segment after another, over the lake's column numbers."""
    if len(readers) == 1:
        return readers[0].arrays.posting_offsets, readers[0].arrays.posting_columns
    sizes = [np.diff(reader.arrays.posting_offsets) for reader in readers]
    parts = [
        reader.arrays.posting_columns + np.uint32(first) for reader, first in zip(readers, first_columns, strict=False)
    ]
    if not parts:
        return np.zeros(1, np.int64), np.empty(0, np.uint32)
    return running_sum(np.concatenate(sizes)), np.concatenate(parts)


def _combinations(readers: Sequence[TokenReader]) -> tuple[Array, Array, Array]:
    """Distinct lists of segments' groups (offsets and members) that hold the same token, and how many tokens each has.

    Groups are numbered over all segments. A group on its own is a list of one, whose weight may be 0.
    """
    first_groups = running_sum(np.array([reader.arrays.groups for reader in readers], np.int64))
    number = int(first_groups[-1])
    alone = np.zeros(number, np.int64)
    if len(readers) == 1:
        alone[:] = np.diff(readers[0].arrays.group_tokens)
    sizes, members, weights = [np.ones(number, np.int64)], [np.arange(number)], [alone]
    if len(readers) > 1:
        for offsets, lists, found in _meetings(readers, first_groups, alone):
            sizes.append(np.diff(offsets))
            members.append(lists)
            weights.append(found)
    return running_sum(np.concatenate(sizes)), np.concatenate(members), np.concatenate(weights)


def _meetings(
    readers: Sequence[TokenReader], first_groups: Array, alone: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """The lists of two or more groups, range of hashes by range; tokens of one segment only are counted in `alone`."""
    groups_of = [
        np.repeat(np.arange(r.arrays.groups, dtype=np.uint32), np.diff(r.arrays.group_tokens)) for r in readers
    ]
    for cuts in _ranges([reader.arrays.hashes for reader in readers]):
        parts = [reader.arrays.hashes[low:high] for reader, (low, high) in zip(readers, cuts, strict=True)]
        ids = [reader.arrays.hash_ids[low:high] for reader, (low, high) in zip(readers, cuts, strict=True)]
        hashes = np.concatenate(parts)
        if not len(hashes):
            continue
        order = np.argsort(hashes, kind="stable")  # a merge: each part is ascending
        hashes = hashes[order]
        groups = np.concatenate(
            [first + of[i].astype(np.int64) for first, of, i in zip(first_groups, groups_of, ids, strict=False)]
        )[order]
        again = np.concatenate([[False], hashes[1:] == hashes[:-1]])
        met = again | np.concatenate([again[1:], [False]])
        alone += np.bincount(groups[~met], minlength=len(alone))
        content, offsets = _content(readers, ids, order[met])
        lists, members, tokens, lonely = meet(hashes[met], groups[met], content, offsets)
        alone += np.bincount(lonely, minlength=len(alone))
        if len(tokens):
            folded = regroup(lists, members, tokens, int(first_groups[-1]))
            yield folded.offsets, folded.columns, folded.weights


def _ranges(hashes: list[Array]) -> Iterator[list[tuple[int, int]]]:
    """For each range of hashes its place in every segment; no range has many more than `_TOKENS_AT_ONCE`."""
    parts = 1
    while parts * _TOKENS_AT_ONCE < sum(map(len, hashes)):
        parts *= 2
    step = (1 << 64) // parts
    bounds = np.array([i * step for i in range(1, parts)], np.uint64)
    cuts = [np.concatenate([[0], np.searchsorted(part, bounds), [len(part)]]) for part in hashes]
    for i in range(parts):
        yield [(int(cut[i]), int(cut[i + 1])) for cut in cuts]


def _content(readers: Sequence[TokenReader], ids: list[Array], places: Array) -> tuple[Array, Array]:
    """The bytes of the tokens at these places of all ids, one segment's after another's."""
    starts = running_sum(np.array([len(part) for part in ids], np.int64))
    segments = np.searchsorted(starts, places, side="right") - 1
    by_segment = np.argsort(segments, kind="stable")
    contents, sizes = [np.empty(0, np.uint8)], [np.empty(0, np.int64)]
    for number, reader in enumerate(readers):
        mine = places[by_segment[segments[by_segment] == number]] - starts[number]
        content, offsets = gather_strings(
            reader.arrays.token_bytes, reader.arrays.token_offsets, ids[number][mine].astype(np.int64)
        )
        contents.append(content)
        sizes.append(np.diff(offsets))
    offsets = running_sum(np.concatenate(sizes))
    begin, end = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
    begin[by_segment], end[by_segment] = offsets[:-1], offsets[1:]
    return np.concatenate(contents), np.stack([begin, end], axis=1)
