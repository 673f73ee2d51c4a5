"""Key candidates: columns, alone or a few together, that tell the rows of their table apart, with the reasons.

That values do not repeat is a fact; which of several such columns is meant as the key is a score of a few plain parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.graph.answer import Answer, named_lists
from dovetail.graph.columns import LakeColumns
from dovetail.graph.composite import natural_keys
from dovetail.graph.foreign_keys import ForeignKeys
from dovetail.graph.names import ANY_KEY, words
from dovetail.graph.score import Scorer
from dovetail.graph.tuples import RowTuples
from dovetail.indexes.tokens.format import running_sum

WEIGHTS = {
    "first": 0.35,  # the first of its table that tells its rows apart
    "referred": 0.25,  # other columns likely refer to it
    "named": 0.20,  # called like its table, or id, key, code
    "complete": 0.10,  # every row has a value
    "rows": 0.10,  # of few rows it says little
}
_AT_ONCE = 1 << 16
_SURE = 5  # rows that are half of full evidence
_NAMED = 0.5
_SECOND = 0.5  # several columns together, where one alone does


@dataclass(frozen=True)
class Candidate:
    """Columns that tell rows apart: how many columns refer to them, and what speaks for them."""

    columns: tuple[int, ...]
    distinct: int
    repeated: int  # rows with a combination that another row has, too
    empty: int  # rows without a value
    referring: int
    parts: dict[str, float]

    @property
    def score(self) -> float:
        return sum(WEIGHTS[part] * value for part, value in self.parts.items())


class KeyCandidates(Answer):
    """One row a candidate, best first."""

    schema = pa.schema(
        [
            ("table", pa.dictionary(pa.int32(), pa.string())),
            ("columns", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
            ("distinct", pa.int64()),
            ("score", pa.float64()),
            ("reasons", pa.list_(pa.string())),
        ]
    )

    def __init__(self, foreign_keys: ForeignKeys) -> None:
        self._columns = foreign_keys.columns
        rank = self._columns.rank
        found = _candidates(self._columns, Counter(link.referenced for link in foreign_keys.links()))
        self._found = sorted(found, key=lambda one: (-round(one.score, 4), rank[one.columns[0]], len(one.columns)))

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self):,} key candidates>"

    def batches(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), _AT_ONCE):
            part = self._found[start : start + _AT_ONCE]
            numbers = np.array([column for one in part for column in one.columns])
            offsets = running_sum(np.array([len(one.columns) for one in part]))
            yield pa.RecordBatch.from_arrays(
                [
                    *named_lists(self._columns, numbers, offsets),
                    pa.array([one.distinct for one in part], pa.int64()),
                    pa.array([round(one.score, 4) for one in part], pa.float64()),
                    pa.array([_reasons(one) for one in part], pa.list_(pa.string())),
                ],
                schema=self.schema,
            )


def _candidates(columns: LakeColumns, referring: Counter[tuple[int, ...]]) -> Iterator[Candidate]:
    scorer = Scorer(columns, columns.distinct)
    singles = np.flatnonzero(columns.keys & columns.alive)
    called = scorer.named_after_their_table(singles)
    for column, share in zip(singles.tolist(), called.tolist(), strict=True):
        distinct = int(columns.distinct[column])
        yield _candidate(columns, (column,), distinct, 0, referring, share, columns.leading[column])
    with_one = set(columns.table_of[singles].tolist())
    rows = RowTuples(columns)
    for key in natural_keys(columns, rows):
        first = _SECOND if int(columns.table_of[key[0]]) in with_one else 1.0
        share = float(scorer.named_after_their_table(np.array(key)).max())
        distinct, filled = rows.distinct(key)
        yield _candidate(columns, key, distinct, filled - distinct, referring, share, first)


def _candidate(
    columns: LakeColumns,
    key: tuple[int, ...],
    distinct: int,
    repeated: int,
    referring: Counter[tuple[int, ...]],
    called: float,
    first: float,
) -> Candidate:
    empty = int(columns.nulls[list(key)].max())
    any_key = any(word in ANY_KEY for column in key for word in words(columns.names[column].as_py()))
    parts = {
        "first": float(first),
        "referred": referring[key] / (referring[key] + 1),
        "named": max(called, _NAMED if any_key else 0.0),
        "complete": 0.0 if empty else 1.0,
        "rows": distinct / (distinct + _SURE),
    }
    return Candidate(key, distinct, repeated, empty, referring[key], parts)


def _reasons(one: Candidate) -> list[str]:
    together = "combination" if len(one.columns) > 1 else "value"
    reasons = [f"{one.distinct:,} rows, each with a {together} of its own"]
    if one.repeated:
        reasons.append(f"but {one.repeated:,} more repeat one")
    if one.parts["first"]:
        reasons.append("the first key of its table" if one.parts["first"] == 1 else "one column alone does, too")
    if one.referring:
        reasons.append(f"{one.referring:,} likely foreign key{'s refer' if one.referring > 1 else ' refers'} to it")
    if one.parts["named"] >= _NAMED:
        reasons.append("named like its table or like a key")
    if one.empty:
        reasons.append(f"but {one.empty:,} rows have no value")
    return reasons
