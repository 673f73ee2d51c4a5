"""From a match of a key of several columns to a hit: what exactly matches, and how the join would come out."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.engine import KeyMatch
from dovetail.search.hit import Hit
from dovetail.search.keys.query_key import Numbers, QueryKey
from dovetail.search.overlap.evidence import SHOWN, cardinality_of, shorten


def key_hit(key: QueryKey, match: KeyMatch, rank: int) -> Hit:
    """The evidence for one match, from all rows of its table."""
    segment = match.segment
    theirs = [segment.rows.codes(column) for column in match.columns]
    mine = key.numbers.find([_as_mine(segment, key, j, match.columns[j], theirs[j]) for j in range(len(theirs))])
    # By the place of each tuple, in the order of the numbers; turned into that of the key.
    their_rows = np.bincount(mine[mine >= 0], minlength=key.size)[key.numbers.inverse]
    shared = their_rows > 0
    whole = np.logical_and.reduce([codes >= 0 for codes in theirs])
    there = Numbers([codes[whole] for codes in theirs])
    overlap = int(shared.sum())
    names = [column.column for column in segment.catalog.columns_of(match.table)]
    first = segment.catalog.column_range(match.table).start
    columns = tuple(names[column - first] for column in match.columns)
    return Hit(
        rank=rank,
        table=segment.names[match.table],
        on=tuple(column.name for column in key.columns),
        columns=columns,
        score=float(overlap),
        overlap=overlap,
        containment=overlap / key.size,
        jaccard=overlap / (key.size + len(there.known) - overlap),
        query_size=key.size,
        column_size=len(there.known),
        exact=True,
        cardinality=cardinality_of(key.counts[shared], their_rows[shared]),
        query_rows=key.rows,
        matched_rows=int(key.counts[shared].sum()),
        table_rows=len(mine),
        matched_table_rows=int(their_rows.sum()),
        joined_rows=int(key.counts @ their_rows),
        matched=_sample(key, shared),
        unmatched=_sample(key, ~shared),
        only_there=_only_there(segment, match, [codes[whole] for codes in theirs], there, mine[whole]),
        brings=tuple(name for name in names if name not in columns),
    )


def _as_mine(segment: OpenSegment, key: QueryKey, j: int, column: int, codes: Array) -> Array:
    """The rows of their column as places among the tokens of mine; -1 for what I do not have."""
    members, _ = segment.tokens.set_of(column)
    ids = segment.tokens.find(key.columns[j].tokens)
    places = np.full(len(members) + 1, -1, np.int64)  # the last one serves null
    known = np.flatnonzero(ids >= 0)
    at = np.searchsorted(members, ids[known])
    inside = at < len(members)
    inside[inside] = members[at[inside]] == ids[known][inside]
    places[at[inside]] = known[inside]
    found: Array = places[codes]
    return found


def _sample(key: QueryKey, chosen: Array) -> tuple[str, ...]:
    places = np.flatnonzero(chosen)
    places = places[np.argsort(-key.counts[places], kind="stable")][:SHOWN]
    return tuple(shorten(key.written(int(place))) for place in places)


def _only_there(
    segment: OpenSegment, match: KeyMatch, codes: list[Array], there: Numbers, mine: Array
) -> tuple[str, ...]:
    """Their most frequent tuples that I do not have; of equally frequent ones, those that come first."""
    foreign = np.flatnonzero(mine[there.first] < 0)
    foreign = foreign[np.lexsort((there.first[foreign], -there.counts[foreign]))][:SHOWN]
    shown = []
    for row in there.first[foreign].tolist():
        ids = [segment.tokens.set_of(c)[0][code[row]] for c, code in zip(match.columns, codes, strict=True)]
        shown.append(shorten(" | ".join(segment.tokens.tokens(np.array(ids)).to_pylist())))
    return tuple(shown)
