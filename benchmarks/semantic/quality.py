"""How many tables and rows are found that are written differently: Dovetail beside equal values, Jaccard and rapidfuzz.

    python benchmarks/semantic/quality.py PAIRS [--embedders ngrams,words,sentences]

PAIRS holds folders with left.csv, right.csv and gt.csv (id_l, id_r), or with source.csv and target.csv of one column
and pairs.csv (source_value, target_value). Columns: the key column of each left table among all others is to be found
by each right one. Rows: each left row goes to its best match. Thresholds of every method are tuned on the same pairs,
as in the paper's Table IV; Dovetail's are also told untuned. Joined rows are those of `dovetail join --by semantic`.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail
from dovetail.indexes.pexeso.core import Space, VectorParameters
from dovetail.join.choose import join_tables
from dovetail.join.request import JoinRequest
from dovetail.tables.input_table import open_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

KEYS = ("title", "name", "key")
SHARES = np.arange(0.1, 0.95, 0.1)
LEVELS = {"jaccard": np.arange(0.3, 1.0, 0.1), "rapidfuzz": np.arange(0.5, 1.0, 0.05)}
SIMILARITIES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
ANY = -1.0  # level of a best match, however far
MOST = 400  # values of a query


@dataclass(frozen=True)
class Case:
    """Two columns, folded, how the truth calls their rows, and the rows that belong together."""

    sides: tuple[list[str], list[str]]
    ids: tuple[list[str], list[str]]
    truth: set[tuple[str, str]]


def cases(root: Path, most: int) -> Iterator[Case]:
    for truth in sorted([*root.rglob("gt.csv"), *root.rglob("pairs.csv")]):
        by_value = truth.name == "pairs.csv"
        files = ("source.csv", "target.csv") if by_value else ("left.csv", "right.csv")
        one, other = (_rows(truth.parent / name) for name in files)
        key = next((name for name in KEYS if name in one[0] and name in other[0]), None)
        if key and max(len(one), len(other)) <= most:
            names = ("source_value", "target_value") if by_value else ("id_l", "id_r")
            pairs = {(row[names[0]], row[names[1]]) for row in _rows(truth)}
            ids = tuple([row[key if by_value else "id"] for row in side] for side in (one, other))
            sides = tuple([" ".join((row[key] or "").casefold().split()) for row in side] for side in (one, other))
            yield Case(sides, ids, pairs)  # type: ignore[arg-type]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def jaccard(mine: list[str], theirs: list[str]) -> Any:
    """Of words, all with all."""
    words = sorted({word for text in (*mine, *theirs) for word in re.findall(r"\w+", text)})
    place = {word: number for number, word in enumerate(words)}
    sides = []
    for texts in (mine, theirs):
        bags = np.zeros((len(texts), len(words)), np.float32)
        for row, text in enumerate(texts):
            bags[row, [place[word] for word in re.findall(r"\w+", text)]] = 1.0
        sides.append(bags)
    common = sides[0] @ sides[1].T
    return common / np.maximum(sides[0].sum(1)[:, None] + sides[1].sum(1)[None] - common, 1.0)


def fuzzy(mine: list[str], theirs: list[str]) -> Any:
    from rapidfuzz import fuzz, process

    return process.cdist(mine, theirs, scorer=fuzz.token_set_ratio, workers=1, dtype=np.float32) / 100


class Similarity:
    """The similarity that Dovetail reports. A text is embedded once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: dict[str, Any] = {}

    def __call__(self, mine: list[str], theirs: list[str]) -> Any:
        new = list(dict.fromkeys(text for text in (*mine, *theirs) if text not in self._known))
        if new:
            self._known.update(zip(new, self._space.dense(pa.array(new, pa.large_string())), strict=True))
        one, other = (np.array([self._known[text] for text in side]) for side in (mine, theirs))
        words = [self._space.words(pa.array(side, pa.large_string())) for side in (mine, theirs)]
        rows, columns = (places.ravel() for places in np.indices((len(mine), len(theirs))))
        relations = words[0].relations(rows, words[1], columns).reshape(len(mine), len(theirs))
        return self._space.matching().calibration.similarities(one @ other.T, relations)


def f1(found: int, right: int, true: int) -> tuple[float, float, float]:
    return right / max(found, 1), right / max(true, 1), 2 * right / max(found + true, 1)


def columns(all_cases: list[Case], similarity: Callable[..., Any], levels: Any) -> dict[tuple[float, float], Any]:
    """For each level and share: precision, recall and F1 of the tables found."""
    best = np.empty((len(all_cases), len(all_cases)), object)
    for i, mine in enumerate(all_cases):
        values = list(dict.fromkeys(filter(None, mine.sides[1])))[:MOST]
        for j, theirs in enumerate(all_cases):
            best[i, j] = similarity(values, list(dict.fromkeys(filter(None, theirs.sides[0])))).max(axis=1)
    found = {}
    for level in levels:
        joinable = np.array([[np.mean(likes >= level - 1e-9) for likes in row] for row in best])
        for share in SHARES:
            hits = joinable >= share
            found[float(level), float(share)] = f1(int(hits.sum()), int(np.trace(hits)), len(all_cases))
    return found


