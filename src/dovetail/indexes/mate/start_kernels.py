"""Where a search starts: a thinned cover, and the columns that hold its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._storage.packing_kernels import packed_at
from dovetail._types import Array


@compiled
def drop_needless(tuples: Array, cover: Array, weights: Array) -> Array:
    """The cover without values all of whose tuples have another of its values; the most expensive go first."""
    chosen = np.zeros(len(weights), np.bool_)
    for i in range(len(cover)):
        chosen[cover[i]] = True
    having = np.zeros(len(tuples), np.int64)  # how many chosen values each tuple has
    sizes = np.zeros(len(weights) + 1, np.int64)
    for i in range(len(tuples)):
        for j in range(tuples.shape[1]):
            if chosen[tuples[i, j]] and not _repeated(tuples, i, j):
                having[i] += 1
                sizes[tuples[i, j] + 1] += 1
    offsets = np.cumsum(sizes)
    members = np.empty(offsets[-1], np.int64)
    cursor = offsets[:-1].copy()
    for i in range(len(tuples)):
        for j in range(tuples.shape[1]):
            if chosen[tuples[i, j]] and not _repeated(tuples, i, j):
                members[cursor[tuples[i, j]]] = i
                cursor[tuples[i, j]] += 1
    values = np.flatnonzero(chosen)
    for place in np.argsort(-weights[values]):
        value = values[place]
        needed = False
        for m in range(offsets[value], offsets[value + 1]):
            needed |= having[members[m]] == 1
        if needed:
            continue
        chosen[value] = False
        for m in range(offsets[value], offsets[value + 1]):
            having[members[m]] -= 1
    thinned = np.empty(len(tuples), tuples.dtype)
    for i in range(len(tuples)):
        found = -1
        for j in range(tuples.shape[1]):
            value = tuples[i, j]
            if chosen[value] and (found < 0 or weights[value] < weights[found]):
                found = value
        thinned[i] = found
    return thinned


@compiled
def _repeated(tuples: Array, i: int, j: int) -> bool:
    """Whether a value occurs further left in its tuple too."""
    repeated = False
    for other in range(j):
        repeated |= tuples[i, other] == tuples[i, j]
    return repeated


@compiled
def find_hits(key: Any, postings: Any, items: Any, store: Any, allowed: Array, bounds: Array, hits: Array) -> int:
    """The columns that hold a starting value, as (table, start, column, entry); for each table the most it can reach.

    A row matches at most one tuple, so a start brings a table no more tuples than it has posting items there, nor than
    it has tuples. `bounds` must be zero.
    """
    found = 0
    for start in range(len(key.starts)):
        value = key.starts[start]
        tuples = key.start_offsets[start + 1] - key.start_offsets[start]
        i, stop = postings.offsets[key.groups[value]], postings.offsets[key.groups[value] + 1]
        within = key.ids[value] - postings.group_tokens[key.groups[value]]
        while i < stop:
            table = store.table_of[postings.columns[i]]
            total = int64(0)
            while i < stop and store.table_of[postings.columns[i]] == table:
                if allowed[table]:
                    column = int64(postings.columns[i])
                    entry = items.set_offsets[column] + postings.positions[i] + within
                    hits[found] = (table, start, column, entry)
                    found += 1
                    total += packed_at(items.set_counts, entry)
                i += 1
            bounds[table] += min(tuples, total)
    return found
