"""The plain equi-join of two tables of raw strings on the tokens of one column each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.profile import count_values
from dovetail.errors import InputError
from dovetail.normalise import decide, normalise

KINDS = {
    "inner": "inner",
    "left": "left outer",
    "right": "right outer",
    "outer": "full outer",
    "semi": "left semi",
    "anti": "left anti",
}
MOST_ROWS = 50_000_000
_SUFFIX = "_right"


@dataclass(frozen=True)
class Joined:
    """The joined table and what matched. Rows are in the order of the left table, then of the right one."""

    table: pa.Table
    on: tuple[str, str]
    how: str
    left_rows: int
    right_rows: int
    matched_left: int
    matched_right: int
    unmatched: tuple[str, ...]  # a sample of the left table's keys

    def report(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "table"}, "rows": self.table.num_rows}


def equi_join(left: pa.Table, right: pa.Table, on: tuple[str, str], how: str) -> Joined:
    """Join on equal tokens. Null never joins."""
    if how not in KINDS:
        raise InputError(f"There is no join {how!r}. The kinds are: {', '.join(KINDS)}.")
    keys = [_tokens(table[name]) for table, name in zip((left, right), on, strict=True)]
    codes = _common_codes(*keys)
    _refuse_explosion(*codes)
    mine, theirs = (pc.is_in(a, value_set=b.combine_chunks(), skip_nulls=True) for a, b in (keys, keys[::-1]))
    sides = [
        pa.table({"key": pa.array(code, mask=code < 0), side: np.arange(len(code))})
        for code, side in zip(codes, ("left", "right"), strict=True)
    ]
    places = sides[0].join(sides[1], keys="key", join_type=KINDS[how])
    order = [(side, "ascending") for side in ("left", "right") if side in places.column_names]
    places = places.sort_by(order)
    unmatched = pc.unique(left[on[0]].filter(pc.and_(pc.invert(mine), keys[0].is_valid()))).slice(0, 5)
    return Joined(
        _assemble(left, right, places), on, how, left.num_rows, right.num_rows,
        pc.sum(mine).as_py() or 0, pc.sum(theirs).as_py() or 0, tuple(unmatched.to_pylist()),
    )  # fmt: skip


def _tokens(column: pa.ChunkedArray) -> pa.ChunkedArray:
    column_type = decide(count_values(column).evidence)
    chunks = [normalise(chunk, column_type).cast(pa.large_string()) for chunk in column.chunks]
    return pa.chunked_array(chunks, pa.large_string())


def _common_codes(left: pa.ChunkedArray, right: pa.ChunkedArray) -> tuple[Any, Any]:
    """The tokens as numbers that mean the same on both sides; -1 for null."""
    both = pa.chunked_array([*left.chunks, *right.chunks], pa.large_string()).combine_chunks()
    both = both.combine_chunks() if isinstance(both, pa.ChunkedArray) else both
    codes = both.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes[: len(left)], codes[len(left) :]


def _refuse_explosion(left: Any, right: Any) -> None:
    """Group sizes are counted, not materialised."""
    size = max(left.max(initial=-1), right.max(initial=-1)) + 1
    counts = [np.bincount(codes[codes >= 0], minlength=size) for codes in (left, right)]
    rows = int(counts[0] @ counts[1])
    if rows > MOST_ROWS:
        raise InputError(f"Stopped before joining: the join would have {rows:,} rows, more than {MOST_ROWS:,}.")


def _assemble(left: pa.Table, right: pa.Table, places: pa.Table) -> pa.Table:
    found = left.take(places["left"])
    if "right" not in places.column_names:
        return found
    taken = set(left.column_names)
    for name, column in zip(right.column_names, right.take(places["right"]).columns, strict=True):
        title = name
        while title in taken:
            title += _SUFFIX
        taken.add(title)
        found = found.append_column(title, column)
    return found
