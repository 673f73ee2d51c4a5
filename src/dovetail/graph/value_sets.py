"""The distinct value sets of the lake, from small to large, over all segments.

Many columns of a lake hold the same values: flags, ratings, years, copies of a table. Inclusion depends on the sets
alone, so it is decided once for two sets and holds for all of their columns. Tokens that exactly the same columns hold
are one group, whose weight is their number.

Equal tokens of several segments are found by merging the segments' ascending hashes, a range at a time, and comparing
bytes where hashes are equal. All that is kept of a token is the combination of segments' groups that hold it: there are
far fewer combinations than tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._progress import Progress, silent
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion_kernels import expand_lists, meet
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.kernels import (
    gather_lists,
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
    groups: TokenGroups | None = None,
) -> ValueSets:
    """The sets of the wanted columns, of which only `referable` ones can be referenced; `groups` if they are known."""
    if groups is None:
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
    if len(readers) == 1:
        arrays = readers[0].arrays
        alone = np.arange(arrays.groups + 1), np.arange(arrays.groups)
        lists = expand_lists(*alone, arrays.posting_offsets, arrays.posting_columns, wanted)
        return regroup(*lists, np.diff(arrays.group_tokens), len(wanted))
    dictionaries = Dictionaries(readers, first_columns)
    ranges = hash_ranges(dictionaries.tokens, _TOKENS_AT_ONCE)
    parts = []
    for number, (low, high) in enumerate(ranges):
        progress("merging values", dictionaries.tokens * number // len(ranges), dictionaries.tokens)
        parts.append(dictionaries.groups_between(low, high, wanted))
    return join_groups(parts, len(wanted))


def join_groups(parts: Sequence[TokenGroups], width: int) -> TokenGroups:
    """The groups of several ranges of hashes as those of all."""
    if len(parts) == 1:
        return parts[0]
    sizes = [np.diff(part.offsets) for part in parts]
    lists = [np.empty(0, np.uint32), *(part.columns for part in parts)]
    weights = [np.empty(0, np.int64), *(part.weights for part in parts)]
    offsets = running_sum(np.concatenate([np.empty(0, np.int64), *sizes]))
    return regroup(offsets, np.concatenate(lists), np.concatenate(weights), width)


def hash_ranges(tokens: int, at_most: int, least: int = 1) -> list[tuple[int, int]]:
    """Ranges of hashes, ends excluded, with about `at_most` of the tokens each; at least so many ranges."""
    parts = 1
    while parts * at_most < tokens or parts < least:
        parts *= 2
    step = (1 << 64) // parts
    return [(number * step, (number + 1) * step) for number in range(parts)]


def regroup(offsets: Array, columns: Array, weights: Array, width: int) -> TokenGroups:
    """Merge equal lists and add up their weights; lists that are empty or have no weight are dropped."""
    filled = np.flatnonzero((np.diff(offsets) > 0) & (weights > 0))
    offsets, columns, _ = gather_lists(offsets, columns, columns, filled)
    group_of, examples, _ = group_lists(offsets, columns, width)
    added = np.bincount(group_of, weights[filled], len(examples)).astype(np.int64)
    offsets, columns, _ = gather_lists(offsets, columns, columns, examples)
    return TokenGroups(offsets, columns, added)


class Dictionaries:
    """The segments' dictionaries as one. Groups are numbered over all segments."""

    def __init__(self, readers: Sequence[TokenReader], first_columns: Array) -> None:
        self._readers = readers
        self._first_columns = first_columns
        self._first_groups = running_sum(np.array([reader.arrays.groups for reader in readers], np.int64))
        self._groups_of = [
            np.repeat(np.arange(r.arrays.groups, dtype=np.uint32), np.diff(r.arrays.group_tokens)) for r in readers
        ]
        self.tokens = sum(reader.arrays.tokens for reader in readers)

    def groups_between(self, low: int, high: int, wanted: Array) -> TokenGroups:
        """The groups of the tokens whose hashes lie between two numbers, over the wanted columns.

        Each token belongs to a combination of segments' groups; only these are expanded to columns.
        """
        hashes, ids = self._range(low, high)
        if not sum(map(len, hashes)):
            return TokenGroups(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.int64))
        groups = np.concatenate(
            [
                first + of[i].astype(np.int64)
                for first, of, i in zip(self._first_groups[:-1], self._groups_of, ids, strict=True)
            ]
        )
        used, place = _distinct(groups, int(self._first_groups[-1]))
        sizes, members, weights = self._combinations(np.concatenate(hashes), ids, place[groups], len(used))
        lists = expand_lists(running_sum(sizes), members, *self._postings(used), wanted)
        return regroup(*lists, weights, len(wanted))

    def _range(self, low: int, high: int) -> tuple[list[Array], list[Array]]:
        """The hashes of each segment between two numbers, and the ids of their tokens."""
        hashes, ids = [], []
        for reader in self._readers:
            found, of = reader.arrays.hashed_between(low, high)
            hashes.append(found)
            ids.append(of)
        return hashes, ids

    def _combinations(self, hashes: Array, ids: list[Array], groups: Array, number: int) -> tuple[Array, Array, Array]:
        """The distinct lists of groups that hold the same token: sizes, members, and how many tokens have each.

        Every group of its own is a list of one, whose weight may be 0.
        """
        order = np.argsort(hashes, kind="stable")  # a merge: the part of each segment is ascending
        hashes, groups = hashes[order], groups[order]
        again = np.concatenate([[False], hashes[1:] == hashes[:-1]])
        met = again | np.concatenate([again[1:], [False]])
        content, spans = _content(self._readers, ids, order[met])
        lists, members, tokens, collided = meet(hashes[met], groups[met], content, spans)
        alone = np.bincount(groups[~met], minlength=number) + np.bincount(collided, minlength=number)
        folded = regroup(lists, members, tokens, number)
        return (
            np.concatenate([np.ones(number, np.int64), np.diff(folded.offsets)]),
            np.concatenate([np.arange(number), folded.columns]),
            np.concatenate([alone, folded.weights]),
        )

    def _postings(self, groups: Array) -> tuple[Array, Array]:
        """The posting lists of these groups, ascending, with the lake's column numbers."""
        bounds = np.searchsorted(groups, self._first_groups)
        sizes, columns = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
        for number, reader in enumerate(self._readers):
            mine = groups[bounds[number] : bounds[number + 1]] - self._first_groups[number]
            if len(mine):
                arrays = reader.arrays
                offsets, found, _ = gather_lists(
                    arrays.posting_offsets, arrays.posting_columns, arrays.posting_columns, mine
                )
                sizes.append(np.diff(offsets))
                columns.append(found + np.uint32(self._first_columns[number]))
        return running_sum(np.concatenate(sizes)), np.concatenate(columns)


