"""From a table to the tables of the lake that can be appended to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.open_segment import OpenSegment
from dovetail.search.overlap.search import POOR
from dovetail.tables.input_table import InputTable, open_table
from dovetail.union.hits import UnionHit, UnionHits
from dovetail.union.measure import JudgedTable, UnionJudge
from dovetail.union.same_rows import common_rows

_JUDGED = 80  # tables whose columns are aligned with mine, or two for each hit; arbitrary
_FACTOR = 2


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
    good = [each for each in judged[: request.k] if each.probability >= POOR]
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
