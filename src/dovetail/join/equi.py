"""The plain equi-join of two tables of raw strings on the tokens of one or more columns each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.profile import count_values
from dovetail.errors import InputError
from dovetail.frames import like, typed
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
    """What joined. Rows are in the order of the left table, then of the right one."""

    left: pa.Table = field(repr=False)  # of text, whole
    right: pa.Table = field(repr=False)
    places: pa.Table = field(repr=False)  # for each joined row, which of the left and which of the right table
    data: Any = field(repr=False)  # what the left table was made of; null where it was a file
    on: tuple[tuple[str, str], ...]  # pairs of a left and a right column
    how: str
    matched_left: int
    matched_right: int
    unmatched: tuple[str, ...]  # a sample of the left table's keys

    @property
    def left_rows(self) -> int:
        return int(self.left.num_rows)

    @property
    def right_rows(self) -> int:
        return int(self.right.num_rows)

    @property
    def rows(self) -> int:
        return int(self.places.num_rows)

    @cached_property
    def table(self) -> pa.Table:
        """The joined rows as text, as it stands in the files."""
        return like(self.left, self.places["left"], self._of_right(self.right))

    @cached_property
    def frame(self) -> Any:
        """The joined rows as the kind of frame that went in, with its types; an Arrow table for a file."""
        mine = typed(self.left) if self.data is None else self.data
        return like(mine, self.places["left"], self._of_right(typed(self.right)))

    def _of_right(self, columns: pa.Table) -> pa.Table:
        if "right" not in self.places.column_names:
            return pa.table({})
        taken = set(self.left.column_names)
        names = []
        for name in columns.column_names:
            while name in taken:
                name += _SUFFIX
            taken.add(name)
            names.append(name)
        return columns.take(self.places["right"]).rename_columns(names)

    def report(self) -> dict[str, Any]:
        names = ("on", "how", "left_rows", "right_rows", "matched_left", "matched_right", "unmatched", "rows")
        return {name: getattr(self, name) for name in names}


def equi_join(
    left: pa.Table,
    right: pa.Table,
    on: Sequence[tuple[str, str]],
    how: str,
    data: Any = None,
    first: int | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Joined:
    """Join on equal tokens in every pair of columns. Null never joins. With `first`, only so many rows are joined.

    With a `mapping`, a token of the left table joins the one that it is mapped to, and no other.
    """
    if how not in KINDS:
        raise InputError(f"There is no join {how!r}. The kinds are: {', '.join(KINDS)}.")
    tokens = [(_tokens(left[mine]), _tokens(right[theirs])) for mine, theirs in on]
    if mapping is not None:
        tokens = [(_mapped(mine, mapping), theirs) for mine, theirs in tokens]
    codes = _key_codes([_common_codes(*pair) for pair in tokens])
    mine, theirs = ((a >= 0) & np.isin(a, b) for a, b in (codes, codes[::-1]))
    lost = left.select([pair[0] for pair in on]).filter(pa.array(~mine & (codes[0] >= 0)))
    if first is not None:
        codes[0][np.flatnonzero(mine)[first:]] = -1
    _refuse_explosion(*codes)
    sides = [
        pa.table({"key": pa.array(code, mask=code < 0), side: np.arange(len(code))})
        for code, side in zip(codes, ("left", "right"), strict=True)
    ]
    places = sides[0].join(sides[1], keys="key", join_type=KINDS[how])
    order = [(side, "ascending") for side in ("left", "right") if side in places.column_names]
    unmatched = pc.unique(pc.binary_join_element_wise(*lost.columns, " | ") if len(on) > 1 else lost.column(0))
    return Joined(
        left, right, places.sort_by(order).slice(0, first), data, tuple(on), how,
        int(mine.sum()), int(theirs.sum()), tuple(unmatched.slice(0, 5).to_pylist()),
    )  # fmt: skip


def _key_codes(columns: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The codes of several columns as one, the same on both sides for the same tuple; -1 where one of them is null."""
    left, right = (np.array(codes) for codes in columns[0])
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


def _mapped(tokens: pa.ChunkedArray, mapping: Mapping[str, str]) -> pa.ChunkedArray:
    """Tokens that are not mapped become null."""
    mine, theirs = (pa.array(side, pa.large_string()) for side in (list(mapping), list(mapping.values())))
    return theirs.take(pc.index_in(tokens, mine)) if len(mine) else pa.nulls(len(tokens), pa.large_string())


def _common_codes(left: pa.ChunkedArray, right: pa.ChunkedArray) -> tuple[Any, Any]:
    """The tokens as numbers that mean the same on both sides; -1 for null."""
    both = pa.chunked_array([*left.chunks, *right.chunks], pa.large_string()).combine_chunks()
    both = both.combine_chunks() if isinstance(both, pa.ChunkedArray) else both
    codes = both.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes[: len(left)].copy(), codes[len(left) :]


def _refuse_explosion(left: Any, right: Any) -> None:
    """Group sizes are counted, not materialised."""
    size = max(left.max(initial=-1), right.max(initial=-1)) + 1
    counts = [np.bincount(codes[codes >= 0], minlength=size) for codes in (left, right)]
    rows = int(counts[0] @ counts[1])
    if rows > MOST_ROWS:
        raise InputError(f"Stopped before joining: the join would have {rows:,} rows, more than {MOST_ROWS:,}.")
