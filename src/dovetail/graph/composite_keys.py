"""Foreign keys of several columns.

They refer to a natural key: the first columns of a table that together repeat (nearly) no row, apart from columns that
are keys alone. For each such key and each table, the columns that are included in the key's columns one by one, and
whose names have something in common with theirs, are compared together, row by row. As arrays, their overlaps are kept
beside an index, and exchanged on Spark.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail._progress import Progress, silent
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.references import REFERENCE_FEATURES
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder, InclusionQuery
from dovetail.graph.row_tuples import Columns, RowTuples, TupleOverlap
from dovetail.graph.score import CALLED, DIGITS, Scorer, as_probability, inclusion_log_odds
from dovetail.indexes.tokens.format import running_sum

Pairing = tuple[Columns, Columns]  # dependent and referenced columns, in the same order
NamedPairs = tuple[Array, Array, Array]  # dependent and referenced column, and how far one is named after the other

COLUMNS_AT_MOST = 3  # of a key: bounds the work
_ROWS_PER_NULL_OF_PART = 20  # of one of several columns of a key, at least
_NEARLY = 0.99  # of the rows have a combination of their own
_OPTIONS = 2  # columns tried for each column of a key
_BITS = 16.0  # that a combination found by chance would be worth: values of several columns hardly ever are
_SIBLING = 0.5
"""How far a key is known by its columns where none is named after its table. Teams are known by `team_id` and `year`;
but two tables about drivers in races hold the same pairs of ids without one referring to the other."""
_REPORTED = 100  # pairings between two reports of progress: about 50 ms


@dataclass(frozen=True)
class CompositeForeignKey:
    """Columns of one table that refer to columns of another, and what speaks for it."""

    dependent: Columns
    referenced: Columns
    overlap: TupleOverlap
    called: float  # how far the columns are named after the others
    score: float

    @property
    def containment(self) -> float:
        return self.overlap.common / max(1, self.overlap.dependent)

    @property
    def coverage(self) -> float:
        return self.overlap.common / max(1, self.overlap.referenced)


@dataclass(frozen=True)
class NaturalKey:
    """The first columns of a table that together repeat (nearly) no row."""

    columns: Columns
    distinct: int  # combinations
    rows: int  # without a null


def compare_rows(
    columns: LakeColumns,
    keys: Sequence[NaturalKey],
    query: InclusionQuery,
    scorer: Scorer,
    known: Mapping[Pairing, TupleOverlap],
    threads: int = 1,
    progress: Progress = silent,
) -> dict[Pairing, TupleOverlap]:
    """The overlaps of all natural keys with the columns that may refer to them; those that are `known` are taken."""
    finder = InclusionFinder(columns, query, threads, referable=columns_of_keys(columns, keys))
    pairings = possible_pairings(columns, keys, [named_similarly(pairs, scorer) for pairs in finder])
    rows = RowTuples(columns)
    found = {}
    for number, pairing in enumerate(pairings):
        if number % _REPORTED == 0:
            progress("comparing rows", number, len(pairings))
        found[pairing] = known[pairing] if pairing in known else rows.overlap(*pairing)
    return found


def columns_of_keys(columns: LakeColumns, keys: Sequence[NaturalKey]) -> Array:
    """Whether each column belongs to one of the keys."""
    member = np.zeros(len(columns), bool)
    member[[column for key in keys for column in key.columns]] = True
    return member


def possible_pairings(columns: LakeColumns, keys: Sequence[NaturalKey], parts: Sequence[NamedPairs]) -> list[Pairing]:
    """The columns that may refer to each key together, by the pairs of columns that may one by one."""
    options = _options(columns, parts)
    return [(tried, key.columns) for key in keys for tried in _tries(columns, key.columns, options)]


def contained_enough(
    overlaps: Mapping[Pairing, TupleOverlap], query: InclusionQuery
) -> dict[Pairing, TupleOverlap]:  # fmt: skip
    """The pairings of which the referenced side has nearly all combinations."""
    return {
        pairing: overlap
        for pairing, overlap in overlaps.items()
        if overlap.dependent and overlap.common >= query.containment * overlap.dependent
    }


def score_composites(
    columns: LakeColumns, scorer: Scorer, overlaps: Mapping[Pairing, TupleOverlap]
) -> list[CompositeForeignKey]:
    """How likely each pairing is a reference, whatever else the columns could refer to; best first."""
    if not overlaps:
        return []
    features = composite_features(columns, scorer, overlaps)
    scores = np.round(as_probability(inclusion_log_odds(features)), DIGITS)
    return ranked_composites(columns, overlaps, features, scores)


def ranked_composites(
    columns: LakeColumns, overlaps: Mapping[Pairing, TupleOverlap], features: Array, scores: Array
) -> list[CompositeForeignKey]:
    """Best first."""
    found = [
        CompositeForeignKey(*pairing, overlap, called, score)
        for (pairing, overlap), called, score in zip(
            overlaps.items(), features[:, CALLED].tolist(), scores.tolist(), strict=True
        )
    ]
    rank = columns.rank
    return sorted(found, key=lambda one: (-one.score, *rank[[*one.dependent, *one.referenced]].tolist()))


def natural_keys(columns: LakeColumns, tables: tuple[int, int] | None = None) -> Iterator[NaturalKey]:
    """For each table, its first columns, as few as repeat no row, if they are two or more.

    `tables` limits it to those from one number on and before another.
    """
    rows = RowTuples(columns)
    usable = (
        columns.alive
        & ~columns.unique
        & (columns.distinct > 1)
        & (columns.nulls * _ROWS_PER_NULL_OF_PART <= columns.rows)
    )
    first_column, end = np.searchsorted(columns.table_of, tables or (0, len(columns.table_names)))
    chosen = first_column + np.flatnonzero(usable[first_column:end])
    for _, group in itertools.groupby(chosen.tolist(), key=lambda column: columns.table_of[column]):
        first = tuple(itertools.islice(group, COLUMNS_AT_MOST))
        for number in range(2, len(first) + 1):
            if np.prod(columns.distinct[list(first[:number])].astype(float)) < _NEARLY * columns.rows[first[0]]:
                continue
            distinct, filled = rows.distinct(first[:number])
            if filled and distinct >= _NEARLY * filled:
                yield NaturalKey(first[:number], distinct, filled)
                break


def named_similarly(pairs: ColumnPairs, scorer: Scorer) -> NamedPairs:
    """The pairs of columns whose names have something in common."""
    names = scorer.called(pairs)
    similar = names > 0
    return pairs.dependent[similar], pairs.referenced[similar], names[similar]


def _options(columns: LakeColumns, parts: Sequence[NamedPairs]) -> dict[int, dict[int, list[int]]]:
    """For each column of a key and each table, the columns of that table that may refer to it, best name first."""
    if not parts:
        return {}
    dependent, referenced, names = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    tables = columns.table_of[dependent]
    found: dict[int, dict[int, list[int]]] = {}
    for place in np.lexsort((dependent, -names, tables, referenced)).tolist():
        options = found.setdefault(int(referenced[place]), {}).setdefault(int(tables[place]), [])
        if len(options) < _OPTIONS:
            options.append(int(dependent[place]))
    return found


def _tries(columns: LakeColumns, key: Columns, options: dict[int, dict[int, list[int]]]) -> Iterator[Columns]:
    """Columns of every other table that could refer to the key's."""
    by_column = [options.get(column, {}) for column in key]
    for table in sorted(set.intersection(*(set(tables) for tables in by_column))):
        if table != columns.table_of[key[0]]:
            for tried in itertools.product(*(tables[table] for tables in by_column)):
                if len(set(tried)) == len(tried):
                    yield tried