def _distinct(numbers: Array, most: int) -> tuple[Array, Array]:
    """The distinct numbers below `most`, ascending, and the place of each number among them."""
    used = np.zeros(most, bool)
    used[numbers] = True
    found = np.flatnonzero(used)
    place = np.zeros(most, np.int64)
    place[found] = np.arange(len(found))
    return found, place


def _content(readers: Sequence[TokenReader], ids: list[Array], places: Array) -> tuple[Array, Array]:
    """The bytes of the tokens at these positions of all ids taken together, and the span of each."""
    starts = running_sum(np.array([len(part) for part in ids], np.int64))
    by_segment = np.argsort(places)
    bounds = np.searchsorted(places[by_segment], starts)
    contents, sizes = [np.empty(0, np.uint8)], [np.empty(0, np.int64)]
    for number, reader in enumerate(readers):
        mine = places[by_segment[bounds[number] : bounds[number + 1]]] - starts[number]
        content, offsets = reader.arrays.strings(ids[number][mine])
        contents.append(content)
        sizes.append(np.diff(offsets))
    offsets = running_sum(np.concatenate(sizes))
    begin, end = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
    begin[by_segment], end[by_segment] = offsets[:-1], offsets[1:]
    return np.concatenate(contents), np.stack([begin, end], axis=1)
