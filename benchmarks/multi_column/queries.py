"""Query sets: keys of tables of the lake itself, the table being no hit of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.indexes.open_segment import OpenSegment

Array = npt.NDArray[Any]
_KINDS = ("text", "mixed", "integer", "date", "timestamp")
_MOST_TUPLES = 10_000


@dataclass(frozen=True)
class Question:
    """A key: the tokens of each column, and its distinct tuples."""

    table: int
    width: int
    tokens: list[pa.Array]
    tuples: Array

    def allowed(self, tables: int) -> Array:
        mask = np.ones(tables, bool)
        mask[self.table] = False
        return mask


def draw(
    segment: OpenSegment, width: int, number: int, seed: int, least_rows: int = 10, among: list[int] | None = None
) -> list[Question]:
    """Keys of `width` columns from tables drawn at random: columns of text, whole numbers or dates, drawn at random."""
    random = np.random.default_rng(seed + width)
    tables = random.permutation(len(segment.names) if among is None else among)
    found: list[Question] = []
    for table in tables.tolist():
        if len(found) == number:
            break
        found += _ask(segment, table, width, random, least_rows)
    return found


def _ask(
    segment: OpenSegment, table: int, width: int, random: np.random.Generator, least_rows: int
) -> Iterator[Question]:
    places = segment.catalog.column_range(table)
    records = segment.catalog.columns_of(table)
    good = [p for p, record in zip(places, records, strict=True) if record.type.kind in _KINDS and record.distinct > 2]
    if len(good) < width or records[0].rows < least_rows:
        return
    chosen = sorted(random.choice(good, width, replace=False).tolist())
    codes = np.stack([segment.rows.codes(column) for column in chosen], axis=1)
    tuples = np.unique(codes[(codes >= 0).all(axis=1)], axis=0)[:_MOST_TUPLES]
    if len(tuples) >= least_rows // 2:
        tokens = [segment.tokens.tokens(segment.tokens.set_of(column)[0]) for column in chosen]
        yield Question(table, width, tokens, tuples)
