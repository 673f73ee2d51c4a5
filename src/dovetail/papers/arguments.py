"""What the algorithms take and return: an index, plain values, and matches with the counters of the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from dovetail._types import Array
from dovetail.api.open_index import OpenIndex
from dovetail.indexes.open_segment import OpenSegment
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import open_table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Index = OpenIndex | str | Path
"""An open index (`dovetail.open`), or its path."""
M = TypeVar("M")
W = TypeVar("W")
C = TypeVar("C", bound="DataclassInstance")


class ColumnMatch(NamedTuple):
    """A column of the lake that shares `overlap` distinct values with mine."""

    table: str
    column: str
    overlap: int


@dataclass(frozen=True)
class Answer(Generic[M, W]):
    """What was found, and the counters of the work."""

    matches: list[M]
    work: W


def segments_of(index: Index) -> Sequence[OpenSegment]:
    return (index if isinstance(index, OpenIndex) else OpenIndex(index)).segments


def column_of(values: Iterable[Any], segments: Sequence[OpenSegment]) -> InputColumn:
    """The values as a column: normalised as those of the lake, each once."""
    return open_table(list(values), segments=segments).columns[0]


def live_columns(segment: OpenSegment) -> Array:
    """Which columns belong to tables that are neither removed nor replaced."""
    alive: Array = segment.alive[segment.table_of]
    return alive


def column_matches(segment: OpenSegment, columns: Array, overlaps: Array) -> Iterator[ColumnMatch]:
    for column, overlap in zip(columns.tolist(), overlaps.tolist(), strict=True):
        table = segment.names[int(segment.table_of[column])]
        yield ColumnMatch(table, segment.catalog.column(column).column, overlap)


def best_first(matches: Iterable[ColumnMatch]) -> list[ColumnMatch]:
    """By falling overlap; ties by name."""
    return sorted(matches, key=lambda match: (-match.overlap, match.table, match.column))


def total(works: Sequence[C]) -> C:
    """The sums of counters, of at least one work."""
    counts = zip(*map(astuple, works), strict=True)
    return type(works[0])(*map(sum, counts))
