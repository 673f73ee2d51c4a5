"""Pairs of rows that join, and what follows from them: the rows of the joined table, and values to look at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.join.kernels import with_unmatched
from dovetail.join.keys import EQUAL, ORIGINS
from dovetail.tables.input_table import InputTable

_ROWS_EACH = 50  # rows with the same pair of values that are looked through for others; arbitrary, for time
SAMPLE = 5  # unmatched values, and least similar pairs, that are shown


class Matches(NamedTuple):
    """Pairs of rows that join, counted from 0, by left row and then by right row."""

    left: Array
    right: Array
    origin: Array | None = None  # positions in ORIGINS; None: all are equal
    similarity: Array | None = None  # None: all are 1

    def number_by(self, origin: int) -> int:
        """The number of pairs of one origin."""
        if self.origin is None:
            return len(self.left) if origin == EQUAL else 0
        return int(np.count_nonzero(self.origin == origin))

    def to_arrow(self) -> pa.Table:
        """The row numbers of each pair, with similarity and origin."""
        number = len(self.left)
        similarity = np.ones(number) if self.similarity is None else self.similarity
        origin = np.zeros(number, np.int8) if self.origin is None else self.origin
        names = pa.DictionaryArray.from_arrays(pa.array(origin), pa.array(ORIGINS)).cast(pa.string())
        return pa.table({"left_row": self.left, "right_row": self.right, "similarity": similarity, "origin": names})

    def places(self, how: str, left_rows: int, right_rows: int) -> pa.Table:
        """For each row of a join of this kind, the left and the right row; null if there is none."""
        if how in ("semi", "anti"):
            has_partner = np.zeros(left_rows, bool)
            has_partner[self.left] = True
            return pa.table({"left": np.flatnonzero(has_partner == (how == "semi"))})
        keep = np.array([how in ("left", "outer"), how in ("right", "outer")])
        rows = self.left, self.right
        if keep.any():
            rows = with_unmatched(*rows, left_rows, right_rows, keep)
        return pa.table(
            {side: pa.array(each, mask=each < 0) for side, each in zip(("left", "right"), rows, strict=True)}
        )


def of_pairs(values: pa.ChunkedArray, places: pa.Table) -> pa.ChunkedArray:
    """Values of the pairs of rows, for each joined row; null for rows without a match."""
    paired = pc.and_(places["left"].is_valid(), places["right"].is_valid())
    place = pc.cumulative_sum(paired.cast(pa.int64()))
    return values.take(pc.if_else(paired, pc.subtract(place, 1), None))


def unmatched_values(table: InputTable, names: tuple[str, ...], matched: Array) -> tuple[str, ...]:
    """A sample of the values of some columns whose rows are not among the matched ones."""
    if not names:
        return ()
    alone = np.ones(table.rows, bool)
    alone[matched] = False
    for name in names:
        alone &= table.column(name).codes() >= 0
    lost = table.text.select(list(names)).filter(pa.array(alone))
    keys = pc.binary_join_element_wise(*lost.columns, " | ") if len(names) > 1 else lost.column(0)
    return tuple(pc.unique(keys).slice(0, SAMPLE).to_pylist())


def least_certain(
    matches: Matches,
    origins: tuple[int, ...],
    tables: tuple[InputTable, InputTable],
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    most: int,
) -> list[dict[str, Any]]:
    """The pairs of values of these origins that are least similar, each once."""
    if matches.similarity is None or not any(map(matches.number_by, origins)):
        return []
    pairs = matches.to_arrow()
    found = pairs.filter(pc.is_in(pairs["origin"], pa.array([ORIGINS[each] for each in origins]))).sort_by("similarity")
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for row in found.slice(0, most * _ROWS_EACH).to_pylist():
        left = _values(tables[0], columns[0], row["left_row"])
        right = _values(tables[1], columns[1], row["right_row"])
        seen.setdefault((left, right), {"left": left, "right": right, "similarity": round(row["similarity"], 6)})
        if len(seen) == most:
            break
    return list(seen.values())


def _values(table: InputTable, names: tuple[str, ...], row: int) -> str:
    """Some columns of a row as one text."""
    return " ".join(filter(None, (table.text[name][row].as_py() for name in names)))
