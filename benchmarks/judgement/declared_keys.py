"""The declared foreign keys of databases, and all references that their tables allow."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import dovetail
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.rivals import Contest
from dovetail.graph.composite_keys import compare_rows, contained_enough, natural_keys
from dovetail.graph.foreign_keys import FOREIGN_KEY_QUERY
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder
from dovetail.graph.reference_candidates import reference_candidates
from dovetail.graph.score import Scorer

Key = tuple[str, frozenset[tuple[str, str]], str]

FEW = 2
"""Values of a column up to which nobody can tell a reference from any other column of small numbers."""
_FLAT = "__"  # between the names of database and table where all are in one folder


class Declared(NamedTuple):
    """The foreign keys of a database."""

    keys: set[Key]
    testable: int  # those with more than a few values


@dataclass(frozen=True)
class Candidates:
    """Possible references of a lake, an entry each."""

    features: Array
    is_true: Array
    is_testable: Array
    database: Array  # of the dependent side
    other: Array  # of the referenced side
    contest: Contest

    def __len__(self) -> int:
        return len(self.is_true)

    def _arrays(self) -> tuple[Array, ...]:
        return self.features, self.is_true, self.is_testable, self.database, self.other

    def take(self, places: Array) -> Candidates:
        rest = (values[places] for values in self._arrays())
        return Candidates(*rest, Contest(*(values[places] for values in self.contest)))

    @staticmethod
    def join(parts: Sequence[Candidates]) -> Candidates:
        rest = (np.concatenate(values) for values in zip(*(part._arrays() for part in parts), strict=True))
        contest = (np.concatenate(values) for values in zip(*(part.contest for part in parts), strict=True))
        return Candidates(*rest, Contest(*contest))


def declared_keys(database: Path) -> Declared:
    stored = json.loads((database / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]
    return Declared(
        {_key(database.name, key) for key in stored}, sum(key["child_distinct"] > FEW for key in stored)
    )  # fmt: skip


def _key(database: str, key: dict[str, Any]) -> Key:
    pairs = frozenset(zip(key["from_columns"], key["to_columns"], strict=True))
    return f"{database}/{key['from_table']}.csv", pairs, f"{database}/{key['to_table']}.csv"


def lakes_of(databases: list[Path], truths: dict[str, Declared], work: Path) -> Iterator[Candidates]:
    """Each database as a lake of its own; then all in one, in folders; then all in one folder."""
    columns = LakeColumns(dovetail.open(_index_of(databases, work)).segments)
    tables = columns.table_names.to_pylist()
    folders = np.array([table.partition("/")[0] for table in tables])[columns.table_of]
    alive = columns.alive
    for database in databases:
        columns.alive = alive & (folders == database.name)
        yield _candidates_of(columns, truths[database.name].keys)
    columns.alive = alive
    every = set().union(*(truth.keys for truth in truths.values()))
    yield _candidates_of(columns, every)
    columns.table_names = pa.array([table.replace("/", _FLAT) for table in tables])
    yield _candidates_of(columns, every)


def _index_of(databases: list[Path], work: Path) -> Path:
    if not (work / "lake.idx").exists():
        for database in databases:
            shutil.copytree(database / "tables", work / "lake" / database.name)
        dovetail.index(work / "lake", work / "lake.idx")
    return work / "lake.idx"


def _candidates_of(columns: LakeColumns, truth: set[Key]) -> Candidates:
    """All references that the values of the live tables allow, of one column and of several."""
    finder = InclusionFinder(columns, FOREIGN_KEY_QUERY)
    scorer = Scorer(columns, finder.sizes)
    found = list(finder)
    pairs = ColumnPairs(
        *(np.concatenate([getattr(part, name) for part in found]) for name in ("dependent", "referenced", "overlap"))
    )
    compared = compare_rows(columns, list(natural_keys(columns)), FOREIGN_KEY_QUERY, scorer, {})
    overlaps = contained_enough(compared, FOREIGN_KEY_QUERY)
    features, contest = reference_candidates(columns, scorer, pairs, overlaps)
    names, tables = columns.names.to_pylist(), [t.replace(_FLAT, "/", 1) for t in columns.table_names.to_pylist()]
    sides = [((one,), (other,)) for one, other in zip(pairs.dependent.tolist(), pairs.referenced.tolist(), strict=True)]
    sides += list(overlaps)
    homes = columns.table_of[[one[0] for one, _ in sides]]
    is_true = [
        (tables[home], frozenset((names[c], names[d]) for c, d in zip(one, other, strict=True)), tables[table]) in truth
        for (one, other), home, table in zip(sides, homes.tolist(), contest.table.tolist(), strict=True)
    ]
    values = np.append(finder.sizes[pairs.dependent], [overlap.dependent for overlap in overlaps.values()])
    folders = np.array([table.partition("/")[0] for table in tables])
    return Candidates(features, np.array(is_true, float), values > FEW, folders[homes], folders[contest.table], contest)
