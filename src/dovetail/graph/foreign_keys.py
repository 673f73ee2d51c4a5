"""Likely foreign keys: of all columns that a column could refer to, the best few, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.catalog.decisions import Decision
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.names import KEY_WORDS, words
from dovetail.evidence.references import REFERENCE_FEATURES
from dovetail.evidence.rivals import RIVAL_FEATURES
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph.arrow_answer import DEPENDENCY_SCHEMA, ArrowAnswer, list_members, named_lists
from dovetail.graph.composite_keys import CompositeForeignKey, Pairing, contained_enough, ranked_composites
from dovetail.graph.inclusion import ColumnPairs, InclusionFilters, InclusionQuery
from dovetail.graph.reference_candidates import BestTargets, reference_candidates
from dovetail.graph.row_tuples import TupleOverlap
from dovetail.graph.score import Scorer, decide_together
from dovetail.indexes.tokens.format import running_sum
from dovetail.lake.table_names import stem_of

FOREIGN_KEY_QUERY = InclusionQuery(InclusionFilters(integer=False, coverage=Fraction(0)), Fraction(9, 10))
"""Foreign keys are mostly whole numbers, often refer to few of many, and have some errors in real data."""


_SHOWN = 3  # columns that a column may refer to, at most
_SAME_NAME = 0.75  # similarity from which on names count as the same
_SIMILAR_NAME = 0.25
_BY_CHANCE = 0.5  # chance from which on a value of another column would be found, too
_NEAR = 0.25
_FEW = 2  # values that any column of small numbers has
_BEATEN = 0.5  # log-odds by which another target is ahead
_AT_ONCE = 1 << 16  # rows in a batch

# Evidence for a foreign key, as bits.
SAME_NAME, SIMILAR_NAME, KNOWN_KEY, BY_CHANCE, REPEATS, NEAR, FEW, BEATEN, DECIDED, PREVIOUS, ROLE, DECLARED = (
    1 << bit for bit in range(12)
)


Accepts = Callable[[Sequence[int], Sequence[int]], Decision | None]
"""The decision that these columns, by their numbers, join with those."""


def no_decision(dependent: Sequence[int], referenced: Sequence[int]) -> None:
    """Nobody decided anything."""


@dataclass(frozen=True)
class ForeignKeyTable:
    """Foreign keys as arrays, best first; `offsets` bounds the columns of each."""

    offsets: Array
    dependent: Array
    referenced: Array
    mine: Array  # distinct values, or combinations, of the dependent columns
    theirs: Array
    common: Array
    score: Array
    evidence: Array
    place: Array  # 0 for the best target of a column
    targets: Array  # how many columns a column could refer to; 0 for several columns together

    def __len__(self) -> int:
        return len(self.score)

    @classmethod
    def join(cls, parts: Sequence[ForeignKeyTable]) -> ForeignKeyTable:
        """All of them, best first; of equal ones the first."""
        columns = {f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)[1:]}
        columns["offsets"] = running_sum(np.concatenate([np.diff(part.offsets) for part in parts]))
        return cls(**columns).take(np.argsort(-columns["score"], kind="stable"))

    def take(self, places: Array) -> ForeignKeyTable:
        """The foreign keys at these places."""
        offsets, members = list_members(self.offsets, places)
        rest = {f.name: getattr(self, f.name)[places] for f in fields(self)[3:]}
        return ForeignKeyTable(offsets, self.dependent[members], self.referenced[members], **rest)


def find_foreign_keys(
    columns: LakeColumns, scorer: Scorer, targets: BestTargets, overlaps: Mapping[Pairing, TupleOverlap]
) -> ForeignKeyTable:
    """For each column, and for the columns of `overlaps`, the best that they may refer to, all decided together."""
    pairs, counts = targets
    composites = contained_enough(overlaps, FOREIGN_KEY_QUERY)
    features, contest = reference_candidates(columns, scorer, pairs, composites)
    scores, rivals = decide_together(features, contest)
    several = ranked_composites(columns, composites, features[len(pairs) :], scores[len(pairs) :])
    evidence = _evidence(columns, pairs, features[: len(pairs)], rivals[: len(pairs)])
    single = _single_table(columns, pairs, counts, scores[: len(pairs)], evidence)
    return ForeignKeyTable.join([single, composite_table(columns, several)])


def _single_table(
    columns: LakeColumns, pairs: ColumnPairs, counts: Array, scores: Array, evidence: Array
) -> ForeignKeyTable:
    by_score = np.lexsort((columns.rank[pairs.referenced], -scores, pairs.dependent))
    place = np.empty(len(pairs), np.int64)
    place[by_score] = np.arange(len(pairs)) - np.searchsorted(pairs.dependent[by_score], pairs.dependent[by_score])
    order = np.lexsort((columns.rank[pairs.referenced], columns.rank[pairs.dependent], -scores))
    order = order[place[order] < _SHOWN]
    dependent, referenced = pairs.dependent[order], pairs.referenced[order]
    return ForeignKeyTable(
        np.arange(len(order) + 1),
        dependent,
        referenced,
        columns.distinct[dependent],
        columns.distinct[referenced],
        pairs.overlap[order],
        scores[order],
        evidence[order],
        place[order],
        counts[dependent],
    )


def _evidence(columns: LakeColumns, pairs: ColumnPairs, features: Array, rivals: Array) -> Array:
    said = dict(zip(REFERENCE_FEATURES, features.T, strict=True)) | dict(zip(RIVAL_FEATURES, rivals.T, strict=True))
    outside = columns.table_of[pairs.dependent] != columns.table_of[pairs.referenced]
    bits = {
        SAME_NAME: said["called"] >= _SAME_NAME,
        SIMILAR_NAME: said["called"] >= _SIMILAR_NAME,
        KNOWN_KEY: said["known_there"] > 0,
        BY_CHANCE: said["chance"] >= _BY_CHANCE,
        REPEATS: said["repeats"] > 0,
        NEAR: (said["near"] > _NEAR) & outside,
        FEW: columns.distinct[pairs.dependent] <= _FEW,
        BEATEN: said["beaten"] >= _BEATEN,
        PREVIOUS: said["previous"] > 0,
        ROLE: said["role"] > 0,
    }
    evidence: Array = sum((bit * holds for bit, holds in bits.items()), np.zeros(len(pairs), np.int64))
    return evidence


def composite_table(columns: LakeColumns, found: Sequence[CompositeForeignKey]) -> ForeignKeyTable:
    """Foreign keys of several columns as arrays."""
    overlaps = np.array(
        [(one.overlap.dependent, one.overlap.referenced, one.overlap.common) for one in found], np.int64
    ).reshape(-1, 3)
    names = np.array([one.called for one in found])
    first = np.array([one.dependent[0] for one in found], np.int64)
    evidence = SAME_NAME * (names >= _SAME_NAME) + SIMILAR_NAME * (names >= _SIMILAR_NAME)
    return ForeignKeyTable(
        running_sum(np.array([len(one.dependent) for one in found], np.int64)),
        np.array([column for one in found for column in one.dependent], np.int64),
        np.array([column for one in found for column in one.referenced], np.int64),
        overlaps[:, 0],
        overlaps[:, 1],
        overlaps[:, 2],
        np.array([one.score for one in found], np.float64),
        evidence + REPEATS * (overlaps[:, 0] < columns.rows[first]),
        np.zeros(len(found), np.int64),
        np.zeros(len(found), np.int64),
    )


class ForeignKeys(ArrowAnswer):
    """For each column, and for columns together, the few that they may refer to, best first."""

    schema = pa.schema([*DEPENDENCY_SCHEMA, ("declared", pa.bool_()), ("reasons", pa.list_(pa.string()))])
    rows_are = "likely foreign keys"

    def __init__(
        self,
        columns: LakeColumns,
        found: ForeignKeyTable,
        min_score: float = LIKELY_REFERENCE,
        tables: str | None = None,
        accepts: Accepts = no_decision,
    ) -> None:
        """Those with at least this score, from or to the tables that match the glob.

        `accepts` gives the decision for those that a person accepted.
        """
        kept = found.score >= min_score
        if tables is not None:
            chosen = columns.of_tables(tables)
            first = found.offsets[:-1]
            kept &= chosen[found.dependent[first]] | chosen[found.referenced[first]]
        self.columns = columns
        self._accepts = accepts
        self.found = found.take(np.flatnonzero(kept))

    def __len__(self) -> int:
        return len(self.found)

    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        wanted = len(self) if limit is None else min(limit, len(self))
        for start in range(0, wanted, _AT_ONCE):
            part = self.found.take(np.arange(start, min(start + _AT_ONCE, wanted)))
            yield pa.RecordBatch.from_arrays(
                [
                    *named_lists(self.columns, part.dependent, part.offsets),
                    *named_lists(self.columns, part.referenced, part.offsets),
                    pa.array(part.common / np.maximum(1, part.mine)),
                    pa.array(part.common / np.maximum(1, part.theirs)),
                    pa.array(part.score),
                    pa.array([self.when(part, place) for place in range(len(part))], pa.string()),
                    pa.array(part.evidence & DECLARED > 0),
                    pa.array([self._reasons(part, place) for place in range(len(part))], pa.list_(pa.string())),
                ],
                schema=self.schema,
            )

    def _decision(self, part: ForeignKeyTable, place: int) -> Decision | None:
        """The decision to accept one of them, by a person or a database."""
        if not part.evidence[place] & (DECIDED | DECLARED):
            return None
        span = slice(part.offsets[place], part.offsets[place + 1])
        return self._accepts(part.dependent[span].tolist(), part.referenced[span].tolist())

    def when(self, part: ForeignKeyTable, place: int) -> str | None:
        """When a person accepted one of them; None for the others."""
        decision = self._decision(part, place)
        return decision.when if decision else None

    def _reasons(self, part: ForeignKeyTable, place: int) -> list[str]:
        """What speaks for and against one of them; where a person or a database decided, nothing else matters.

        What the data says against a declared key is said all the same.
        """
        span = slice(part.offsets[place], part.offsets[place + 1])
        one, other = int(part.dependent[span][0]), int(part.referenced[span][0])
        theirs = ", ".join(self.columns.names[column].as_py() for column in part.referenced[span].tolist())
        several, evidence = span.stop - span.start > 1, int(part.evidence[place])
        noun = "combination" if several else "value"
        common, mine = int(part.common[place]), int(part.mine[place])
        contained = f"all {mine:,} {noun}s occur" if common == mine else f"{common:,} of {mine:,} {noun}s occur"
        if mine == 1:
            contained = f"its one {noun} occurs"
        contained += f" among its {int(part.theirs[place]):,}"
        decision = self._decision(part, place)
        if decision and decision.declared:
            return [decision.sentence, contained, *self._contradictions(part, place)]
        if decision:
            return [decision.sentence, contained]
        reasons = [contained, self._of_names(evidence, one, other, theirs)]
        if several:
            reasons.append(f"{theirs} together are the first key of several columns of its table")
        else:
            reasons.append(self._of_key(evidence, other, theirs))
        if evidence & FEW:
            reasons.append("but so few values prove little")
        elif evidence & BY_CHANCE:
            reasons.append("but such values could match by chance")
        name = self.columns.names[one].as_py()
        if several:
            reasons.append(f"{'many' if evidence & REPEATS else 'one'} to one: {int(self.columns.rows[one]):,} rows")
        elif evidence & REPEATS:
            rows = int(self.columns.rows[one] - self.columns.nulls[one])
            reasons.append(f"many to one: {rows:,} rows have {name}")
        else:
            reasons.append(f"one to one: {name} repeats no value")
        if evidence & NEAR:
            reasons.append("same folder or similar file names")
        if part.targets[place] > 1:
            best = "the best" if part.place[place] == 0 else f"number {int(part.place[place]) + 1}"
            reasons.append(f"{best} of {int(part.targets[place]):,} columns with these values")
        if evidence & BEATEN:
            reasons.append("but by values and names alone, another fits better")
        return reasons

    def _contradictions(self, part: ForeignKeyTable, place: int) -> Iterator[str]:
        """What the data says against a declared key."""
        span = slice(part.offsets[place], part.offsets[place + 1])
        lost, other = int(part.mine[place] - part.common[place]), int(part.referenced[span][0])
        if lost:
            yield f"but {lost:,} of {int(part.mine[place]):,} refer to nothing"
        if span.stop - span.start == 1 and not self.columns.unique[other] and self.columns.distinct[other]:
            yield "but the values that it refers to repeat"

    def _of_names(self, evidence: int, one: int, other: int, theirs: str) -> str:
        name = self.columns.names[one].as_py()
        table = self.columns.table_names[int(self.columns.table_of[other])].as_py()
        stem = stem_of(table)
        if evidence & SAME_NAME:
            generic = all(word in KEY_WORDS for word in words(theirs))
            return f"named after {stem}" if generic else f"named after {theirs} or its table"
        if evidence & PREVIOUS:
            return f"{name} sounds like another row of {stem}"
        if evidence & ROLE:
            return f"{name} sounds like one of the people in {stem}"
        return "the names are similar" if evidence & SIMILAR_NAME else "the names have little in common"

    def _of_key(self, evidence: int, other: int, theirs: str) -> str:
        if self.columns.primary[other]:
            return f"{theirs} is declared as the primary key of its table"
        if self.columns.leading[other]:
            return f"{theirs} is the first key of its table"
        if evidence & KNOWN_KEY:
            return f"{theirs} repeats no value, and by its name it is the key"
        return f"{theirs} is not the first key of its table"
