"""Are the tables found that can be appended to mine, and is a union told from a join?

    python benchmarks/union/run.py INDEX PIECES --databases FOLDER [--fitted GLOB ...] [--misses]

INDEX is an index of a lake to which PIECES (made by splits.py, from sources that no weight was fitted on) and the
folder of databases of `benchmarks/judgement/search.py` were added. FITTED are the sources that weights were fitted
on.

Splits: one piece of each horizontally cut table is a query; the other ten pieces are right.
Series: tables of one folder whose names differ only in digits and whose headers (at least three names with letters) are
the same, at least eleven of them; one query each. Any other of the series is right, ten of them are enough.

Tables whose header is similar to that of the query's own table (Jaccard of the names of their columns 1/2 or more)
count neither way: nobody has said whether they continue it. They are left out, and the first ten of the others are
looked at. Precision is the share of right ones among these, recall the share of ten.

Join or union: of the hits of `search`, the pieces of the query's own table must be told as unions if it was cut
horizontally, as joins if vertically, and tables that a table of a database refers to as joins.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import dovetail

sys.path += [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "judgement")]
from fit_union import SIMILAR_HEADER, headers_of
from search import questions, table_paths

from measured import record

_QUERIES = 1  # of each table that was cut
_RIGHT = 10  # tables to find
_ASKED = 60  # hits, of which those that count neither way are left out; the time is that of asking for so many
_SERIES = 40  # at most
_SEED = 3


class Answer:
    """One query: the first ten hits that count."""

    def __init__(self, query: str, hits: list[str], right: Callable[[str], float], seconds: float) -> None:
        judged = [(hit, right(hit)) for hit in hits]
        counted = [(hit, value) for hit, value in judged if not np.isnan(value)][:_RIGHT]
        self.query, self.seconds = query, seconds
        self.wrong = [hit for hit, value in counted if not value]
        found = sum(value for _, value in counted)
        self.precision = found / len(counted) if counted else 0.0
        self.recall = found / _RIGHT


def similar(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SIMILAR_HEADER * len(one | other)


def ask(lake: dovetail.Lake, query: str, name: str, right: Callable[[str], float]) -> Answer:
    hits = lake.union(query, _ASKED)
    return Answer(name, [hit.table for hit in hits], right, hits.seconds)


def of_splits(lake: dovetail.Lake, truth: list[dict[str, Any]], folder: Path) -> list[Answer]:
    headers, base_of = headers_of(lake), {name: base for base in truth for name in base["files"]}
    draw = np.random.default_rng(_SEED)
    answers = []
    for base in truth:
        if base["cut"] != "horizontal":
            continue

        def right(table: str, base: dict[str, Any] = base) -> float:
            other = base_of.get(table.rpartition("/")[2])
            if other is base:
                return 1.0
            theirs = headers[other["base"] if other else table]
            return np.nan if similar(headers[base["base"]], theirs) else 0.0

        for place in draw.choice(len(base["files"]), _QUERIES, replace=False):
            answers.append(ask(lake, str(folder / list(base["files"])[place]), base["base"], right))
    return answers


def series_of(lake: dovetail.Lake, fitted: list[str]) -> list[list[str]]:
    """Tables whose names differ only in digits and whose headers are the same, in random order."""
    groups: dict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
    for table, header in sorted(headers_of(lake).items()):
        telling = sum(bool(re.search("[a-z]", name)) for name in header)
        if telling >= 3 and not any(fnmatch(table, glob) for glob in fitted):
            groups[re.sub(r"\d+", "0", table), header].append(table)
    found = [tables for _, tables in sorted(groups.items(), key=lambda entry: entry[1]) if len(tables) > _RIGHT]
    order = np.random.default_rng(_SEED).permutation(len(found))
    return [found[place] for place in order[:_SERIES]]


def of_series(lake: dovetail.Lake, fitted: list[str]) -> list[Answer]:
    headers = headers_of(lake)
    draw = np.random.default_rng(_SEED)
    answers = []
    for tables in series_of(lake, fitted):
        query = tables[draw.integers(len(tables))]

        def right(table: str, tables: list[str] = tables) -> float:
            if table in tables:
                return 1.0
            return np.nan if similar(headers[tables[0]], headers[table]) else 0.0

        answers.append(ask(lake, query, query, right))
    return answers


def join_or_union(
    lake: dovetail.Lake, truth: list[dict[str, Any]], folder: Path, databases: Path
) -> dict[str, list[bool]]:
    """Whether each hit whose kind is known is told as what it is."""
    told: dict[str, list[bool]] = defaultdict(list)
    draw = np.random.default_rng(_SEED)
    for base in truth:
        files = list(base["files"])
        for place in draw.choice(len(files), _QUERIES, replace=False):
            for hit in lake.search(folder / files[place], k=_RIGHT + 1):
                if hit.table.rpartition("/")[2] in base["files"]:
                    wanted = "union" if base["cut"] == "horizontal" else "join"
                    told[f"{base['cut']} pieces"].append(hit.rather == wanted)
    paths = table_paths(lake)
    for question in questions(databases.resolve()):
        for hit in lake.search(question.query):
            if paths[hit.table] in question.references:
                told["tables of databases"].append(hit.rather == "join")
    return told


def report(title: str, answers: list[Answer], misses: bool) -> tuple[float, float]:
    """Returns the precision and the recall."""
    precision, recall = mean(each.precision for each in answers), mean(each.recall for each in answers)
    seconds = [each.seconds for each in answers]
    print(
        f"{title}: {len(answers)} queries, precision at 10 {precision:.3f}, recall at 10 {recall:.3f}, "
        f"median {median(seconds):.2f} s, slowest {max(seconds):.2f} s"
    )
    for answer in sorted(answers, key=lambda answer: answer.recall) if misses else ():
        if answer.recall < 1 or answer.precision < 1:
            print(f"  {answer.query}: precision {answer.precision:.2f}, recall {answer.recall:.2f}; {answer.wrong[:3]}")
    return precision, recall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("pieces", type=Path)
    parser.add_argument("--databases", type=Path)
    parser.add_argument("--fitted", nargs="*", default=[])
    parser.add_argument("--part", default="splits,series,told", help="what to measure, separated by commas")
    parser.add_argument("--misses", action="store_true", help="also print what was missed")
    options = parser.parse_args()
    lake = dovetail.open(options.index)
    truth = json.loads((options.pieces / "truth.json").read_text())
    lake.union(str(options.pieces / next(iter(truth[0]["files"]))))  # compiles
    parts = options.part.split(",")
    if "splits" in parts:
        found = of_splits(lake, truth, options.pieces)
        precision, recall = report("Splits", found, options.misses)
        record(tables=len(lake.tables()), splits=len(found), splits_precision=precision, splits_recall=recall)
    if "series" in parts:
        found = of_series(lake, options.fitted)
        precision, recall = report("Series", found, options.misses)
        record(series=len(found), series_precision=precision, series_recall=recall)
    if "told" in parts and options.databases:
        told = join_or_union(lake, truth, options.pieces, options.databases)
        for name, right in told.items():
            print(f"Join or union, {name}: {mean(right):.3f} of {len(right)} hits")
        print(f"Join or union, mean over these kinds: {mean(mean(right) for right in told.values()):.3f}")


if __name__ == "__main__":
    main()
