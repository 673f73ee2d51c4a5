"""The kernel that finds the columns with a starting value, and what each table can reach at most."""

from __future__ import annotations

from typing import Any

from dovetail._compile import compiled, int64
from dovetail._types import Array


@compiled
def find_hits(key: Any, postings: Any, items: Any, store: Any, allowed: Array, bounds: Array, hits: Array) -> int:
    """The columns that hold a starting value, as (table, start, column, entry); for each table the most it can reach.

    A row matches at most one tuple, so a start brings a table no more tuples than it has, nor than its posting items
    there. `bounds` must be zero.
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
                    total += items.set_counts[entry]
                i += 1
            bounds[table] += min(tuples, total)
    return found
