"""The plain equi-join of two tables of raw strings on the tokens of one or more columns each."""

from __future__ import annotations

from collections.abc import Sequence
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
    on: tuple[tuple[str, str], ...]  # pairs of a left and a right column
    how: str
    left_rows: int
    right_rows: int
    matched_left: int
    matched_right: int
    unmatched: tuple[str, ...]  # a sample of the left table's keys

    def report(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "table"}, "rows": self.table.num_rows}


def equi_join(left: pa.Table, right: pa.Table, on: Sequence[tuple[str, str]], how: str) -> Joined:
    """Join on equal tokens in every pair of columns. Null never joins."""
    if how not in KINDS:
        raise InputError(f"There is no join {how!r}. The kinds are: {', '.join(KINDS)}.")
    codes = _key_codes([_common_codes(_tokens(left[mine]), _tokens(right[theirs])) for mine, theirs in on])
    _refuse_explosion(*codes)
    mine, theirs = ((a >= 0) & np.isin(a, b) for a, b in (codes, codes[::-1]))
    sides = [
        pa.table({"key": pa.array(code, mask=code < 0), side: np.arange(len(code))})
        for code, side in zip(codes, ("left", "right"), strict=True)
    ]
    places = sides[0].join(sides[1], keys="key", join_type=KINDS[how])
    order = [(side, "ascending") for side in ("left", "right") if side in places.column_names]
    places = places.sort_by(order)
    lost = left.select([pair[0] for pair in on]).filter(pa.array(~mine & (codes[0] >= 0)))
    unmatched = pc.unique(pc.binary_join_element_wise(*lost.columns, " | ") if len(on) > 1 else lost.column(0))
    return Joined(
        _assemble(left, right, places), tuple(on), how, left.num_rows, right.num_rows,
        int(mine.sum()), int(theirs.sum()), tuple(unmatched.slice(0, 5).to_pylist()),
    )  # fmt: skip


def _key_codes(columns: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The codes of several columns as one, the same on both sides for the same tuple; -1 where one of them is null."""
    left, right = columns[0]
    for more in columns[1:]:
        both, other = (np.concatenate(sides).astype(np.int64) for sides in ((left, right), more))
        _, codes = np.unique(both * (1 << 32) + other, return_inverse=True)
        codes[(both < 0) | (other < 0)] = -1
        left, right = codes[: len(left)], codes[len(left) :]
    return left, right


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
