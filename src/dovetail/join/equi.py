"""The plain equi-join of two tables on the tokens of one or more columns each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.best_predicate.kernels import rows_by_code
from dovetail.join.joined import MOST_ROWS, Joined, Matches, check_kind
from dovetail.join.pair_kernels import matches
from dovetail.tables.query import QueryColumn
from dovetail.tables.side import Side

Pair = tuple[str, str]


def equi_join(
    left: Side,
    right: Side,
    on: Sequence[Pair],
    how: str,
    first: int | None = None,
    most_rows: int = MOST_ROWS,
    mapping: Mapping[str, str] | None = None,
) -> Joined:
    """Join on equal tokens in every pair of columns. Null never joins.

    With `first`, only so many rows are joined. Group sizes are counted before anything is joined: a join of more than
    `most_rows` rows is refused. With a `mapping`, a token of the left table joins the one that it is mapped to, and no
    other.
    """
    check_kind(how)
    for pair in on:
        for one, name in zip((left, right), pair, strict=True):
            if name not in one.names:
                raise UnknownName(unknown(f"{one.name} has no column", name, one.names))
    mine, theirs, size = _key_codes([_common_codes(left.column(a), right.column(b), mapping) for a, b in on])
    counts = [np.bincount(codes[codes >= 0], minlength=size) for codes in (mine, theirs)]
    has_partner = np.append(counts[1], 0)[mine] > 0  # the last place is for null, whose code is -1
    matched = int(has_partner.sum()), int(counts[1][counts[0] > 0].sum())
    if first is not None:
        mine = np.where(np.cumsum(has_partner) <= first, mine, -1)
        counts[0] = np.bincount(mine[mine >= 0], minlength=size)
    rows = int(counts[0] @ counts[1])
    _refuse_explosion(rows, how, most_rows, (left.rows - matched[0], right.rows - matched[1]))
    starts = np.concatenate([[0], np.cumsum(counts[1])])
    lefts, rights = matches(mine, starts, rows_by_code(theirs, size), rows)
    reads = None if mapping is None else (tuple(a for a, _ in on), tuple(b for _, b in on))
    return Joined(left, right, Matches(lefts, rights), tuple(on), how, matched, first, reads)


def _common_codes(left: QueryColumn, right: QueryColumn, mapping: Mapping[str, str] | None) -> tuple[Array, Array, int]:
    """The tokens as numbers that mean the same on both sides; -1 for null."""
    mine = left.tokens if mapping is None else _mapped(left.tokens, mapping)
    both = pa.chunked_array([mine, right.tokens], pa.large_string()).combine_chunks().dictionary_encode()
    numbers = np.append(both.indices.fill_null(-1).to_numpy(), -1)  # the last place is for null, whose code is -1
    rows = np.append(numbers[: left.size], -1)[left.codes()], numbers[left.size :][right.codes()]
    return *rows, len(both.dictionary)


def _mapped(tokens: pa.Array, mapping: Mapping[str, str]) -> pa.Array:
    """Tokens that are not mapped become null."""
    mine, theirs = (pa.array(side, pa.large_string()) for side in (list(mapping), list(mapping.values())))
    return theirs.take(pc.index_in(tokens, mine)) if len(mine) else pa.nulls(len(tokens), pa.large_string())


def _key_codes(columns: list[tuple[Array, Array, int]]) -> tuple[Array, Array, int]:
    """The codes of several columns as one, the same on both sides for the same tuple; -1 where one of them is null."""
    left, right, size = columns[0]
    for others in columns[1:]:
        both, other = (np.concatenate(sides).astype(np.int64) for sides in ((left, right), others[:2]))
        encoded = pa.array(both * others[2] + other, mask=(both < 0) | (other < 0)).dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy()
        left, right, size = codes[: len(left)], codes[len(left) :], len(encoded.dictionary)
    return left, right, size


def _refuse_explosion(rows: int, how: str, most: int, alone: tuple[int, int]) -> None:
    rows += (alone[0] if how in ("left", "outer") else 0) + (alone[1] if how in ("right", "outer") else 0)
    if rows > most and how not in ("semi", "anti"):
        raise InputError(f"Stopped before joining: the join would have {rows:,} rows, more than {most:,}.")
