"""From a table to the tables of the lake that can be appended to it, and which of them are copies or versions of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.thresholds import SHOWN_HIT
from dovetail.indexes.open_segment import OpenSegment
from dovetail.normalise.hashing import hash_tokens
from dovetail.tables.input_table import InputTable, open_table
from dovetail.union.alignment import Alignment
from dovetail.union.hits import UnionHit, UnionHits
from dovetail.union.measure import JudgedTable, UnionJudge

_JUDGED = 80  # tables whose columns are aligned with mine, or two for each hit; arbitrary
_FACTOR = 2
COPY, VERSION = "copy", "version"
_NEARLY_ALL = 0.9  # of the rows of both tables, in a copy; arbitrary
_MOST = 0.5  # of the rows of the smaller table, in a version; arbitrary
_TELLING = 0.9  # distinct rows, without which the same ones say nothing; arbitrary
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # odd: 2**64 divided by the golden ratio (Fibonacci hashing)


@dataclass(frozen=True)
class UnionRequest:
    """What to search with, and how many tables to find."""

    data: Any
    k: int = 10
    tables: tuple[str, ...] = ()
    include_self: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"`k` is {self.k!r}; it must be an integer of at least 1.")


def search_unions(segments: Sequence[OpenSegment], request: UnionRequest) -> UnionHits:
    """The tables whose rows could be appended, best first."""
    begun = time.perf_counter()
    mine = open_table(request.data, segments=segments)
    but = "" if request.include_self or mine.path is None else str(mine.path.resolve())
    judge = UnionJudge(LakeColumns(segments), mine, [segment.allowed(request.tables, but) for segment in segments])
    judged = judge.judge(judge.candidates(max(_JUDGED, _FACTOR * request.k)).tolist() if segments else [])
    judged.sort(key=lambda each: (-each.probability, each.table.name))
    good = [each for each in judged[: request.k] if each.probability >= SHOWN_HIT]
    hits = [_hit(rank, mine, each) for rank, each in enumerate(good, 1)]
    return UnionHits(hits, mine.name, time.perf_counter() - begun)


def _hit(rank: int, mine: InputTable, judged: JudgedTable) -> UnionHit:
    alignment = judged.alignment
    common, relation = common_rows(mine, judged.table, alignment)
    for_it, against = judged.reasons
    return UnionHit(
        rank, judged.table.name, judged.probability, alignment.pairs, alignment.only_mine, alignment.only_theirs,
        judged.table.rows, common, relation, for_it, against,
    )  # fmt: skip


def common_rows(mine: InputTable, theirs: InputTable, alignment: Alignment) -> tuple[int, str | None]:
    """How many of their distinct rows mine has too, and whether theirs is a copy or a version of mine.

    Rows are compared by the aligned columns, by at least half of mine, and only where they identify most rows.
    """
    pairs = alignment.pairs
    if 2 * len(pairs) < len(alignment.mine) or not pairs:
        return 0, None
    ones = _distinct_rows(mine, [pair.mine for pair in pairs])
    others = _distinct_rows(theirs, [pair.theirs for pair in pairs])
    common = len(np.intersect1d(ones, others, assume_unique=True))
    if not common or min(len(ones) / mine.rows, len(others) / theirs.rows) < _TELLING:
        return common, None
    if common >= _NEARLY_ALL * max(len(ones), len(others)):
        return common, COPY
    return common, VERSION if common >= _MOST * min(len(ones), len(others)) else None


def _distinct_rows(table: InputTable, names: Sequence[str]) -> Array:
    """A hash of each distinct row of these columns, by their normalised values."""
    rows = np.zeros(table.rows, np.uint64)
    for name in names:
        column = table.column(name)
        hashes = np.append(hash_tokens(column.tokens), np.uint64(0))  # the last one is that of null
        rows = rows * _GOLDEN + hashes[column.codes()]
    return np.unique(rows)
