"""Is the table that another one refers to found by a search with no column named, among strangers?

    python benchmarks/judgement/search.py INDEX DATABASES [--outside]

INDEX is an index of a lake to which the folder DATABASES was added (`dovetail index DATABASES --to INDEX --add`). Each
database has `tables/*.csv` and a `truth.json` with its `foreign_keys`. Every table that refers to others is a question;
any table that it refers to is right. With --outside, the queries are copies in a folder of their own, so that the place
of a file says nothing. Figures are means over questions, and over databases, since a few databases are large.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import dovetail

_FEW = 2  # distinct values that refer to nothing in particular
_K = 10


@dataclass(frozen=True)
class Question:
    """A table that refers to others, and the pairs of columns by which it refers to each of them."""

    database: str
    query: Path
    references: dict[Path, frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Answer:
    """Where among the hits the first table is that the query refers to."""

    question: Question
    rank: int | None
    on_declared: bool
    found: int  # of the tables that it refers to
    seconds: float


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


def ask(lake: dovetail.Lake, paths: dict[str, str], question: Question, outside: Path | None = None) -> Answer:
    query: Path = question.query
    begun = time.perf_counter()
    if outside is None:
        hits = lake.search(query, k=_K)
    else:
        hits = lake.search(shutil.copy(query, outside / query.name), k=_K + 1)
    seconds = time.perf_counter() - begun
    others = [hit for hit in hits if paths[hit.table] != str(query)][:_K]
    right = [(rank, hit) for rank, hit in enumerate(others, 1) if Path(paths[hit.table]) in question.references]
    if not right:
        return Answer(question, None, False, 0, seconds)
    rank, hit = right[0]
    declared = set(hit.pairs) <= question.references[Path(paths[hit.table])]
    return Answer(question, rank, declared, len(right), seconds)


def figures(answers: Iterable[Answer]) -> dict[str, float]:
    answers = list(answers)
    found = [answer for answer in answers if answer.rank is not None]
    return {
        "questions": len(answers),
        "first 10": len(found) / len(answers),
        "first": sum(answer.rank == 1 for answer in answers) / len(answers),
        "declared columns": mean(answer.on_declared for answer in found) if found else float("nan"),
        "share of references": mean(answer.found / len(answer.question.references) for answer in answers),
        "median seconds": median(answer.seconds for answer in answers),
    }


def report(answers: list[Answer]) -> None:
    by_database: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_database[answer.question.database].append(answer)
    each = {name: figures(found) for name, found in by_database.items()}
    names = list(figures(answers))
    print("database".ljust(16), *(name.rjust(max(8, len(name))) for name in names))
    overall = {"mean over databases": {name: mean(f[name] for f in each.values() if f[name] == f[name]) for name in names}}
    for title, row in {**each, **overall, "all questions": figures(answers)}.items():
        cells = (f"{row[name]:.3f}" if name != "questions" else f"{row[name]:.0f}" for name in names)
        print(title.ljust(19), *(cell.rjust(max(8, len(name))) for cell, name in zip(cells, names, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--outside", action="store_true", help="the queries are copies outside of the lake")
    options = parser.parse_args()
    lake = dovetail.Lake(options.index)
    paths = {
        table: path
        for segment in lake.segments
        for table, path in zip(segment.names, segment.catalog.tables["path"].to_pylist(), strict=True)
    }
    asked = questions(options.databases.resolve())
    ask(lake, paths, asked[0])  # compiles
    with tempfile.TemporaryDirectory() as folder:
        report([ask(lake, paths, question, Path(folder) if options.outside else None) for question in asked])


if __name__ == "__main__":
    main()
