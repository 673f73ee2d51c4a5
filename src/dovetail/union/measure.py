"""How likely a person would append a table of the lake to mine, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dovetail._cancel import check_cancelled
from dovetail._model import Model, load_model
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.reasons import Clauses, Group, Values, model_clauses
from dovetail.indexes.open_segment import find_table
from dovetail.search import engine
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.ranking.surroundings import Surroundings
from dovetail.tables.input_table import InputTable, lake_table
from dovetail.union.alignment import Alignment, align
from dovetail.union.summary import ColumnSummary, summaries

FEATURES = (
    "aligned_here", "aligned_there", "certain", "columns", "rare_names", "rare_values", "same_kinds", "key_shared",
    "width_differs", "called_alike",
)  # fmt: skip
_UNIQUE = 0.98  # distinct values by rows, of what could be a key; arbitrary, forgives a few repeated ones
_OVERLAPPING = 100  # columns of the lake for each of mine, by common values; arbitrary, ten times the usual hits


class Candidates:
    """What the lake knows of one table of mine, and the tables that share values or names of columns with it.

    The cost follows the tables that share something: posting lists give those with common values (JOSIE).
    """

    def __init__(self, lake: LakeColumns, table: InputTable, allowed: Array) -> None:
        """`allowed` says which columns belong to tables that may be hits."""
        self._lake, self._table, self._allowed = lake, table, allowed
        self.around = Surroundings(lake, table)

    @cached_property
    def rarity(self) -> Array:
        """How rare the values of each of my columns are in the lake."""
        columns = self._table.columns
        weights = [Evidence(self._lake.segments, column).weights if column.size else np.zeros(1) for column in columns]
        found: Array = np.array([float(each.mean()) for each in weights])
        return found

    def with_my_names(self) -> Array:
        """The tables with at least half of the names of my columns, the rarest names first."""
        lake, around = self._lake, self.around
        named = np.flatnonzero((around.same_name >= 0) & self._allowed)
        pairs = np.unique(np.stack([lake.table_of[named], around.same_name[named]], axis=1), axis=0)
        counts = np.bincount(pairs[:, 0], minlength=lake.tables)
        tables = np.flatnonzero(2 * counts >= max(len(self._table.names), 1))
        found: Array = tables[np.argsort(-around.shared_names[tables], kind="stable")]
        return found

    def best(self, number: int) -> Array:
        """The most promising tables, best first.

        Each column of mine promises the share of its values that a table has, times their rarity, and the rarity of its
        name, if a table has it.
        """
        lake, around = self._lake, self.around
        promise = np.zeros(lake.tables)
        for place, column in enumerate(self._table.columns):
            named = lake.table_of[np.flatnonzero((around.same_name == place) & self._allowed)]
            promise[np.unique(named)] += around.name_rarity[place]
            if column.size:
                columns, overlaps = engine.overlaps(lake.segments, column.tokens, _OVERLAPPING, 1, self._allowed)
                shares = np.zeros(lake.tables)
                np.maximum.at(shares, lake.table_of[columns], overlaps / column.size)
                promise += shares * self.rarity[place]
        promise += (promise > 0) * around.called_alike
        order = np.argsort(-promise, kind="stable")[:number]
        found: Array = order[promise[order] > 0]
        return found


@dataclass(frozen=True)
class JudgedTable:
    """A table of the lake, its columns aligned to mine."""

    number: int
    table: InputTable
    alignment: Alignment
    features: Array
    probability: float

    @property
    def reasons(self) -> Clauses:
        """What speaks for appending it and what against."""
        return model_clauses(_GROUPS, union_model(), self.features)


class UnionJudge:
    """Judges tables of the lake for one table of mine."""

    def __init__(self, lake: LakeColumns, mine: InputTable, allowed: Sequence[Array]) -> None:
        """`allowed` says of each segment which tables may be hits."""
        self.mine, self._lake = mine, lake
        columns = [mask[segment.table_of] for segment, mask in zip(lake.segments, allowed, strict=True)]
        self._candidates = Candidates(self._lake, mine, np.concatenate(columns) if columns else np.empty(0, bool))

    @cached_property
    def _summaries(self) -> tuple[ColumnSummary, ...]:
        return summaries(self.mine)

    def candidates(self, number: int) -> Array:
        """The numbers of the most promising tables."""
        return self._candidates.best(number)

    def with_my_names(self) -> Array:
        """The numbers of the tables with at least half of the names of my columns."""
        return self._candidates.with_my_names()

    def judge(self, tables: Sequence[int]) -> list[JudgedTable]:
        opened = [lake_table(*self._lake.table_at(number)) for number in tables]
        aligned = [self._aligned(table) for table in opened]
        features = [self._features(number, each) for number, each in zip(tables, aligned, strict=True)]
        likely = union_model().probability(np.array(features).reshape(-1, len(FEATURES))).tolist()
        return [JudgedTable(*each) for each in zip(tables, opened, aligned, features, likely, strict=True)]

    def _aligned(self, table: InputTable) -> Alignment:
        check_cancelled()
        return align(self._summaries, summaries(table))

    def number_of(self, table: str) -> int:
        """The number of a live table."""
        segment, number = find_table(self._lake.segments, table, "The index has no table")
        return number + int(self._lake.first_tables[list(self._lake.segments).index(segment)])

    def name_of(self, number: int) -> str:
        segment, place = self._lake.table_at(number)
        return segment.names[place]

    def _features(self, number: int, alignment: Alignment) -> Array:
        known = self._candidates
        around = known.around
        return table_features(alignment, known.rarity, around.name_rarity, float(around.called_alike[number]))


def union_model() -> Model:
    return load_model("tables", FEATURES, "union")


def table_features(alignment: Alignment, rarity: Array, name_rarity: Array, called_alike: float) -> Array:
    """A number for each of FEATURES, from 0 to about 1. `rarity` and `name_rarity`: of my columns, in the lake."""
    here, there = len(alignment.mine), len(alignment.theirs)
    mine = np.array([one for one, _ in alignment.places], np.int64)
    likely = np.array([alignment.probability[place] for place in alignment.places])
    total = float(likely.sum())
    keys = [_is_key(alignment.mine[one]) and _is_key(alignment.theirs[other]) for one, other in alignment.places]
    contained = alignment.of_pairs("contained")
    columns = {
        "aligned_here": total / max(here, 1),
        "aligned_there": total / max(there, 1),
        "certain": total / max(len(likely), 1),
        "columns": np.log2(1 + total) / 4,
        "rare_names": np.log2(1 + float((likely * alignment.of_pairs("same_name") * name_rarity[mine]).sum())) / 3,
        "rare_values": np.log2(1 + float((likely * contained * rarity[mine]).sum())) / 3,
        "same_kinds": float(alignment.of_pairs("same_kind").mean()) if len(likely) else 0.0,
        "key_shared": float(max((contained * keys).tolist(), default=0.0)),
        "width_differs": abs(here - there) / max(here, there, 1),
        "called_alike": called_alike,
    }
    assert tuple(columns) == FEATURES
    return np.array([float(value) for value in columns.values()])


def _is_key(column: ColumnSummary) -> bool:
    return column.unique >= _UNIQUE and column.filled >= _UNIQUE


_GROUPS: tuple[Group[Values], ...] = (
    Group(
        ("aligned_here", "aligned_there", "columns", "width_differs"),
        lambda of: f"{of['aligned_here']:.0%} of your columns have a counterpart",
        lambda of: (
            f"only {of['aligned_here']:.0%} of your columns have a counterpart"
            if of["aligned_here"] < of["aligned_there"]
            else f"only {of['aligned_there']:.0%} of its columns have a counterpart"
        ),
    ),
    Group(
        ("certain", "same_kinds"),
        lambda _: "the columns clearly correspond",
        lambda _: "it is uncertain which columns correspond",
    ),
    Group(
        ("rare_names",),
        lambda _: "columns have the same names, which few tables have",
        lambda _: "columns have no rare names in common",
    ),
    Group(
        ("rare_values",),
        lambda _: "columns have the same values, which few tables have",
        lambda _: "columns have few rare values in common",
    ),
    Group(
        ("key_shared",),
        lambda _: "its rows are about other things than yours",
        lambda of: f"{of['key_shared']:.0%} of the keys are the same: its rows are about the same things as yours",
    ),
    Group(
        ("called_alike",),
        lambda _: "the tables have similar names",
        lambda _: "the tables have different names",
    ),
)
