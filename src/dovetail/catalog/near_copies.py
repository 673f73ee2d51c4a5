"""Which tables are near-copies of each other, by what the catalog says of them.

Two tables are near-copies if nearly all of their columns have the same names, and they are

- *copies*: nearly all of their columns have nearly the same values, or those in question do, which are not mere
  numbers (the same file under two names, a list in several languages); or
- *editions*: their paths differ only in numbers or in the name of one folder (daily reports, yearly editions), and
  their columns have names of their own, not those that Dovetail gives where there is no header.

Values are compared by profile: as many distinct ones, the same least and the same greatest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail.catalog.records import CatalogReader, ColumnRecord
from dovetail.lake.layout import is_made_up

NEARLY = 0.8  # of what two tables have, so much is in both; arbitrary, copies are edited little
_NUMBER = re.compile(r"\d+")
_TELLING = re.compile(r"[^\W\d_]|(?<!\d)(?:19|20)\d\d")  # a letter or a year: other numbers name any table
_NUMBERS = ("integer", "real", "boolean")

Kinship = Literal["copy", "edition"]


class ValueRange(NamedTuple):
    """What a profile says of the values of a column."""

    kind: str
    distinct: int
    minimum: str
    maximum: str

    def is_nearly(self, other: ValueRange) -> bool:
        few, many = sorted((self.distinct, other.distinct))
        same = (self.kind, self.minimum, self.maximum) == (other.kind, other.minimum, other.maximum)
        return same and few >= NEARLY * many


@dataclass(frozen=True)
class Outline:
    """What near-copies of a table are recognised by."""

    path: str
    columns: dict[str, ValueRange]

    @classmethod
    def of(cls, path: str, columns: Iterable[ColumnRecord]) -> Outline:
        ranges = {c.column: ValueRange(c.type.kind, c.distinct, c.minimum, c.maximum) for c in columns}
        return cls(path, ranges)

    @cached_property
    def series(self) -> frozenset[str]:
        """The paths of its editions, with numbers and one folder left open; none if its own name is a mere number."""
        *folders, file = self.path.split("/")
        stem = file.partition(".")[0]
        if not _TELLING.search(stem):
            return frozenset()
        *folders, file = (_NUMBER.sub("#", part) for part in (*folders, file))
        opened = ("/".join((*folders[:place], "*", *folders[place + 1 :], file)) for place in range(len(folders)))
        return frozenset((*opened, "/".join((*folders, file))))

    def related(self, other: Outline, columns: Sequence[str] = ()) -> Kinship | None:
        """Whether the other table is a copy or an edition; `columns` are those in question, if both have them."""
        both = self.columns.keys() & other.columns.keys()
        if not both or len(both) < NEARLY * len(self.columns.keys() | other.columns.keys()):
            return None
        same = {name for name in both if self.columns[name].is_nearly(other.columns[name])}
        in_question = both.issuperset(columns) and same.issuperset(columns)
        if len(same) >= NEARLY * len(both) or (
            in_question and any(self.columns[name].kind not in _NUMBERS for name in columns)
        ):
            return "copy"
        named = not all(map(is_made_up, both))
        return "edition" if named and self.series & other.series else None


def outlines(catalog: CatalogReader, tables: Sequence[int]) -> list[Outline]:
    """Those of some tables of a segment; what is asked of many tables is read at once."""
    chosen = catalog.tables.select(("path", "first_column", "columns")).take(pa.array(tables, pa.int64()))
    firsts, widths = (chosen[name].to_numpy() for name in ("first_column", "columns"))
    ends = np.cumsum(widths)
    places = np.arange(int(widths.sum())) + np.repeat(firsts - (ends - widths), widths)
    read = catalog.columns.select(("column", *ValueRange._fields)).take(pa.array(places))
    names, *ranges = (read[name].to_pylist() for name in read.column_names)
    columns = list(zip(names, map(ValueRange._make, zip(*ranges, strict=True)), strict=True))
    spans = zip(chosen["path"].to_pylist(), (ends - widths).tolist(), ends.tolist(), strict=True)
    return [Outline(path, dict(columns[begin:end])) for path, begin, end in spans]


class CopyGroups:
    """Puts near-copies into one group: that of the first table that a later one is a near-copy of."""

    def __init__(self) -> None:
        self._first: list[Outline] = []
        self._by_clue: dict[object, list[int]] = {}

    def __len__(self) -> int:
        return len(self._first)

    def add(self, table: Outline, columns: Sequence[str] = ()) -> int:
        """The number of the table's group; `columns` are those in question."""
        ends = ((name, table.columns[name].minimum, table.columns[name].maximum) for name in columns or table.columns)
        clues: list[object] = [*table.series, *ends]
        for group in sorted({group for clue in clues for group in self._by_clue.get(clue, ())}):
            if self._first[group].related(table, columns):
                return group
        for clue in clues:
            self._by_clue.setdefault(clue, []).append(len(self._first))
        self._first.append(table)
        return len(self._first) - 1
