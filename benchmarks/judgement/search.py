"""Is the table that another one refers to found by a search with no column named, among strangers?

    python benchmarks/judgement/search.py INDEX DATABASES [--outside]

INDEX is an index of a lake to which the folder DATABASES was added (`dovetail index DATABASES --to INDEX --add`). Each
database has `tables/*.csv` and a `truth.json` with its `foreign_keys`. Every table that refers to others is a question;
any table that it refers to is right, also as a near-copy that a hit stands for. With --outside, the queries are copies
in a folder of their own, so that the place of a file says nothing. Figures are means over questions, and over
databases, since a few databases are large. The stored model was fitted to these databases: what it does on others is
measured by fit_search.py, which leaves them out.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import dovetail
from dovetail.tables.input_column import TEXT_TYPES
from dovetail.tables.input_table import open_table

_FEW = 2  # distinct values that refer to nothing in particular
_K = 10
_NEARLY_ALL = 0.9  # of my values
_NAMES = 10  # values that hardly match by chance
_REPEATING = 0.5  # how right a join is that repeats rows of mine

Column = tuple[str, str]  # table and column
References = dict[Column, set[Column]]


@dataclass(frozen=True)
class Question:
    """A table that refers to others, and the pairs of columns by which it refers to each of them."""

    database: str
    query: Path
    references: dict[Path, frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class JudgedHit:
    table: Path
    score: float
    right: float  # from 0 to 1; NaN: nobody has said
    on_declared: bool
    columns: int = 1


@dataclass(frozen=True)
class Answer:
    question: Question
    hits: tuple[JudgedHit, ...]
    seconds: float

    @property
    def found(self) -> list[tuple[int, JudgedHit]]:
        """The tables that the query refers to, with their ranks."""
        return [(rank, hit) for rank, hit in enumerate(self.hits, 1) if hit.table in self.question.references]


def questions(databases: Path) -> list[Question]:
    """Keys of a table to itself, of lists in a cell, and of one or two distinct values are left out."""
    found = []
    for folder in sorted(path.parent for path in databases.glob("*/truth.json")):
        references: dict[Path, dict[Path, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
        for key in json.loads((folder / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]:
            child, parent = (folder / "tables" / f"{key[side]}.csv" for side in ("from_table", "to_table"))
            if child != parent and "separator" not in key and key["child_distinct"] > _FEW:
                references[child][parent].update(zip(key["from_columns"], key["to_columns"], strict=True))
        for query, parents in references.items():
            found.append(Question(folder.name, query, {path: frozenset(pairs) for path, pairs in parents.items()}))
    return found


def references_of(database: Path) -> References:
    """The columns that each column of a database refers to."""
    found: References = defaultdict(set)
    for key in json.loads((database / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]:
        for mine, theirs in zip(key["from_columns"], key["to_columns"], strict=True):
            found[key["from_table"], mine].add((key["to_table"], theirs))
    return found


def how_right(known: References, query: Path, mine: str, table: Path, theirs: str, repeats: bool) -> float:
    """A reference 1, its reverse 1/2; columns that refer to the same third one do not count, unless rows are repeated.

    A table elsewhere in the lake that is called like one of the database is a copy, and does not count either.
    """
    one, other = (query.stem, mine), (table.stem, theirs)
    right = 0.0
    if other in known.get(one, ()):
        right = 1.0
    elif one in known.get(other, ()):
        right = _REPEATING
    elif known.get(one, set()) & known.get(other, set()) and not repeats:
        right = math.nan
    return math.nan if right and table.parent != query.parent else right


def lists_my_names(is_text: Any, repeats: Any, share: Any, values: Any) -> Any:
    """Whether a pair of columns of texts is right though nobody declared it: a list of the names that mine has.

    Databases do not declare that their countries are those of a list elsewhere. Of 374 such pairs of web tables whose
    cells were labelled by hand (Limaye, T2Dv2), all name the same things. Texts of digits in a column of numbers are no
    such pair.
    """
    return is_text & ~repeats & (share >= _NEARLY_ALL) & (values >= _NAMES)


def table_paths(lake: dovetail.Lake) -> dict[str, Path]:
    """The file of each table."""
    return {
        table: Path(path)
        for segment in lake.segments
        for table, path in zip(segment.names, segment.catalog.tables["path"].to_pylist(), strict=True)
    }


def ask(lake: dovetail.Lake, paths: dict[str, Path], question: Question, outside: Path | None = None) -> Answer:
    query: Path = question.query
    known = references_of(query.parent.parent)
    mine = query if outside is None else Path(shutil.copy(query, outside / query.name))
    begun = time.perf_counter()
    hits = lake.search(mine, k=_K + (outside is not None))
    seconds = time.perf_counter() - begun
    columns = {column.name: column for column in open_table(query).columns}
    judged = []
    for hit in hits:
        folded = [paths[each] for each in (hit.table, *hit.copies)]
        table = next((each for each in folded if each in question.references), folded[0])
        declared = question.references.get(table, frozenset())
        if query not in folded:
            repeats = np.bool_(hit.joined_rows > hit.matched_rows)
            right = min(how_right(known, query, mine, table, theirs, bool(repeats)) for mine, theirs in hit.pairs)
            types = [lake.table(hit.table).column(name).type for name in hit.columns]
            is_text = all(columns[name].is_text for name in hit.on) and set(types) <= set(TEXT_TYPES)
            if not right and lists_my_names(is_text, repeats, hit.containment, hit.overlap):
                right = 1.0
            judged.append(JudgedHit(table, hit.score, right, declared.issuperset(hit.pairs), len(hit.on)))
    return Answer(question, tuple(judged[:_K]), seconds)


def figures(answers: Iterable[Answer]) -> dict[str, float]:
    answers = list(answers)
    found = [answer.found for answer in answers]
    right = [each[0] for each in found if each]
    return {
        "questions": len(answers),
        "first 10": len(right) / len(answers),
        "first": sum(rank == 1 for rank, _ in right) / len(answers),
        "declared columns": mean(hit.on_declared for _, hit in right) if right else math.nan,
        "references in first 10": mean(
            len(each) / len(answer.question.references) for answer, each in zip(answers, found, strict=True)
        ),
        "median seconds": median(answer.seconds for answer in answers),
    }


def report(answers: list[Answer]) -> None:
    by_database: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_database[answer.question.database].append(answer)
    each = {name: figures(found) for name, found in sorted(by_database.items())}
    names = list(figures(answers))
    print("".ljust(19), *(name.rjust(max(8, len(name))) for name in names))
    means = {name: mean(row[name] for row in each.values() if not math.isnan(row[name])) for name in names}
    for title, row in {**each, "mean over databases": means, "all questions": figures(answers)}.items():
        cells = (f"{row[name]:.3f}" if name != "questions" else f"{row[name]:.0f}" for name in names)
        print(title.ljust(19), *(cell.rjust(max(8, len(name))) for cell, name in zip(cells, names, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--outside", action="store_true", help="the queries are copies outside of the lake")
    options = parser.parse_args()
    lake = dovetail.Lake(options.index)
    paths = table_paths(lake)
    asked = questions(options.databases.resolve())
    ask(lake, paths, asked[0])  # compiles
    with tempfile.TemporaryDirectory() as folder:
        report([ask(lake, paths, question, Path(folder) if options.outside else None) for question in asked])


if __name__ == "__main__":
    main()
