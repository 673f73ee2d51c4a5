"""How well and how fast tables with differently written keys are joined: precision, recall, F1, seconds.

    python benchmarks/transformation/run.py --truth DIR

DIR has `transform_pairs/<family>/<case>/` with source.csv, target.csv and pairs.csv (source_value, target_value), and
`fuzzy_pairs/<family>/<case>/` with left.csv, right.csv and gt.csv (id_l, id_r). Without it, the synthetic sets and the
growth with the rows only. Averages as in section 4.7.1 of the paper: an empty result is left out of the precision, and
counts in recall and F1.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import synthetic

import dovetail
from dovetail.transform.discover import discover

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

Columns = dict[str, list[str | None]]
_GROWTH = (100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Measured:
    name: str
    precision: float | None
    recall: float
    seconds: float

    @property
    def f1(self) -> float:
        total = (self.precision or 0) + self.recall
        return 2 * (self.precision or 0) * self.recall / total if total else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, help="a folder with transform_pairs and fuzzy_pairs")
    parser.add_argument("--rows", type=int, default=1_000, help="of the synthetic sets")
    parser.add_argument("--growth-to", type=int, default=100_000, help="the most rows of the growth test")
    parser.add_argument("--fuzzy-to", type=int, default=10_000, help="the most rows of the growth test of similarity")
    parser.add_argument("--cases", action="store_true", help="print every case")
    options = parser.parse_args()
    dovetail.join({"a": ["b c", "d e", "f g"]}, {"a": ["b", "d", "f"]})  # compiles, or loads what was compiled
    report("synthetic", [_synthetic(name, options.rows) for name in synthetic.CASES], True)
    for folder in sorted(options.truth.glob("transform_pairs/*/")) if options.truth else ():
        measured = [transform_case(case) for case in cases(folder)]
        report(folder.name, measured, options.cases)
        keep(folder.name, measured)
    for folder in sorted(options.truth.glob("fuzzy_pairs/*/")) if options.truth else ():
        report(folder.name, [fuzzy_case(case) for case in cases(folder)], options.cases)
    for rows in _GROWTH:
        if rows <= options.growth_to:
            _grow(rows)
    for rows in _GROWTH:
        if rows <= options.fuzzy_to:
            measured = _measure(f"{rows:,} rows", *synthetic.misspelt(rows, random.Random(rows)), by="similar")
            print(f"fuzzy  {measured.name:>15}  {_quality(measured)}  {measured.seconds:8.2f} s  {_peak()}", flush=True)


def keep(family: str, cases: list[Measured]) -> None:
    """The figures of docs/benchmarks.md."""
    recall = statistics.mean(case.recall for case in cases)
    if family == "AutoJoin":
        precision = statistics.mean(case.precision for case in cases if case.precision is not None)
        record(web_cases=len(cases), web_precision=precision, web_recall=recall)
    elif family == "DataXFormer":
        record(knowledge_cases=len(cases), knowledge_recall=recall)


def _grow(rows: int) -> None:
    """Learning, then the join by what was learned, as processor seconds: the first must grow less than the rows."""
    left, right, truth = synthetic.citeseer(rows, random.Random(rows))
    moments = [time.process_time()]
    found = discover(left, right)
    moments.append(time.process_time())
    pairs: set[Hashable] = set()
    if found is not None:
        way = dovetail.Transformation(found.programs, found.reversed, found.target)
        pairs = set(pairs_of(dovetail.join(left, right, by=way)))
    moments.append(time.process_time())
    measured = scored(f"{rows:,} rows", pairs, truth, moments[2] - moments[0])
    stages = f"learn {moments[1] - moments[0]:7.2f} s  join {moments[2] - moments[1]:7.2f} s"
    print(f"growth {measured.name:>15}  F1 {measured.f1:.3f}  {stages}  {_peak()}", flush=True)


def _peak() -> str:
    return f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def _quality(measured: Measured) -> str:
    return f"P {measured.precision or 0:.3f}  R {measured.recall:.3f}"


def cases(folder: Path) -> Iterator[Path]:
    found = [path.parent for path in sorted(folder.glob("**/truth.json"))]
    return (path for path in found if (path / "pairs.csv").exists() or (path / "gt.csv").exists())


def _synthetic(name: str, rows: int) -> Measured:
    return _measure(name, *synthetic.CASES[name](rows, random.Random(rows)))


def _measure(name: str, left: Columns, right: Columns, truth: set[tuple[int, int]], by: str | None = None) -> Measured:
    begun = time.perf_counter()
    pairs = set(pairs_of(dovetail.join(left, right, by=by)))
    return scored(name, pairs, truth, time.perf_counter() - begun)


def transform_case(folder: Path, join: Callable[[Columns, Columns], Any] = dovetail.join) -> Measured:
    """By distinct pairs of values: the truth is given as such. `join` returns a result, or None."""
    source, target = read(folder / "source.csv"), read(folder / "target.csv")
    truth, (mine, theirs) = true_pairs(folder, source, target)
    begun = time.perf_counter()
    joined = join(source, target)
    seconds = time.perf_counter() - begun
    pairs: set[Hashable] = {(source[mine][a], target[theirs][b]) for a, b in pairs_of(joined)} if joined else set()
    return scored(folder.name, pairs, truth, seconds)


def true_pairs(folder: Path, source: Columns, target: Columns) -> tuple[set[Hashable], tuple[str, str]]:
    """The pairs of values that join, of those that are in the tables, and the columns that have them."""
    names = json.loads((folder / "truth.json").read_text())
    columns = names["source_column"], names["target_column"]
    here = set(source[columns[0]]), set(target[columns[1]])
    listed = read(folder / "pairs.csv")
    truth = zip(listed["source_value"], listed["target_value"], strict=True)
    return {pair for pair in truth if pair[0] in here[0] and pair[1] in here[1]}, columns


def by_similarity(left: Columns, right: Columns) -> tuple[set[tuple[int, int]], str]:
    """Pairs of rows, and what the join says decided."""
    joined = dovetail.join(left, right, by="similar")
    return set(pairs_of(joined)), joined.why


def fuzzy_case(folder: Path, why: Counter[str] | None = None, join: Callable[..., Any] = by_similarity) -> Measured:
    """`why` counts what the join, one like `by_similarity`, says decided."""
    left, right, listed = (read(folder / name) for name in ("left.csv", "right.csv", "gt.csv"))
    ids = left.pop(next(iter(left))), right.pop(next(iter(right)))
    begun = time.perf_counter()
    rows, decided = join(left, right)
    seconds = time.perf_counter() - begun
    if why is not None:
        why[decided.split(" of at most")[0]] += 1
    pairs = {(ids[0][a], ids[1][b]) for a, b in rows}
    return scored(folder.name, pairs, set(zip(listed["id_l"], listed["id_r"], strict=True)), seconds)


def pairs_of(joined: Any) -> Iterator[tuple[int, int]]:
    return zip(joined.pairs["left_row"].to_pylist(), joined.pairs["right_row"].to_pylist(), strict=True)


def scored(name: str, pairs: set[Hashable], truth: set[Hashable], seconds: float) -> Measured:
    right = len(pairs & truth)
    return Measured(name, right / len(pairs) if pairs else None, right / max(len(truth), 1), seconds)


def read(path: Path) -> Columns:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    names: list[str] = []
    for name in header:
        while name in names:
            name += "_"
        names.append(name)
    return {name: [row[place] or None for row in rows] for place, name in enumerate(names)}


def report(family: str, cases: list[Measured], every: bool) -> None:
    if not cases:
        return
    for case in cases if every else ():
        precision = "    –" if case.precision is None else f"{case.precision:5.2f}"
        print(f"  {case.name[:44]:44}  P {precision}  R {case.recall:5.2f}  F1 {case.f1:5.2f}  {case.seconds:6.2f} s")
    precisions = [case.precision for case in cases if case.precision is not None]
    print(
        f"{family:12}{len(cases):4} cases  P {statistics.mean(precisions or [0]):.3f}  "
        f"R {statistics.mean(case.recall for case in cases):.3f}  F1 {statistics.mean(case.f1 for case in cases):.3f}  "
        f"median {statistics.median(case.seconds for case in cases):.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
