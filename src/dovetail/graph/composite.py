"""Foreign keys of several columns.

What they refer to is a natural key: the first columns of a table that together repeat (nearly) no row, ids of a single
column aside. For each such key and each table, the columns that are included in the key's, one by one, and whose names
have something in common with theirs, are tried together on the rows.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.inclusion import Inclusions, Pairs, Question
from dovetail.graph.keys import NEXT_BEST
from dovetail.graph.score import FEATURES, OF_PARTIAL, Scorer, weigh
from dovetail.graph.tuples import RowTuples, Shared

Columns = tuple[int, ...]

COLUMNS_AT_MOST = 3
_NULLS = 20  # rows for each null that a key's column may have
_NEARLY = 0.99  # of the rows have a tuple of their own
_OPTIONS = 2  # columns that are tried for each column of a key
_SURE = 5.0
_OF_SIBLINGS = 0.6
"""What a score counts where no column of the key is called like its table. Teams are known by `team_id` and `year`; but
two tables about drivers in races hold the same pairs of ids without the one meaning the other."""


@dataclass(frozen=True)
class Composite:
    """A candidate: columns of one table, those of another in the same order, and what speaks for it."""

    dependent: Columns
    referenced: Columns
    shared: Shared
    rows: int  # of the dependent table
    features: Array
    score: float

    @property
    def containment(self) -> float:
        return self.shared.common / max(1, self.shared.dependent)

    @property
    def coverage(self) -> float:
        return self.shared.common / max(1, self.shared.referenced)


def composite_candidates(columns: LakeColumns, question: Question, scorer: Scorer) -> list[Composite]:
    """The best first, in no particular order where equal."""
    rows = RowTuples(columns)
    keys = list(natural_keys(columns, rows))
    options = _options(columns, question, scorer, keys)
    found = []
    for key in keys:
        for tried in _tries(columns, key, options):
            shared = rows.shared(tried, key)
            if shared.dependent and shared.common >= question.containment * shared.dependent:
                found.append(score_composite(columns, scorer, tried, key, shared))
    return sorted(found, key=lambda one: -one.score)


def next_best(found: list[Composite]) -> list[Composite]:
    """Of several targets of the same columns, best first, each counts less than the one before."""
    seen: Counter[Columns] = Counter()
    lowered = []
    for one in found:
        columns = tuple(sorted(one.dependent))
        lowered.append(replace(one, score=one.score * NEXT_BEST ** seen[columns]))
        seen[columns] += 1
    return sorted(lowered, key=lambda one: -one.score)


def natural_keys(columns: LakeColumns, rows: RowTuples) -> Iterator[Columns]:
    """For each table its first columns, as few as repeat no row, if they are two or more."""
    usable = columns.alive & ~columns.unique & (columns.distinct > 1) & (columns.nulls * _NULLS <= columns.rows)
    for _, group in itertools.groupby(np.flatnonzero(usable).tolist(), key=lambda column: columns.table_of[column]):
        first = tuple(itertools.islice(group, COLUMNS_AT_MOST))
        for number in range(2, len(first) + 1):
            if np.prod(columns.distinct[list(first[:number])].astype(float)) < _NEARLY * columns.rows[first[0]]:
                continue
            distinct, filled = rows.distinct(first[:number])
            if filled and distinct >= _NEARLY * filled:
                yield first[:number]
                break


def _options(
    columns: LakeColumns, question: Question, scorer: Scorer, keys: list[Columns]
) -> dict[int, dict[int, list[int]]]:
    """For each column of a key and each table the columns of that table that may stand for it, best named first."""
    referable = np.zeros(len(columns), bool)
    referable[[column for key in keys for column in key]] = True
    found: dict[int, dict[int, list[tuple[float, int]]]] = defaultdict(lambda: defaultdict(list))
    names = FEATURES.index("names")
    for pairs in Inclusions(columns, question, referable=referable):
        named = scorer.features(pairs)[:, names]
        for place in np.flatnonzero(named > 0).tolist():
            one, other = int(pairs.dependent[place]), int(pairs.referenced[place])
            found[other][int(columns.table_of[one])].append((-float(named[place]), one))
    return {
        other: {table: [one for _, one in sorted(ones)[:_OPTIONS]] for table, ones in tables.items()}
        for other, tables in found.items()
    }


def _tries(columns: LakeColumns, key: Columns, options: dict[int, dict[int, list[int]]]) -> Iterator[Columns]:
    """Columns of every other table that could stand for the key's."""
    by_column = [options.get(column, {}) for column in key]
    for table in sorted(set.intersection(*(set(tables) for tables in by_column))):
        if table != columns.table_of[key[0]]:
            for tried in itertools.product(*(tables[table] for tables in by_column)):
                if len(set(tried)) == len(tried):
                    yield tried


def score_composite(columns: LakeColumns, scorer: Scorer, tried: Columns, key: Columns, shared: Shared) -> Composite:
    """The features of its pairs of columns on average, and those of the whole where they are about values."""
    overlaps = np.minimum(columns.distinct[list(tried)], columns.distinct[list(key)])
    pairs = Pairs(np.array(tried), np.array(key), overlaps)
    features = scorer.features(pairs).mean(axis=0)
    said = {
        "surprise": shared.common / (shared.common + _SURE),
        "coverage": shared.common / max(1, shared.referenced),
        "key": 1.0,
        "repeats": 1.0 if shared.dependent < columns.rows[tried[0]] else 0.5,
    }
    for name, value in said.items():
        features[FEATURES.index(name)] = value
    score = float(weigh(features)) * (shared.common / max(1, shared.dependent)) ** OF_PARTIAL
    owned = float(scorer.named_after_their_table(pairs.referenced).max())
    score *= _OF_SIBLINGS + (1 - _OF_SIBLINGS) * owned
    return Composite(tried, key, shared, int(columns.rows[tried[0]]), features, score)
