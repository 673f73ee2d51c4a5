"""The distinct value sets of the lake, from small to large, over all segments.

Many columns of a lake hold the same values: flags, ratings, years, copies of a table. Inclusion depends on the sets
alone, so it is decided once for two sets and holds for all of their columns. Tokens that exactly the same columns hold
are one group, whose weight is their number.

Equal tokens of several segments are found by merging the segments' ascending hashes, a range at a time, and comparing
bytes where hashes are equal. All that is kept of a token is the combination of segments' groups that hold it: there are
far fewer combinations than tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._progress import Progress, silent
from dovetail._types import Array
from dovetail.graph.inclusion_kernels import expand_lists, meet
from dovetail.graph.lake_columns import LakeColumns
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.kernels import (
    gather_lists,
    gather_strings,
    group_lists,
    stable_order,
    transpose,
)
from dovetail.indexes.tokens.query import TokenReader

_TOKENS_AT_ONCE = 1 << 21  # bounds memory (some 100 bytes a token) and the time between two progress reports


@dataclass(frozen=True)
class ValueSets:
    """Sets are numbered by size, groups by the number of sets that hold them.

    `lists` holds, for each group, the sets that may be referenced and contain it, ascending. Tokens that a single set
    holds belong to no group: `private` counts them.
    """

    sizes: Array  # tokens of each set
    private: Array
    group_offsets: Array
    groups: Array  # of each set, ascending
    weights: Array  # tokens of each group
    list_offsets: Array
    lists: Array
    member_offsets: Array
    members: Array  # the columns with each set, by table and position
    referable: Array  # by column: whether it may be referenced

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def referable_sets(self) -> Array:
        """Whether each set has a column that may be referenced."""
        several = running_sum(self.referable[self.members])[self.member_offsets]
        some: Array = np.diff(several) > 0
        return some


@dataclass(frozen=True)
class TokenGroups:
    """For each group, the columns that hold its tokens, ascending, and the number of its tokens."""

    offsets: Array
    columns: Array
    weights: Array


def value_sets(
    columns: LakeColumns,
    wanted: Array,
    referable: Array,
    null_is_a_value: bool = False,
    progress: Progress = silent,
) -> ValueSets:
    """The sets of the wanted columns, of which only `referable` ones can be referenced."""
    readers = [segment.tokens for segment in columns.segments]
    groups = token_groups(readers, columns.offsets[:-1], wanted, progress)
    if null_is_a_value:
        groups = _with_null(groups, np.flatnonzero(wanted & (columns.nulls > 0)), len(columns))
    offsets, by_column, _ = transpose(groups.offsets, groups.columns, groups.columns, len(columns))
    chosen = np.flatnonzero(wanted)
    chosen = chosen[np.argsort(columns.rank[chosen], kind="stable")]
    offsets, by_column, _ = gather_lists(offsets, by_column, by_column, chosen)
    set_of, examples, _ = group_lists(offsets, by_column, len(groups.weights))
    sizes = np.diff(running_sum(groups.weights[by_column])[offsets])[examples]
    order = np.lexsort((examples, sizes))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    members = np.argsort(number[set_of], kind="stable")
    member_offsets = running_sum(np.bincount(number[set_of], minlength=len(order)))
    sets = gather_lists(offsets, by_column, by_column, examples[order])[:2]
    can_be = np.zeros(len(order), bool)
    can_be[number[set_of[referable[chosen]]]] = True
    return _ordered(sizes[order], sets, groups.weights, can_be, (member_offsets, chosen[members]), referable)


def _with_null(groups: TokenGroups, columns: Array, width: int) -> TokenGroups:
    """Add null as one more token, which all columns with a null hold."""
    return regroup(
        np.append(groups.offsets, groups.offsets[-1] + len(columns)),
        np.concatenate([groups.columns, columns.astype(np.uint32)]),
        np.append(groups.weights, 1),
        width,
    )


def _ordered(
    sizes: Array,
    sets: tuple[Array, Array],
    weights: Array,
    can_be: Array,
    members: tuple[Array, Array],
    referable: Array,
) -> ValueSets:
    """Turn groups of a single set into private tokens, and number the others from the rarest on."""
    offsets, owners, _ = transpose(*sets, sets[1], len(weights))
    lengths = np.diff(offsets)
    private = np.bincount(owners[offsets[:-1]][lengths == 1], weights[lengths == 1], len(sizes)).astype(np.int64)
    listed = np.diff(running_sum(can_be[owners])[offsets])
    shared = np.flatnonzero(lengths > 1)
    order = stable_order(shared, listed, int(listed.max(initial=0)) + 1)
    offsets, owners, _ = gather_lists(offsets, owners, owners, order)
    group_offsets, groups, _ = transpose(offsets, owners, owners, len(sizes))
    kept = can_be[owners]
    list_offsets = running_sum(kept)[offsets]
    return ValueSets(
        sizes, private, group_offsets, groups, weights[order], list_offsets, owners[kept], *members, referable
    )


def token_groups(
    readers: Sequence[TokenReader], first_columns: Array, wanted: Array, progress: Progress = silent
) -> TokenGroups:
    """The groups over the wanted columns of the lake; `first_columns` is the first column number of each segment."""
    combinations, members, weights = _combinations(readers, progress)
    lists = expand_lists(combinations, members, *_postings(readers, first_columns), wanted)
    return regroup(*lists, weights, len(wanted))


def regroup(offsets: Array, columns: Array, weights: Array, width: int) -> TokenGroups:
    """Merge equal lists and add up their weights; lists that are empty or have no weight are dropped."""
    filled = np.flatnonzero((np.diff(offsets) > 0) & (weights > 0))
    offsets, columns, _ = gather_lists(offsets, columns, columns, filled)
    group_of, examples, _ = group_lists(offsets, columns, width)
    added = np.bincount(group_of, weights[filled], len(examples)).astype(np.int64)
    offsets, columns, _ = gather_lists(offsets, columns, columns, examples)
    return TokenGroups(offsets, columns, added)


def _postings(readers: Sequence[TokenReader], first_columns: Array) -> tuple[Array, Array]:
    """The posting lists of all segments' groups, one segment after another, with the lake's column numbers."""
    if len(readers) == 1:
        return readers[0].arrays.posting_offsets, readers[0].arrays.posting_columns
    sizes = [np.diff(reader.arrays.posting_offsets) for reader in readers]
    parts = [
        reader.arrays.posting_columns + np.uint32(first) for reader, first in zip(readers, first_columns, strict=False)
    ]
    if not parts:
        return np.zeros(1, np.int64), np.empty(0, np.uint32)
    return running_sum(np.concatenate(sizes)), np.concatenate(parts)


def _combinations(readers: Sequence[TokenReader], progress: Progress) -> tuple[Array, Array, Array]:
    """The distinct lists of segments' groups (offsets and members) that hold the same token, and their token counts.

    Groups are numbered over all segments. A group of its own is a list of one, whose weight may be 0.
    """
    first_groups = running_sum(np.array([reader.arrays.groups for reader in readers], np.int64))
    number = int(first_groups[-1])
    alone = np.zeros(number, np.int64)
    if len(readers) == 1:
        alone[:] = np.diff(readers[0].arrays.group_tokens)
    sizes, members, weights = [np.ones(number, np.int64)], [np.arange(number)], [alone]
    if len(readers) > 1:
        for offsets, lists, found in _meetings(readers, first_groups, alone, progress):
            sizes.append(np.diff(offsets))
            members.append(lists)
            weights.append(found)
    return running_sum(np.concatenate(sizes)), np.concatenate(members), np.concatenate(weights)


def _meetings(
    readers: Sequence[TokenReader], first_groups: Array, alone: Array, progress: Progress
) -> Iterator[tuple[Array, Array, Array]]:
    """The lists of two or more groups, one range of hashes after another; other tokens are counted in `alone`."""
    groups_of = [
        np.repeat(np.arange(r.arrays.groups, dtype=np.uint32), np.diff(r.arrays.group_tokens)) for r in readers
    ]
    done, total = 0, sum(len(reader.arrays.hashes) for reader in readers)
    for cuts in _ranges([reader.arrays.hashes for reader in readers]):
        progress("merging values", done, total)
        parts = [reader.arrays.hashes[low:high] for reader, (low, high) in zip(readers, cuts, strict=True)]
        ids = [reader.arrays.hash_ids[low:high] for reader, (low, high) in zip(readers, cuts, strict=True)]
        hashes = np.concatenate(parts)
        if not len(hashes):
            continue
        done += len(hashes)
        order = np.argsort(hashes, kind="stable")  # a merge: each part is ascending
        hashes = hashes[order]
        groups = np.concatenate(
            [first + of[i].astype(np.int64) for first, of, i in zip(first_groups, groups_of, ids, strict=False)]
        )[order]
        again = np.concatenate([[False], hashes[1:] == hashes[:-1]])
        met = again | np.concatenate([again[1:], [False]])
        alone += np.bincount(groups[~met], minlength=len(alone))
        content, offsets = _content(readers, ids, order[met])
        lists, members, tokens, collided = meet(hashes[met], groups[met], content, offsets)
        alone += np.bincount(collided, minlength=len(alone))
        if len(tokens):
            folded = regroup(lists, members, tokens, int(first_groups[-1]))
            yield folded.offsets, folded.columns, folded.weights


def _ranges(hashes: list[Array]) -> Iterator[list[tuple[int, int]]]:
    """For each range of hashes, its bounds in every segment; ranges have about `_TOKENS_AT_ONCE` hashes at most."""
    parts = 1
    while parts * _TOKENS_AT_ONCE < sum(map(len, hashes)):
        parts *= 2
    step = (1 << 64) // parts
    bounds = np.array([i * step for i in range(1, parts)], np.uint64)
    cuts = [np.concatenate([[0], np.searchsorted(part, bounds), [len(part)]]) for part in hashes]
    for i in range(parts):
        yield [(int(cut[i]), int(cut[i + 1])) for cut in cuts]


def _content(readers: Sequence[TokenReader], ids: list[Array], places: Array) -> tuple[Array, Array]:
    """The bytes of the tokens at these positions of all ids taken together, and the span of each."""
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