def composite_features(columns: LakeColumns, scorer: Scorer, overlaps: Mapping[Pairing, TupleOverlap]) -> Array:
    """The mean of the features of its pairs of columns; those about values are of the combinations."""
    offsets = running_sum(np.array([len(dependent) for dependent, _ in overlaps]))
    first, sizes = offsets[:-1], np.diff(offsets)
    dependent = np.array([column for one, _ in overlaps for column in one])
    referenced = np.array([column for _, other in overlaps for column in other])
    pairs = ColumnPairs(dependent, referenced, np.minimum(columns.distinct[dependent], columns.distinct[referenced]))
    features: Array = np.add.reduceat(scorer.features(pairs), first, axis=0) / sizes[:, None]
    mine, theirs, common = np.array([(o.dependent, o.referenced, o.common) for o in overlaps.values()], float).T
    owned = np.maximum.reduceat(scorer.references.named_after_table[referenced], first)
    of_whole = {
        "one_value": mine == 1,
        "two_values": mine == 2,
        "size_here": np.log2(1 + mine) / 16,
        "size_there": np.log2(1 + theirs) / 16,
        "repeats": 1 - mine / np.maximum(mine, columns.rows[dependent[first]]),
        "row_number_here": 0.0,
        "key_here": 0.0,
        "own_key_here": 0.0,
        "called_here_key": 0.0,
        "chance": 0.0,
        "numbered_there": 0.0,
        "from_one": 0.0,
        "known_there": np.maximum(_SIBLING, owned),
        "contained": common / np.maximum(1, mine),
        "missing": np.log2(1 + np.maximum(0, mine - common)) / 10,
        "covered_of_key": 0.0,
        "covered_from_one": 0.0,
        "previous": 0.0,
        "role": 0.0,
        "bits": np.log2(1 + common * _BITS) / 16,
    }
    for name, values in of_whole.items():
        features[:, REFERENCE_FEATURES.index(name)] = values
    return features


def arrays_of_overlaps(overlaps: Mapping[Pairing, TupleOverlap]) -> dict[str, Array]:
    """`offsets` bounds the columns of each pairing; `counts` has its three numbers."""
    counts = [(found.dependent, found.referenced, found.common) for found in overlaps.values()]
    return {
        "offsets": running_sum(np.array([len(one) for one, _ in overlaps], np.int64)),
        "dependent": np.array([column for one, _ in overlaps for column in one], np.int64),
        "referenced": np.array([column for _, other in overlaps for column in other], np.int64),
        "counts": np.array(counts, np.int64).reshape(-1, 3),
    }


def overlaps_of_arrays(
    offsets: Array, dependent: Array, referenced: Array, counts: Array, places: Array | None = None
) -> Iterator[tuple[Pairing, TupleOverlap]]:
    """What `arrays_of_overlaps` was given, or those at some places."""
    ends, ones, others, numbers = (array.tolist() for array in (offsets, dependent, referenced, counts.reshape(-1, 3)))
    for place in range(len(numbers)) if places is None else places.tolist():
        span = slice(ends[place], ends[place + 1])
        yield (tuple(ones[span]), tuple(others[span])), TupleOverlap(*numbers[place])
