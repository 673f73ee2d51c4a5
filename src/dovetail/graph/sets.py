"""The distinct sets of the lake, from small to large: what columns hold, each once however many columns hold it.

In a lake many columns have the very same values: flags, ratings, years, copies of a table. Whether one column is
included in another depends on their sets alone, so it is decided once for two sets, and told of all their columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.groups import Groups, lake_groups, regroup
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.kernels import gather_lists, group_lists, stable_order, transpose


@dataclass(frozen=True)
class LakeSets:
    """Sets by number, which rises with their size; groups by number, which rises with the number of sets with them.

    `lists` is, for each group, the sets that may be referenced and have it, ascending. Tokens that a set shares with
    none are no group: `private` counts them.
    """

    sizes: Array  # tokens of each set
    private: Array
    group_offsets: Array
    groups: Array  # of each set, ascending
    weights: Array  # tokens of each group
    list_offsets: Array
    lists: Array
    member_offsets: Array
    members: Array  # the columns that have each set, by table and place
    referable: Array  # by column: whether it may be referenced

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def referable_sets(self) -> Array:
        """Whether each set has a column that may be referenced."""
        several = running_sum(self.referable[self.members])[self.member_offsets]
        some: Array = np.diff(several) > 0
        return some


def lake_sets(columns: LakeColumns, wanted: Array, referable: Array, null_is_a_value: bool = False) -> LakeSets:
    """The sets of the wanted columns; only those that are referable, too, can be referenced."""
    groups = lake_groups([segment.tokens for segment in columns.segments], columns.offsets[:-1], wanted)
    if null_is_a_value:
        groups = _with_null(groups, np.flatnonzero(wanted & (columns.nulls > 0)), len(columns))
    offsets, by_column, _ = transpose(groups.offsets, groups.columns, groups.columns, len(columns))
    chosen = np.flatnonzero(wanted)
    chosen = chosen[np.argsort(columns.rank[chosen], kind="stable")]
    offsets, by_column, _ = gather_lists(offsets, by_column, by_column, chosen)
    set_of, examples, _ = group_lists(offsets, by_column, len(groups.weights))
    sizes = _sums(groups.weights, offsets, by_column)[examples]
    order = np.lexsort((examples, sizes))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    members = np.argsort(number[set_of], kind="stable")
    member_offsets = running_sum(np.bincount(number[set_of], minlength=len(order)))
    sets = gather_lists(offsets, by_column, by_column, examples[order])[:2]
    can_be = np.zeros(len(order), bool)
    can_be[number[set_of[referable[chosen]]]] = True
    return _ordered(sizes[order], sets, groups.weights, can_be, (member_offsets, chosen[members]), referable)


def _with_null(groups: Groups, columns: Array, width: int) -> Groups:
    """One more token, the null, that all columns with a null hold."""
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
) -> LakeSets:
    """Groups that one set has alone become its private tokens; the rest are numbered from the rarest on."""
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
    return LakeSets(
        sizes, private, group_offsets, groups, weights[order], list_offsets, owners[kept], *members, referable
    )


def _sums(weights: Array, offsets: Array, groups: Array) -> Array:
    return np.diff(running_sum(weights[groups])[offsets])
