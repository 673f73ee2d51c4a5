"""Pairs of tables with the truth about their join: declared keys, strangers, transformed, similar and entity pairs.

A case has a group: the database, or the data set, that it belongs to. Whatever is fitted is fitted on other groups than
those it is scored on.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dovetail.join.candidates import Candidate
from dovetail.similar.columns import together
from dovetail.tables.input_table import InputTable, open_table

Columns = dict[str, list[str | None]]
Predicate = frozenset[tuple[str, str]]
Score = tuple[float, float]
"""Precision and recall."""

MOST_OF_A_DATABASE = 20  # pairs of tables with a declared key, drawn with a seed: a few databases have a hundred
STRANGERS = 200  # pairs of tables of different databases
NOTHING = 0.0, 0.0
MOST_PAIRS = 2_000_000  # joined rows that are compared with the truth; more are wrong in every case here

FOLDS_OF_PAIRS = 7

REFERENCE = re.compile(r"countr|nation|pays|continent|currenc|devise|langu|locale|calendar|timezone|time_zone", re.I)
"""Reference lists, listed beforehand: two tables that both speak of them are no strangers."""


@dataclass(frozen=True)
class Case:
    family: str
    groups: tuple[str, ...]  # strangers have two
    name: str
    tables: Callable[[], tuple[InputTable, InputTable]]
    score: Callable[[Candidate], Score]  # how right a candidate is


def all_cases(truth: Path, seed: int = 7) -> Iterator[Case]:
    yield from declared_keys(truth / "relational", seed)
    yield from strangers(truth / "relational", seed)
    yield from transformed(truth / "transform_pairs")
    yield from similar(truth / "fuzzy_pairs", with_ids=False)
    yield from similar(truth / "fuzzy_pairs", with_ids=True)


def declared_keys(databases: Path, seed: int) -> Iterator[Case]:
    """Two tables with a declared key between them; keys of a table to itself and lists in a cell are left out."""
    for folder in sorted(databases.glob("*/")):
        keys: dict[tuple[str, str], list[Predicate]] = defaultdict(list)
        for key in json.loads((folder / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]:
            if key["from_table"] != key["to_table"] and "separator" not in key:
                pairs = frozenset(zip(key["from_columns"], key["to_columns"], strict=True))
                keys[key["from_table"], key["to_table"]].append(pairs)
        drawn = sorted(keys)
        random.Random(seed).shuffle(drawn)
        for one, other in drawn[:MOST_OF_A_DATABASE]:
            files = folder / "tables" / f"{one}.csv", folder / "tables" / f"{other}.csv"
            truths = tuple(keys[one, other])
            name = f"{folder.name}: {one} – {other}"
            yield Case("declared keys", (folder.name,), name, _files(*files), partial(of_columns, truths=truths))


def strangers(databases: Path, seed: int) -> Iterator[Case]:
    """Two tables of different databases, which nothing joins."""
    tables = {folder.name: sorted((folder / "tables").glob("*.csv")) for folder in sorted(databases.glob("*/"))}
    draw = random.Random(seed)
    found = 0
    while found < STRANGERS:
        one, other = draw.sample(sorted(tables), 2)
        files = draw.choice(tables[one]), draw.choice(tables[other])
        if not all(map(_speaks_of_reference, files)):
            found += 1
            name = f"{one}: {files[0].stem} – {other}: {files[1].stem}"
            yield Case("strangers", (one, other), name, _files(*files), lambda _: NOTHING)


def _speaks_of_reference(file: Path) -> bool:
    with file.open(encoding="utf-8-sig") as lines:
        return bool(REFERENCE.search(f"{file.stem},{lines.readline()}"))


def transformed(folder: Path) -> Iterator[Case]:
    """By distinct pairs of values: the truth is given as such."""
    for case in _folders(folder, "pairs.csv"):
        names = json.loads((case / "truth.json").read_text(encoding="utf-8"))
        source, target, listed = (_read(case / name) for name in ("source.csv", "target.csv", "pairs.csv"))
        mine, theirs = source[names["source_column"]], target[names["target_column"]]
        here = set(mine), set(theirs)
        truth = {
            (a, b)
            for a, b in zip(listed["source_value"], listed["target_value"], strict=True)
            if a in here[0] and b in here[1]
        }
        family = case.relative_to(folder).parts[0]
        score = score_of_pairs(mine, theirs, truth)
        yield Case(family, (f"{family}/{case.name}",), case.name, frames(source, target), score)


def similar(folder: Path, with_ids: bool) -> Iterator[Case]:
    """By pairs of rows, with and without the id columns, which are row numbers."""
    for case in _folders(folder, "gt.csv"):
        left, right, listed = (_read(case / name) for name in ("left.csv", "right.csv", "gt.csv"))
        ids = left[next(iter(left))], right[next(iter(right))]
        if not with_ids:
            del left[next(iter(left))], right[next(iter(right))]
        family = case.relative_to(folder).parts[0]
        truth = set(zip(listed["id_l"], listed["id_r"], strict=True))
        tables = frames(left, right)
        score = score_of_pairs(*ids, truth)
        yield Case(family + " with ids" * with_ids, (_data_set(case, folder),), case.name, tables, score)


def similar_texts(folder: Path) -> Iterator[tuple[str, list[str], list[str], set[tuple[str, str]]]]:
    """Of each data set its name, the distinct texts of the compared columns of source and target, and the true pairs.

    All text columns whose names are the same on both sides are compared together, and where they are called otherwise,
    those at the same place.
    """
    for case in _folders(folder, "gt.csv"):
        left, right, listed = (_read(case / name) for name in ("left.csv", "right.csv", "gt.csv"))
        ids = [side.pop(next(iter(side))) for side in (left, right)]
        tables = open_table(left, "left"), open_table(right, "right")
        names = [
            pair
            for pair in zip(left, right, strict=True)
            if all(
                table.column(name).is_text and not table.column(name).has_codes
                for table, name in zip(tables, pair, strict=True)
            )
        ]
        texts = [
            dict(zip(of_side, together(side, [pair[place] for pair in names]), strict=True))
            for place, (of_side, side) in enumerate(zip(ids, (left, right), strict=True))
        ]
        truth = [(texts[0][a], texts[1][b]) for a, b in zip(listed["id_l"], listed["id_r"], strict=True)]
        sides = [sorted(set(filter(None, side.values()))) for side in texts]
        if len(sides[0]) > len(sides[1]):  # the smaller table looks for its rows in the larger one
            sides, truth = sides[::-1], [(b, a) for a, b in truth]
        yield _data_set(case, folder), sides[0], sides[1], {(a, b) for a, b in truth if a and b}


def fold_of_pairs(folder: Path) -> dict[str, int]:
    """Data sets of similar texts, dealt into folds."""
    names = [_data_set(case, folder) for case in _folders(folder, "gt.csv")]
    return {name: place % FOLDS_OF_PAIRS for place, name in enumerate(names)}


def _data_set(case: Path, folder: Path) -> str:
    return f"{case.relative_to(folder).parts[0]}/{case.name}"


def of_columns(candidate: Candidate, truths: tuple[Predicate, ...]) -> Score:
    """Of its pairs of columns against the nearest of the truths, as in section VI.A of the schemaless join paper."""
    mine, theirs = candidate.columns
    if len(mine) != len(theirs) or (candidate.by != "equal" and len(mine) > 1):
        return NOTHING
    found = frozenset(zip(mine, theirs, strict=True))
    return max(((len(found & truth) / len(found), len(found & truth) / len(truth)) for truth in truths), key=f1)


def f1(score: Score) -> float:
    precision, recall = score
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score_of_pairs(
    mine: list[str | None], theirs: list[str | None], truth: set[tuple[str | None, str | None]]
) -> Callable[[Candidate], Score]:
    def score(candidate: Candidate) -> Score:
        if candidate.joined > MOST_PAIRS:
            return NOTHING
        keys = candidate.keys()
        rows: dict[int, list[int]] = defaultdict(list)
        for row in np.flatnonzero(keys.right >= 0).tolist():
            rows[int(keys.right[row])].append(row)
        found = {
            (mine[row], theirs[other])
            for row in np.flatnonzero(keys.left >= 0).tolist()
            for other in rows.get(int(keys.left[row]), ())
        }
        return len(found & truth) / max(1, len(found)), len(found & truth) / max(1, len(truth))

    return score


def _folders(folder: Path, file: str) -> Iterator[Path]:
    return (path.parent for path in sorted(folder.glob("**/truth.json")) if (path.parent / file).exists())


def _files(left: Path, right: Path) -> Callable[[], tuple[InputTable, InputTable]]:
    return lambda: (open_table(left), open_table(right))


def frames(left: Columns, right: Columns) -> Callable[[], tuple[InputTable, InputTable]]:
    return lambda: (open_table(left, "left"), open_table(right, "right"))


def _read(path: Path) -> Columns:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    names: list[str] = []
    for name in header:
        while name in names:
            name += "_"
        names.append(name)
    return {name: [row[place] or None for row in rows] for place, name in enumerate(names)}
