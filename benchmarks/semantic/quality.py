"""How many tables and rows are found that are written differently: Dovetail beside equal values, Jaccard and rapidfuzz.

    python benchmarks/semantic/quality.py FUZZY_PAIRS [--embedders ngrams,words]

FUZZY_PAIRS holds folders with left.csv, right.csv and gt.csv (id_l, id_r). Columns: the key column of each left table
among all others is to be found by each right one. Rows: each left row goes to its best match. Thresholds of every
method are tuned on the same pairs, as in the paper's Table IV; Dovetail's are also told untuned.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail
from dovetail.indexes.pexeso import Parameters

TITLES = ("title", "name")
SHARES = np.arange(0.1, 0.95, 0.1)
LEVELS = {"jaccard": np.arange(0.3, 1.0, 0.1), "rapidfuzz": np.arange(0.5, 1.0, 0.05)}
TAUS = (0.04, 0.05, 0.06, 0.07, 0.08)
MOST = 400  # values of a query


class Case:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = [_rows(folder / f"{side}.csv") for side in ("left", "right")]
        column = next(name for name in TITLES if name in rows[0][0] and name in rows[1][0])
        self.sides = [[" ".join((row[column] or "").casefold().split()) for row in side] for side in rows]
        self.ids = [[row["id"] for row in side] for side in rows]
        self.truth = {(row["id_l"], row["id_r"]) for row in _rows(folder / "gt.csv")}


def cases(root: Path, most: int) -> Iterator[Case]:
    for folder in sorted(path.parent for path in root.glob("*/*/gt.csv")):
        rows = _rows(folder / "left.csv"), _rows(folder / "right.csv")
        if any(name in rows[0][0] and name in rows[1][0] for name in TITLES) and max(map(len, rows)) <= most:
            yield Case(folder)


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


def nearness(embedder: str) -> Callable[[list[str], list[str]], Any]:
    """1 minus the distance as it is told, so that more is nearer."""
    space = Parameters.chosen(embedder).space()

    def all_with_all(mine: list[str], theirs: list[str]) -> Any:
        one, other = (space.dense(pa.array(side, pa.large_string())) for side in (mine, theirs))
        return 1.0 - space.told(np.maximum(2.0 - 2.0 * (one @ other.T), 0.0))

    return all_with_all


def f1(found: int, right: int, true: int) -> tuple[float, float, float]:
    return right / max(found, 1), right / max(true, 1), 2 * right / max(found + true, 1)


def columns(all_cases: list[Case], likeness: Callable[..., Any], levels: Any) -> dict[tuple[float, float], Any]:
    """For each level and share: precision, recall and F1 of the tables found."""
    best = np.empty((len(all_cases), len(all_cases)), object)
    for i, mine in enumerate(all_cases):
        values = list(dict.fromkeys(filter(None, mine.sides[1])))[:MOST]
        for j, theirs in enumerate(all_cases):
            best[i, j] = likeness(values, list(dict.fromkeys(filter(None, theirs.sides[0])))).max(axis=1)
    found = {}
    for level in levels:
        joinable = np.array([[np.mean(likes >= level - 1e-9) for likes in row] for row in best])
        for share in SHARES:
            hits = joinable >= share
            found[float(level), float(share)] = f1(int(hits.sum()), int(np.trace(hits)), len(all_cases))
    return found


def rows_by(all_cases: list[Case], likeness: Callable[..., Any], levels: Any) -> dict[float, Any]:
    """For each level: mean precision, recall and F1 of the left rows' best matches."""
    found: dict[float, list[Any]] = {float(level): [] for level in levels}
    for case in all_cases:
        likes = likeness(*case.sides)
        nearest, high = likes.argmax(axis=1), likes.max(axis=1)
        for level in found:
            pairs = {(case.ids[0][i], case.ids[1][nearest[i]]) for i in np.flatnonzero(high >= level - 1e-9)}
            found[level].append(f1(len(pairs), len(pairs & case.truth), len(case.truth)))
    return {level: np.mean(values, axis=0) for level, values in found.items()}


def joined(all_cases: list[Case], by: str) -> Any:
    found = []
    for case in all_cases:
        tables = [
            pa.table({"id": ids, "value": values}).select(["value"])
            for ids, values in zip(case.ids, case.sides, strict=True)
        ]
        pairs = dovetail.join(*tables, by=by).pairs.to_pylist()
        named = {(case.ids[0][pair["left_row"]], case.ids[1][pair["right_row"]]) for pair in pairs}
        found.append(f1(len(named), len(named & case.truth), len(case.truth)))
    return np.mean(found, axis=0)


def told(numbers: Any) -> str:
    return "P {:.3f}  R {:.3f}  F1 {:.3f}".format(*numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--embedders", default="ngrams")
    parser.add_argument("--most", type=int, default=3_000, help="rows of a table; larger cases are left out")
    options = parser.parse_args()
    all_cases = list(cases(options.pairs, options.most))
    print(f"{len(all_cases)} pairs of tables")
    methods: dict[str, tuple[Callable[..., Any], Any]] = {"Jaccard of words": (jaccard, LEVELS["jaccard"])}
    methods["equal values"] = (lambda a, b: (np.array(a)[:, None] == np.array(b)[None]).astype(np.float32), (1.0,))
    if importlib.util.find_spec("rapidfuzz"):
        methods["rapidfuzz token_set_ratio"] = (fuzzy, LEVELS["rapidfuzz"])
    for name in options.embedders.split(","):
        methods[f"Dovetail {name}"] = (nearness(name), 1.0 - np.array(TAUS))
    for name, (likeness, levels) in methods.items():
        begun = time.perf_counter()
        tables, rows = columns(all_cases, likeness, levels), rows_by(all_cases, likeness, levels)
        best = max(tables, key=lambda key: tables[key][2])
        level = max(rows, key=lambda key: rows[key][2])
        print(f"{name:26} tables {told(tables[best])} (at {best[0]:.2f}, {best[1]:.1f})", end="   ")
        print(f"best rows {told(rows[level])} (at {level:.2f})   {time.perf_counter() - begun:.0f} s", flush=True)
        if name.startswith("Dovetail"):
            default = min(tables, key=lambda key: abs(key[0] - 0.94) + abs(key[1] - 0.6))
            print(f"{'… at 6 %, 60 %':26} tables {told(tables[default])}", flush=True)
    for by in ("equal", "fuzzy", "semantic"):
        print(f"dovetail join --by {by:10} rows {told(joined(all_cases, by))}", flush=True)


if __name__ == "__main__":
    main()
