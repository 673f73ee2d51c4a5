"""How many pairs of values that only the lake can relate are found: Dovetail beside plain voting, spelling and meaning.

    python benchmarks/through/run.py TRUTH INDEX [--only NAME] [--no-words]

TRUTH holds `semantic_pairs` (SEMA-JOIN) and `transform_pairs/DataXFormer`: folders with source.csv, target.csv,
pairs.csv (source_value, target_value) and truth.json (source_column, target_column). INDEX is that of a lake.

Precision, recall and F1 are those of a case, averaged over all; precision over those with an answer. Tables of the lake
that are copies of a case's own files do not vote: those with about as many rows as the case has pairs that hold nearly
all of the true pairs in the same order. (An independent list in alphabetical order is left out by this rule too.)

The weight of "no table knows it" was chosen on these cases; it is also reported as chosen, for each case, on all others
(leave one out). The form of the model was decided while looking at them, too: only other pairs are an independent test.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dovetail
from dovetail.indexes.pexeso.core import VectorParameters
from dovetail.similar.matching import best_keys
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import open_table
from dovetail.through import votes as voting
from dovetail.through.bridges import Bridge
from dovetail.through.lookup import Effort, Lookup, values_of

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

SETS = {"SEMA-JOIN": "semantic_pairs", "DataXFormer": "transform_pairs/DataXFormer"}
OURS, VOTING, WORDS = "through the lake", "plain voting", "words (embeddings), nearest"
UNKNOWN = (0.01, 0.03, 0.1, 0.3)  # weights of "no table knows it" that are tried
COPY = 0.9  # of the true pairs, in the same order
ROWS = 1.1  # of the true pairs that a copy may have at most

Pairs = set[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    name: str
    left: InputColumn
    right: InputColumn
    truth: list[tuple[str, str]]

    def written(self, left: np.ndarray, right: np.ndarray) -> Pairs:
        mine, theirs = self.left.written.to_pylist(), self.right.written.to_pylist()
        return {(mine[i], theirs[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)}


@dataclass(frozen=True)
class Score:
    precision: float
    recall: float
    f1: float
    answered: bool

    @classmethod
    def of(cls, found: Pairs, truth: Pairs) -> Score:
        right = len(found & truth)
        return cls(
            right / max(1, len(found)), right / len(truth), 2 * right / max(1, len(found) + len(truth)), bool(found)
        )


def cases(folder: Path, only: str | None) -> Iterator[Case]:
    for place in sorted(path.parent for path in folder.glob("*/truth.json")):
        if only and place.name != only:
            continue
        names = json.loads((place / "truth.json").read_text())
        source, target = (
            [row[names[f"{side}_column"]] for row in _rows(place / f"{side}.csv")] for side in ("source", "target")
        )
        truth = [(row["source_value"], row["target_value"]) for row in _rows(place / "pairs.csv")]
        columns = [open_table({"key": values}).column("key") for values in (source, target)]
        yield Case(place.name, columns[0], columns[1], truth)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def is_copy(lake: dovetail.Lake, case: Case, bridge: Bridge) -> bool:
    segment = lake.segments[bridge.place.segment]
    if segment.rows.rows_of(bridge.place.table) > ROWS * len(case.truth) + 1:
        return False
    codes = [segment.rows.codes(column) for column in bridge.place.columns]
    places = [
        np.append(values_of(side).places(segment, column), -1)
        for side, column in zip((case.left, case.right), bridge.place.columns, strict=True)
    ]
    written = [[*side.written.to_pylist(), None] for side in (case.left, case.right)]
    order = {pair: place for place, pair in enumerate(case.truth)}
    cells = zip(*(places[k][codes[k]].tolist() for k in (0, 1)), strict=True)
    held = [order[pair] for pair in ((written[0][i], written[1][j]) for i, j in cells) if pair in order]
    held = list(dict.fromkeys(held))
    if len(held) < COPY * len(order):
        return False
    return bool(np.mean(np.diff(held) > 0) >= COPY) if len(held) > 1 else False


def plain_votes(bridges: list[Bridge]) -> tuple[np.ndarray, np.ndarray]:
    """Each table votes, divided by its fan-out; the best partner of each left value."""
    support: dict[tuple[int, int], float] = defaultdict(float)
    for bridge in bridges:
        for i, j, fan in zip(bridge.left.tolist(), bridge.right.tolist(), bridge.fan_out.tolist(), strict=True):
            support[i, j] += 1 / fan
    best: dict[int, tuple[float, int]] = {}
    for (i, j), votes in support.items():
        if votes > best.get(i, (0.0, 0))[0]:
            best[i] = (votes, j)
    return np.array(list(best), np.int64), np.array([j for _, j in best.values()], np.int64)


def by_spelling(case: Case) -> Pairs:
    best = best_keys(case.left.tokens.to_pylist(), case.right.tokens.to_pylist())
    found = np.flatnonzero(best.keys >= 0)
    return case.written(found, best.keys[found])


class Meaning:
    """The nearest right value by the vectors of the embedder `words`."""

    def __init__(self) -> None:
        self._space = VectorParameters.chosen("words").space()

    def __call__(self, case: Case) -> Pairs:
        one, other = (self._space.dense(side.tokens) for side in (case.left, case.right))
        return case.written(np.arange(len(one)), (one @ other.T).argmax(axis=1))


def report(name: str, scores: list[Score]) -> None:
    answered = [score.precision for score in scores if score.answered]
    print(
        f"  {name:34} F1 {np.mean([s.f1 for s in scores]):.3f}  recall {np.mean([s.recall for s in scores]):.3f}  "
        f"precision where it answers {np.mean(answered or [0.0]):.3f} ({len(answered)} of {len(scores)} cases)"
    )


def left_out(by_weight: dict[float, list[Score]]) -> list[Score]:
    """Each case by the weight that gives the best mean F1 of all others."""
    f1 = {weight: np.array([score.f1 for score in scores]) for weight, scores in by_weight.items()}
    chosen = [
        max(f1, key=lambda weight: f1[weight].sum() - f1[weight][place])
        for place in range(len(next(iter(f1.values()))))
    ]
    return [by_weight[weight][place] for place, weight in enumerate(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--only", help="one case")
    parser.add_argument("--no-words", action="store_true", help="without embeddings")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    options = parser.parse_args()
    lake = dovetail.open(options.index)
    meaning = None if options.no_words else Meaning()
    found = {
        title: measure(title, list(cases(options.truth / folder, options.only)), lake, meaning, options.verbose)
        for title, folder in SETS.items()
    }
    keep(found["SEMA-JOIN"], found["DataXFormer"])


def keep(sema_join: dict[str, list[Score]], dataxformer: dict[str, list[Score]]) -> None:
    """The figures of docs/benchmarks.md."""
    record(
        sema_join_cases=len(sema_join[OURS]),
        sema_join=f1_of(sema_join[OURS]),
        sema_join_voting=f1_of(sema_join[VOTING]),
        sema_join_words=f1_of(sema_join[WORDS]),
        dataxformer_cases=len(dataxformer[OURS]),
        dataxformer=f1_of(dataxformer[OURS]),
        dataxformer_recall=np.mean([score.recall for score in dataxformer[OURS]]) if dataxformer[OURS] else None,
        dataxformer_voting=f1_of(dataxformer[VOTING]),
        dataxformer_words=f1_of(dataxformer[WORDS]),
    )


def f1_of(scores: list[Score]) -> float | None:
    return float(np.mean([score.f1 for score in scores])) if scores else None


def measure(
    title: str, all_cases: list[Case], lake: dovetail.Lake, meaning: Meaning | None, verbose: bool
) -> dict[str, list[Score]]:
    """Print how right each way is; returns the scores of the cases by way."""
    shipped = voting._UNKNOWN
    scores: dict[str, list[Score]] = defaultdict(list)
    by_weight: dict[float, list[Score]] = defaultdict(list)
    seconds: list[float] = []
    copies: set[tuple[str, str]] = set()

    def excluded(bridge: Bridge) -> bool:
        found = is_copy(lake, case, bridge)
        if found:
            copies.add((case.name, lake.segments[bridge.place.segment].names[bridge.place.table]))
        return found

    for case in all_cases:
        truth = set(case.truth)
        lookup = Lookup(lake.segments, values_of(case.left), values_of(case.right))
        begun = time.process_time()
        bridges = lookup.bridges(excluded)
        voting._UNKNOWN = shipped
        if bridges:
            lookup.votes(bridges)
        seconds.append(time.process_time() - begun)
        for weight in dict.fromkeys((shipped, *UNKNOWN)):
            voting._UNKNOWN = weight
            votes = lookup.votes(bridges) if bridges else None
            found = case.written(votes.left[votes.likely], votes.right[votes.likely]) if votes else set()
            by_weight[weight].append(Score.of(found, truth))
        voting._UNKNOWN = shipped
        equal = Lookup(lake.segments, values_of(case.left), values_of(case.right)).bridges(excluded, Effort.EQUAL)
        scores[VOTING].append(Score.of(case.written(*plain_votes(equal)), truth))
        scores["spelling, most similar"].append(Score.of(by_spelling(case), truth))
        if meaning:
            scores[WORDS].append(Score.of(meaning(case), truth))
        if verbose:
            one = by_weight[shipped][-1]
            sizes = f"{case.left.size} x {case.right.size}"
            print(
                f"    {case.name:28} {sizes:12} {len(bridges):4} bridges, {seconds[-1]:.2f} s: precision "
                f"{one.precision:.2f}, recall {one.recall:.2f}, F1 {one.f1:.2f}",
                flush=True,
            )
    print(f"{title}: {len(all_cases)} cases")
    report(OURS, by_weight[shipped])
    report("through the lake, leave one out", left_out(by_weight))
    for name, each in scores.items():
        report(name, each)
    times = np.array(seconds)
    median, high, most = np.quantile(times, [0.5, 0.9, 1.0])
    print(f"  processor seconds: median {median:.2f}, 90 % {high:.2f}, most {most:.2f}")
    print(f"  copies that do not vote: {len(copies)}")
    for name, table in sorted(copies):
        print(f"    {name}: {table}")
    scores[OURS] = by_weight[shipped]
    return scores


if __name__ == "__main__":
    main()
