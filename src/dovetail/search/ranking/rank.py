"""From a table to the tables that join with it best, where no column is named.

1. Candidates: for each column of mine, the columns of the lake that share most values with it; where so many contain
   its values that the overlap decides nothing, all of these; and columns of the same name.
2. A shortlist of tables, by the model with what the catalog knows of the columns.
3. The same model with what is counted, for the pairs of columns of mine and of these tables.
4. The same for several pairs together, where the best one repeats rows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._cancel import check_cancelled
from dovetail._model import Model
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.search import engine
from dovetail.search.engine import Match
from dovetail.search.hit import Hit
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.ranking.composite import CompositeKeys
from dovetail.search.ranking.copies import Shortlist, without_copies
from dovetail.search.ranking.features import FEATURES, Describer, Pairs
from dovetail.search.ranking.surroundings import Surroundings
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

TRIED_TYPES = ("text", "mixed", "integer", "date", "timestamp")
"""Columns of other kinds (fractions, booleans, nothing) are equal by chance or not at all."""
MOST_OVERLAP = 20  # columns of the lake for each of mine, by overlap alone; arbitrary, twice the usual number of hits
_CONTAINED = Fraction(1, 2)  # of my values, in columns that are candidates however many there are
_SKETCHED = (Fraction(1, 2), Fraction(1, 10))  # of my values, in columns that sketches find; arbitrary
_SAME_NAME = 40  # columns of the lake for each of mine, by name alone, the nearest first
_DESCRIBED = 300  # columns of the lake for each of mine that get all features
_SHORTLIST = 30  # tables whose columns are compared value by value


class Ranking(NamedTuple):
    """Tables, best first: the best pair of columns of each, or several together."""

    pairs: Pairs
    features: Array
    composites: list[Hit | None]  # of each table that joins better on several columns
    groups: dict[int, int]  # of near-copies, by table


class Ranker:
    """Ranks the tables of the lake for one table of mine."""

    def __init__(
        self,
        lake: LakeColumns,
        table: InputTable,
        allowed: Array,
        evidence: Sequence[Evidence],
        floors: Sequence[int],
        rejected: Container[tuple[int, int]] = (),
        rejects: Callable[[Hit], bool] = lambda _: False,
    ) -> None:
        """`allowed` says which columns may be hits; of each of my columns, its evidence and the least overlap.

        `rejected` are pairs of a column of mine and one of the lake that are never offered; `rejects` says the same of
        several pairs together.
        """
        self.lake, self._table, self._allowed = lake, table, allowed
        self._evidence, self._floors, self._rejected, self._rejects = evidence, floors, rejected, rejects
        self._around = Surroundings(lake, table)
        self._describer = Describer(lake, table, self._around)
        self._candidates: dict[int, tuple[Array, Array]] = {}  # of each column of mine: columns and overlaps
        self._are_given = False  # whether no other columns of the lake count than the candidates

    def rank(
        self,
        model: Model,
        tables: int | None,
        asked: dict[int, list[Match]] | None = None,
        copies: bool = True,
        fast: bool = False,
        several: bool = True,
    ) -> Ranking:
        """The best columns of each table: of at least so many, or of all. `asked`: the only candidates. With `copies`,
        near-copies are like others. With `several`, columns join together where that is better.

        With `fast`, candidates come from sketches, and no more tables are counted than are asked for.
        """
        self.find(asked, fast)
        best = self.promising(model)
        least = 0 if fast else _SHORTLIST
        number = len(best) if tables is None else max(tables, least)
        shortlist = (
            Shortlist(self.lake.table_of[best[:number]], {}) if copies else without_copies(self.lake, best, number)
        )
        pairs, features = self.counted(shortlist.tables)
        odds = model.log_odds(features)
        chosen = self._best_of_each_table(pairs, odds)
        keys = CompositeKeys(self.lake, self._table, model, pairs, features, self._rejects)
        composites = keys.better(chosen.tolist()) if several and not fast else {}
        for place, composite in composites.items():
            odds[place], features[place] = composite.log_odds, composite.features
        chosen = self._best_first(pairs, odds, chosen)
        hits = [composites[place].hit if place in composites else None for place in chosen.tolist()]
        return Ranking(pairs.take(chosen), features[chosen], hits, shortlist.groups)

    def find(self, asked: dict[int, list[Match]] | None = None, fast: bool = False) -> None:
        """Find the candidates, or take those of another search."""
        if asked is None:
            tried = (place for place, column in enumerate(self._table.columns) if is_tried(column))
            find = self._sketched if fast else self._overlapping
            self._candidates = {place: find(place) for place in tried}
        else:
            self._are_given = True
            for place, matches in asked.items():
                found = [(self.lake.number(match.segment, match.column), match.overlap) for match in matches]
                numbers = np.array(found, np.int64).reshape(-1, 2)
                self._candidates[place] = numbers[:, 0], numbers[:, 1]

    def _sketched(self, place: int) -> tuple[Array, Array]:
        """Columns of the lake that contain a share of my values, by falling shares; most first. May miss some."""
        tokens, floor = self._table.columns[place].tokens, self._floors[place]
        columns, overlaps = np.empty(0, np.int64), np.empty(0, np.int64)
        for share in _SKETCHED:
            columns, overlaps = engine.sketched(self.lake.segments, tokens, share, floor, self._allowed)
            if len(columns) >= MOST_OVERLAP:
                break
        order = np.argsort(-overlaps, kind="stable")
        return columns[order], overlaps[order]

    def _overlapping(self, place: int) -> tuple[Array, Array]:
        """The columns of the lake that share most values with mine, most first."""
        tokens, floor = self._table.columns[place].tokens, self._floors[place]
        columns, overlaps = engine.overlaps(self.lake.segments, tokens, MOST_OVERLAP, floor, self._allowed)
        least = max(floor, least_overlap(_CONTAINED, len(tokens)))
        if len(overlaps) >= MOST_OVERLAP and overlaps.min() > least:
            every = len(self.lake)
            columns, overlaps = engine.overlaps(self.lake.segments, tokens, every, least, self._allowed)
        columns, overlaps = self._with_same_names(place, columns, overlaps, floor)
        order = np.argsort(-overlaps, kind="stable")
        return columns[order], overlaps[order]

    def _with_same_names(self, place: int, columns: Array, overlaps: Array, floor: int) -> tuple[Array, Array]:
        """And the columns of the same name, the nearest first."""
        same = np.flatnonzero((self._around.same_name == place) & self._allowed)
        same = np.setdiff1d(same, columns, assume_unique=True)
        same = same[np.argsort(-self._around.near[self.lake.table_of[same]], kind="stable")][:_SAME_NAME]
        evidence = self._evidence[place]
        counted = np.array([evidence.overlap(*self.lake.place_of(column)) for column in same.tolist()], np.int64)
        enough = counted >= floor
        return np.append(columns, same[enough]), np.append(overlaps, counted[enough])

    def promising(self, model: Model) -> Array:
        """The best column of each table by what the catalog knows, best first."""
        parts = [self._best_described(place, *found) for place, found in self._candidates.items() if len(found[0])]
        if not parts:
            return np.empty(0, np.int64)
        pairs = Pairs(*(np.concatenate(values) for values in zip(*parts, strict=True)))
        offered = [pair not in self._rejected for pair in zip(pairs.mine.tolist(), pairs.theirs.tolist(), strict=True)]
        pairs = pairs.take(np.array(offered, bool))
        found: Array = pairs.theirs[self._best_of_each_table(pairs, model.log_odds(self._describe(pairs)))]
        return found

    def _best_described(self, place: int, columns: Array, overlaps: Array) -> Pairs:
        """The most promising candidates of a column, by what costs little to know."""
        lake, around = self.lake, self._around
        if len(columns) > _DESCRIBED and not self._are_given:
            tables = lake.table_of[columns]
            promise = (
                overlaps / overlaps[0]
                + lake.keys[columns]
                + lake.leading[columns]
                + 2 * around.near[tables]
                + around.called_alike[tables]
                + np.minimum(around.shared_names[tables], 1)
                + around.name_rarity[place] * (around.same_name[columns] == place)
            )
            chosen = np.argsort(-promise, kind="stable")[:_DESCRIBED]
            columns, overlaps = columns[chosen], overlaps[chosen]
        return self._estimated(place, columns, overlaps)

    def _estimated(self, place: int, columns: Array, overlaps: Array) -> Pairs:
        """Rows as they would match if the common values were as frequent as the others."""
        column, lake = self._table.columns[place], self.lake
        keys = overlaps.astype(np.float64)
        partners = lake.filled[columns] / np.maximum(lake.distinct[columns], 1)
        rows = keys * (float(column.counts.sum()) / column.size)
        mean_rarity = float(self._evidence[place].weights.mean())
        return Pairs(
            np.full(len(columns), place), columns, keys, rows, keys * partners, rows * partners,
            np.full(len(columns), mean_rarity),
        )  # fmt: skip

    def counted(self, tables: Array) -> tuple[Pairs, Array]:
        """All pairs of columns with these tables that share values, value by value; and their features."""
        rows = []
        every = [int(column) for table in tables.tolist() for column in self.lake.columns_of(table)]
        for place, (candidates, _) in self._candidates.items():
            check_cancelled()
            evidence, floor = self._evidence[place], self._floors[place]
            theirs = candidates[np.isin(self.lake.table_of[candidates], tables)].tolist() if self._are_given else every
            for column in theirs:
                counts = evidence.counts(*self.lake.place_of(column))
                if counts[0] >= floor and (place, column) not in self._rejected:
                    rows.append((place, column, *counts))
        if not rows:
            return Pairs(*(np.empty(0, np.int64) for _ in Pairs._fields)), np.empty((0, len(FEATURES)))
        mine, columns, *counted = (np.array(values) for values in zip(*rows, strict=True))
        pairs = Pairs(mine, columns, *(values.astype(np.float64) for values in counted))
        return pairs, self._describe(pairs)

    def _describe(self, pairs: Pairs) -> Array:
        rivals, shared = np.zeros(len(pairs.mine)), np.zeros(self.lake.tables)
        weights = {place: float(self._evidence[place].weights.mean()) for place in self._candidates}
        for place, (columns, overlaps) in self._candidates.items():
            chosen = np.flatnonzero(pairs.mine == place)
            rivals[chosen] = _at_least(overlaps, pairs.keys[chosen])
            shared[np.unique(self.lake.table_of[columns])] += weights[place]
        own = np.array([weights[place] for place in pairs.mine.tolist()])
        others = np.maximum(shared[self.lake.table_of[pairs.theirs]] - own, 0)
        return self._describer.describe(pairs, rivals, others)

    def _best_first(self, pairs: Pairs, odds: Array, chosen: Array) -> Array:
        """Of pairs with the same odds: fewer rows per match, then more columns brought, then the name of the table."""
        per_match = pairs.joined[chosen] / np.maximum(pairs.rows_here[chosen], 1)
        theirs = pairs.theirs[chosen]
        names = self.lake.table_names.take(pa.array(self.lake.table_of[theirs]))
        by_name = np.argsort(pc.sort_indices(names).to_numpy())
        order = np.lexsort((by_name, -self.lake.width[theirs], per_match, -odds[chosen]))
        found: Array = chosen[order]
        return found

    def _best_of_each_table(self, pairs: Pairs, scores: Array) -> Array:
        """The place of the best pair of each table, best first."""
        tables = self.lake.table_of[pairs.theirs]
        order = np.lexsort((pairs.theirs, -pairs.keys, -scores))
        _, first = np.unique(tables[order], return_index=True)
        found: Array = order[np.sort(first)]
        return found


def is_tried(column: InputColumn) -> bool:
    """Whether a search that names no column tries this one."""
    return column.type.kind in TRIED_TYPES and column.size > 1


def _at_least(descending: Array, least: Array) -> Array:
    """How many of the values are at least as large."""
    found: Array = np.searchsorted(-descending, -least, side="right")
    return found
