"""Join or union? What a search finds may rather be appended: both are probabilities that a person would accept it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.thresholds import LIKELY_UNION
from dovetail.search.hit import Hit
from dovetail.search.hits import Hits, TableToAppend
from dovetail.tables.input_table import InputTable
from dovetail.union.measure import UnionJudge

_MORE = 6  # tables that are no hits but have half of the names of columns, judged as well; arbitrary, for time
_JUDGED = 100  # hits, the best; arbitrary, for time: each takes 15 ms, and a threshold may find thousands


def with_unions(lake: Callable[[], LakeColumns], mine: InputTable, allowed: Sequence[Array], hits: Hits) -> Hits:
    """The hits, the best that have a probability of a join with that of a union; and other tables to append.

    `allowed` says of each segment which tables may be hits.
    """
    judged = [hit for hit in hits if hit.probability is not None and not hit.is_decided][:_JUDGED]
    columns = lake()
    if not columns.tables:
        return hits
    judge = UnionJudge(columns, mine, allowed)
    found = judge.judge([judge.number_of(hit.table) for hit in judged])
    likely = {hit.table: each.probability for hit, each in zip(judged, found, strict=True)}
    answer = hits.with_rows([_with_union(hit, likely.get(hit.table)) for hit in hits])
    answer.to_append = _others(judge, {table for hit in hits for table in (hit.table, *hit.copies)})
    return answer


def _with_union(hit: Hit, union: float | None) -> Hit:
    return replace(hit, union=union)


def _others(judge: UnionJudge, known: set[str]) -> tuple[TableToAppend, ...]:
    """Tables that are not known yet and whose rows could be appended, the likeliest first."""
    others = (number for number in judge.with_my_names().tolist() if judge.name_of(number) not in known)
    likely = [TableToAppend(each.table.name, each.probability) for each in judge.judge(list(islice(others, _MORE)))]
    return tuple(
        sorted((each for each in likely if each.probability > LIKELY_UNION), key=lambda each: -each.probability)
    )
