"""Candidate keys: columns, alone or a few together, that identify the rows of their table, with the reasons.

That values do not repeat is a fact; which of several such columns is meant as the key is a score of a few simple parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.names import KEY_WORDS, words
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph.arrow_answer import ArrowAnswer, list_members, named_lists
from dovetail.graph.composite_keys import NaturalKey
from dovetail.graph.foreign_keys import ForeignKeyTable
from dovetail.graph.row_tuples import Columns, RowTuples
from dovetail.graph.score import Scorer
from dovetail.indexes.tokens.format import running_sum

WEIGHTS = {  # set by hand; only the order of candidates depends on them
    "first": 0.35,  # the first of its table that identifies its rows
    "referred": 0.25,  # other columns likely refer to it
    "named": 0.20,  # named after its table, or id, key, code
    "complete": 0.10,  # every row has a value
    "rows": 0.10,  # a few rows say little
}
_AT_ONCE = 1 << 16  # rows in a batch
_HALF_EVIDENCE = 5  # rows that count as half of full evidence
_NAMED = 0.5
_SECOND = 0.5  # several columns together, where one alone is enough

_CERTAIN = 1.0  # the score of a declared primary key
FIRST, SECOND, NAMED, PRIMARY, UNIQUE = 1, 2, 4, 8, 16
"""Evidence for a key, as bits."""


@dataclass(frozen=True)
class CandidateKeyTable:
    """Candidate keys as arrays, best first; `offsets` bounds the columns of each."""

    offsets: Array
    columns: Array
    distinct: Array
    repeated: Array  # rows whose combination occurs in another row, too
    empty: Array  # rows without a value
    referring: Array  # likely foreign keys that refer to it
    score: Array
    evidence: Array

    def __len__(self) -> int:
        return len(self.score)

    def take(self, places: Array) -> CandidateKeyTable:
        """The candidates at these places."""
        offsets, members = list_members(self.offsets, places)
        rest = {f.name: getattr(self, f.name)[places] for f in fields(self)[2:]}
        return CandidateKeyTable(offsets, self.columns[members], **rest)


def candidate_keys(
    columns: LakeColumns, scorer: Scorer, natural: Sequence[NaturalKey], foreign_keys: ForeignKeyTable
) -> CandidateKeyTable:
    """Single columns without repeated values, and natural keys of several."""
    singles = np.flatnonzero(columns.keys & columns.alive)
    with_one = set(columns.table_of[singles].tolist())
    keys: list[Columns] = [*((column,) for column in singles.tolist()), *(key.columns for key in natural)]
    first = [
        *columns.leading[singles].astype(float).tolist(),
        *(_SECOND if int(columns.table_of[key.columns[0]]) in with_one else 1.0 for key in natural),
    ]
    offsets = running_sum(np.array([len(key) for key in keys], np.int64))
    members = np.array([column for key in keys for column in key], np.int64)
    distinct = np.concatenate([columns.distinct[singles], np.array([key.distinct for key in natural], np.int64)])
    repeated = np.array([0] * len(singles) + [key.rows - key.distinct for key in natural], np.int64)
    empty = _reduced(np.maximum, columns.nulls[members], offsets)
    refer = _referring(offsets, members, foreign_keys)
    key_word = np.array([any(word in KEY_WORDS for word in words(n)) for n in columns.distinct_names.to_pylist()], bool)
    named = np.maximum(scorer.references.named_after_table[members], _NAMED * key_word[columns.name_of[members]])
    parts = {
        "first": np.array(first),
        "referred": refer / (refer + 1),
        "named": _reduced(np.maximum, named, offsets),
        "complete": (empty == 0).astype(float),
        "rows": distinct / (distinct + _HALF_EVIDENCE),
    }
    score = np.round(sum((WEIGHTS[part] * values for part, values in parts.items()), np.zeros(len(keys))), 4)
    evidence = FIRST * (parts["first"] == 1) + SECOND * (parts["first"] == _SECOND) + NAMED * (parts["named"] >= _NAMED)
    found = CandidateKeyTable(offsets, members, distinct, repeated, empty, refer, score, evidence)
    return _best_first(columns, found)


def with_foreign_keys(
    columns: LakeColumns, found: CandidateKeyTable, foreign_keys: ForeignKeyTable
) -> CandidateKeyTable:
    """The same candidates where other foreign keys refer to them."""
    refer = _referring(found.offsets, found.columns, foreign_keys)
    change = WEIGHTS["referred"] * (refer / (refer + 1) - found.referring / (found.referring + 1))
    score = np.where(found.evidence & PRIMARY, found.score, np.round(found.score + change, 4))
    return _best_first(columns, replace(found, referring=refer, score=score))


def with_declared(columns: LakeColumns, found: CandidateKeyTable) -> CandidateKeyTable:
    """The same candidates and those that databases declare, whatever their values: primary keys come first."""
    declared = {frozenset(key): (key, is_primary) for key, is_primary in columns.declared_keys()}
    if not declared:
        return found
    places = {frozenset(key): place for place, key in enumerate(_lists(found.offsets, found.columns))}
    found = _joined(found, _counted(columns, [key for own, (key, _) in declared.items() if own not in places]))
    score, evidence = found.score.copy(), found.evidence.copy()
    for place, key in enumerate(_lists(found.offsets, found.columns)):
        _, is_primary = declared.get(frozenset(key), (key, None))
        if is_primary is not None:
            evidence[place] |= PRIMARY if is_primary else UNIQUE
            score[place] = _CERTAIN if is_primary else score[place]
    return _best_first(columns, replace(found, score=score, evidence=evidence))


def _counted(columns: LakeColumns, keys: Sequence[Columns]) -> CandidateKeyTable:
    """Columns that repeat values, or that nobody has tried together, as candidates without a score."""
    rows = RowTuples(columns)
    counts = np.array([rows.distinct(key) for key in keys], np.int64).reshape(-1, 2)
    empty = np.array([int(columns.nulls[list(key)].max()) for key in keys], np.int64)
    nothing = np.zeros(len(keys), np.int64)
    return CandidateKeyTable(
        running_sum(np.array([len(key) for key in keys], np.int64)),
        np.array([column for key in keys for column in key], np.int64),
        counts[:, 0], counts[:, 1] - counts[:, 0], empty, nothing, nothing.astype(np.float64), nothing,
    )  # fmt: skip


def _joined(one: CandidateKeyTable, other: CandidateKeyTable) -> CandidateKeyTable:
    parts = {f.name: np.concatenate([getattr(one, f.name), getattr(other, f.name)]) for f in fields(one)[1:]}
    return CandidateKeyTable(running_sum(np.append(np.diff(one.offsets), np.diff(other.offsets))), **parts)


def _referring(offsets: Array, members: Array, foreign_keys: ForeignKeyTable) -> Array:
    """How many likely foreign keys refer to each list of columns."""
    counts = Counter(_lists(foreign_keys.offsets, foreign_keys.referenced, foreign_keys.score >= LIKELY_REFERENCE))
    return np.array([counts[key] for key in _lists(offsets, members)], np.int64)


def _lists(offsets: Array, members: Array, chosen: Array | None = None) -> Iterator[Columns]:
    ends, columns = offsets.tolist(), members.tolist()
    places = range(len(ends) - 1) if chosen is None else np.flatnonzero(chosen).tolist()
    return (tuple(columns[ends[place] : ends[place + 1]]) for place in places)


def _best_first(columns: LakeColumns, found: CandidateKeyTable) -> CandidateKeyTable:
    rank = columns.rank[found.columns[found.offsets[:-1]]]
    return found.take(np.lexsort((np.diff(found.offsets), rank, -found.score)))


def _reduced(function: np.ufunc, values: Array, offsets: Array) -> Array:
    reduced: Array = function.reduceat(values, offsets[:-1]) if len(offsets) > 1 else values
    return reduced


class CandidateKeys(ArrowAnswer):
    """One row for each candidate, best first."""

    schema = pa.schema(
        [
            ("table", pa.dictionary(pa.int32(), pa.string())),
            ("columns", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
            ("distinct", pa.int64()),
            ("score", pa.float64()),
            ("reasons", pa.list_(pa.string())),
        ]
    )
    rows_are = "candidate keys"

    def __init__(self, columns: LakeColumns, found: CandidateKeyTable, tables: str | None = None) -> None:
        """Those of the tables that match the glob."""
        self._columns = columns
        if tables is not None:
            found = found.take(np.flatnonzero(columns.of_tables(tables)[found.columns[found.offsets[:-1]]]))
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        wanted = len(self) if limit is None else min(limit, len(self))
        for start in range(0, wanted, _AT_ONCE):
            part = self._found.take(np.arange(start, min(start + _AT_ONCE, wanted)))
            yield pa.RecordBatch.from_arrays(
                [
                    *named_lists(self._columns, part.columns, part.offsets),
                    pa.array(part.distinct, pa.int64()),
                    pa.array(part.score, pa.float64()),
                    pa.array([_reasons(part, place) for place in range(len(part))], pa.list_(pa.string())),
                ],
                schema=self.schema,
            )


def _reasons(part: CandidateKeyTable, place: int) -> list[str]:
    evidence, referring = int(part.evidence[place]), int(part.referring[place])
    together = "combination" if part.offsets[place + 1] - part.offsets[place] > 1 else "value"
    reasons = [f"{int(part.distinct[place]):,} rows, each with a {together} of its own"]
    if evidence & (PRIMARY | UNIQUE):
        reasons.insert(0, "declared as the primary key" if evidence & PRIMARY else "declared unique")
    if part.repeated[place]:
        reasons.append(f"but {int(part.repeated[place]):,} more repeat one")
    if evidence & (FIRST | SECOND):
        reasons.append("the first key of its table" if evidence & FIRST else "a single column is enough")
    if referring:
        reasons.append(f"{referring:,} likely foreign key{'s refer' if referring > 1 else ' refers'} to it")
    if evidence & NAMED:
        reasons.append("named like its table or like a key")
    if part.empty[place]:
        reasons.append(f"but {int(part.empty[place]):,} rows have no value")
    return reasons