def rows_by(all_cases: list[Case], similarity: Callable[..., Any], levels: Any) -> dict[float, Any]:
    """For each level: mean precision, recall and F1 of the left rows' best matches."""
    found: dict[float, list[Any]] = {float(level): [] for level in (ANY, *levels)}
    for case in all_cases:
        likes = similarity(*case.sides)
        nearest, high = likes.argmax(axis=1), likes.max(axis=1)
        for level in found:
            pairs = {(case.ids[0][i], case.ids[1][nearest[i]]) for i in np.flatnonzero(high >= level - 1e-9)}
            found[level].append(f1(len(pairs), len(pairs & case.truth), len(case.truth)))
    return {level: np.mean(values, axis=0) for level, values in found.items()}


def joined(all_cases: list[Case], join: Callable[[Case], list[tuple[int, int]]]) -> Any:
    found = []
    for case in all_cases:
        named = {(case.ids[0][left], case.ids[1][right]) for left, right in join(case)}
        found.append(f1(len(named), len(named & case.truth), len(case.truth)))
    return np.mean(found, axis=0)


def by_meaning(space: Space) -> Callable[[Case], list[tuple[int, int]]]:
    def join(case: Case) -> list[tuple[int, int]]:
        tables = [open_table({"value": side}) for side in case.sides]
        return row_pairs(join_tables(*tables, JoinRequest(on="value", by="semantic"), space))

    return join


def by_way(way: str) -> Callable[[Case], list[tuple[int, int]]]:
    def join(case: Case) -> list[tuple[int, int]]:
        return row_pairs(dovetail.join(*(pa.table({"value": side}) for side in case.sides), by=way))

    return join


def row_pairs(joined: dovetail.JoinResult) -> list[tuple[int, int]]:
    return list(zip(joined.pairs["left_row"].to_pylist(), joined.pairs["right_row"].to_pylist(), strict=True))


def told(numbers: Any) -> str:
    return "P {:.3f}  R {:.3f}  F1 {:.3f}".format(*numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--embedders", default="ngrams")
    parser.add_argument("--alone", action="store_true", help="the embedders only, without peers and other joins")
    parser.add_argument("--most", type=int, default=3_000, help="rows of a table; larger cases are left out")
    options = parser.parse_args()
    all_cases = list(cases(options.pairs, options.most))
    print(f"{len(all_cases)} pairs of tables")
    best: dict[str, Best] = {}
    joins: dict[str, float] = {}
    for name, (similarity, levels) in (peers() if not options.alone else {}).items():
        best[name] = tell(name, all_cases, similarity, levels)
    for name in filter(None, options.embedders.split(",")):
        space = VectorParameters.chosen(name).space()
        best[name] = tell(name, all_cases, Similarity(space), SIMILARITIES)
        tables = best[name].tables
        default = min(tables, key=lambda key: abs(key[0] - 0.5) + abs(key[1] - 0.6))
        rows = joined(all_cases, by_meaning(space))
        joins[name] = float(rows[2])
        print(f"{'':26} tables at 0.5, 60 %: {told(tables[default])}   joined rows {told(rows)}", flush=True)
    for way in () if options.alone else ("equal", "similar"):
        print(f"{'dovetail join --by ' + way:26} joined rows {told(joined(all_cases, by_way(way)))}", flush=True)
    if not options.alone and "ngrams" in joins:
        record(
            pairs=len(all_cases),
            rows=joins["ngrams"],
            rapidfuzz_rows=best["rapidfuzz token_set_ratio"].rows_f1,
            equal_rows=best["equal values"].rows_f1,
            tables=best["ngrams"].tables_f1,
            jaccard_tables=best["Jaccard of words"].tables_f1,
        )


def peers() -> dict[str, tuple[Callable[..., Any], Any]]:
    return {
        "equal values": (lambda a, b: (np.array(a)[:, None] == np.array(b)[None]).astype(np.float32), (1.0,)),
        "Jaccard of words": (jaccard, LEVELS["jaccard"]),
        "rapidfuzz token_set_ratio": (fuzzy, LEVELS["rapidfuzz"]),
    }


@dataclass(frozen=True)
class Best:
    """What a method finds with its best thresholds, and its tables by thresholds."""

    tables: dict[Any, Any]
    tables_f1: float
    rows_f1: float


def tell(name: str, all_cases: list[Case], similarity: Callable[..., Any], levels: Any) -> Best:
    begun = time.perf_counter()
    tables, rows = columns(all_cases, similarity, levels), rows_by(all_cases, similarity, levels)
    best = max(tables, key=lambda key: tables[key][2])
    level = max(rows, key=lambda key: rows[key][2])
    print(f"{name:26} tables {told(tables[best])} (at {best[0]:.2f}, {best[1]:.1f})", end="   ")
    print(f"best rows {told(rows[level])} (at {level:.2f}); right however far {rows[ANY][1]:.3f}", end="   ")
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
    return Best(tables, float(tables[best][2]), float(rows[level][2]))


if __name__ == "__main__":
    main()
