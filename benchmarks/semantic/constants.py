"""The constants that decide on blocking, and of PEXESO's cost model, each scored on a lake that it was not fitted to.

    python benchmarks/semantic/constants.py measure INDEX --tables 'folder/*' --embedder glove --to FOLDER
    python benchmarks/semantic/constants.py fit FOLDER

`measure` writes what one setting (columns of some tables, an embedder) takes: the times of Algorithm 3 for each |P|
and m, those of searches without blocking (`vectors`) and with it (`pexeso`) for each τ and T with the share of pairs
that Lemma 1 leaves, and that of making a grid. `fit` chooses each constant on the settings of other lakes, and tells
what that costs on the one left out, beside the constants of the product and the best choice in hindsight.

| constant | what it decides |
|---|---|
| `_LEAF`, `_DISTANCE` | |P| and m, by the costs of a leaf and of a distance in texts of a covered cell |
| `_LEFT` | whether blocking pays for a query: the share of pairs that Lemma 1 leaves |
| `_VALUES_A_GRID` | after how many values asked a grid is made |
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from setting import OneSegment, blocked, columns_of, timed, unblocked

from dovetail.embedders.calibration import COSINE, Matching
from dovetail.indexes.pexeso import block_and_verify, query
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid, distances, expected_texts, share_left
from dovetail.indexes.pexeso.grid import DIAMETER, choose_pivots
from dovetail.search.semantic.match import TextQuery
from dovetail.tables.input_table import open_table

PIVOTS, LEVELS = block_and_verify._PIVOTS, block_and_verify._LEVELS
TAUS, SHARES = (0.02, 0.04, 0.06), (0.2, 0.6)
LEAF, DISTANCE = (0.03, 0.1, 0.3, 1.0, 3.0), (1.0, 3.0, 10.0, 30.0, 100.0)
LEFT = (0.0, 0.0003, 0.0006, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 1.0)


def measure(lake: OneSegment, columns: list[list[str]], queries: int) -> dict[str, Any]:
    reader, every = lake.texts, np.ones(len(columns), bool)
    drawn = np.random.default_rng(7).choice(len(columns), queries, replace=False)
    asked = [TextQuery.of(open_table(columns[n]).columns[0], reader.space) for n in drawn]
    vectors, held = reader.vectors_of(slice(None)), reader.columns_of(slice(None))

    searches = {"vectors": unblocked, "pexeso": blocked}

    def answer(one: TextQuery, tau: float, share: float, name: str) -> Any:
        matching = Matching(COSINE, 1 - (2 * tau) ** 2 / 2)
        least = int(np.ceil(share * one.column.size))
        return searches[name](lake, one, matching, least, every)

    def least_of_two(work: Callable[[], Any]) -> float:
        return min(timed(work)[0] for _ in range(2))

    for name in searches:
        answer(asked[0], 0.02, 0.6, name)  # compiles
    made, kept = [], reader._grids[0, 0]
    made.append(timed(lambda: ColumnGrid.of(vectors, reader.dimension, held, 0.04))[0])
    choices = [
        {"tau": tau, "share": share, "left": kept.share_left(np.asarray(one.vectors.vectors), 2 * tau)}
        | {name: least_of_two(lambda: answer(one, tau, share, name)) for name in searches}  # noqa: B023
        for one, tau, share in itertools.product(asked, TAUS, SHARES)
    ]
    per_value = float(np.sum([each["vectors"] for each in choices])) / sum(
        len(one.texts) for one in asked for _ in itertools.product(TAUS, SHARES)
    )
    return {
        "texts": reader.texts, "dimension": reader.dimension, "made": made[0], "per_value": per_value,
        "choices": choices, "grids": measure_grids(np.asarray(vectors), held, reader, asked),
    }  # fmt: skip


def measure_grids(vectors: Any, held: Any, reader: Any, asked: list[TextQuery]) -> list[dict[str, Any]]:
    """For each |P| and m: what the cost model knows at each τ, and how long Algorithm 3 takes."""
    sample = vectors[block_and_verify.spread(len(vectors), block_and_verify._SAMPLE)]
    every = distances(sample, choose_pivots(sample, PIVOTS[-1]))
    found = []
    for pivots, levels in itertools.product(PIVOTS, LEVELS):
        grid = ColumnGrid.of(vectors, reader.dimension, held, 0.04, pivots, levels)
        places = every[:, :pivots]
        queries = places[:: max(1, len(places) // block_and_verify._WORKLOAD)]
        leaves = len(np.unique((places / DIAMETER * 2**levels).astype(np.int64), axis=0))
        for tau in TAUS:
            seconds = 0.0
            for one in asked:
                dense, count = np.asarray(one.vectors.vectors), len(one.texts)
                given = np.ones(count, np.int64), 2 * tau, int(np.ceil(0.6 * count))
                rest = np.zeros(reader.columns, np.int64), np.ones(reader.columns, bool)
                run = partial(grid.joinable, dense, *given, *rest)
                seconds += min(timed(run)[0] for _ in range(2))
            found.append({
                "pivots": pivots, "levels": levels, "tau": tau, "seconds": seconds, "leaves": leaves,
                "texts": expected_texts(places, queries, 2 * tau, levels) * len(vectors),
                "distances": share_left(places, queries, 2 * tau) * len(vectors),
            })  # fmt: skip
    return found


Setting = dict[str, Any]


def grid_seconds(setting: Setting, leaf: float, distance: float) -> float:
    """Time of the grids that these costs choose, for all τ."""
    total = 0.0
    for tau in TAUS:
        grids = [one for one in setting["grids"] if one["tau"] == tau]
        total += min(grids, key=lambda g: g["texts"] + distance * g["distances"] + leaf * g["leaves"])["seconds"]
    return total


def choice_seconds(setting: Setting, left: float) -> float:
    return sum(one["pexeso"] if one["left"] < left else one["vectors"] for one in setting["choices"])


def best_grids(setting: Setting) -> float:
    return sum(min(one["seconds"] for one in setting["grids"] if one["tau"] == tau) for tau in TAUS)


def best_choices(setting: Setting) -> float:
    return sum(min(one["pexeso"], one["vectors"]) for one in setting["choices"])


def _lake(name: str) -> str:
    """Settings are called by lake and embedder: "news, words"."""
    return name.rpartition(",")[0]


def fit(settings: dict[str, Setting]) -> list[str]:
    lines = [
        "Time ÷ that of the best choice in hindsight, on the setting left out.", "",
        "| left out | texts, dimensions | `_LEAF`, `_DISTANCE` of the others | cost | the product's "
        "| `_LEFT` of the others | cost | the product's | only `vectors` | only `pexeso` "
        "| `_VALUES_A_GRID` here, of the others |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    balance = {name: one["made"] / one["per_value"] for name, one in settings.items()}
    for name, own in settings.items():
        others = [one for other, one in settings.items() if _lake(other) != _lake(name)]
        costs = min(
            itertools.product(LEAF, DISTANCE),
            key=lambda pair: sum(np.log(grid_seconds(one, *pair) / best_grids(one)) for one in others),
        )
        left = min(LEFT, key=lambda value: sum(np.log(choice_seconds(o, value) / best_choices(o)) for o in others))
        values = np.exp(np.mean([np.log(v) for other, v in balance.items() if _lake(other) != _lake(name)]))
        ours = block_and_verify._LEAF, block_and_verify._DISTANCE
        lines.append(
            f"| {name} | {own['texts']:,}, {own['dimension']} | {costs[0]}, {costs[1]:.0f} "
            f"| {grid_seconds(own, *costs) / best_grids(own):.2f} | {grid_seconds(own, *ours) / best_grids(own):.2f} "
            f"| {left} | {choice_seconds(own, left) / best_choices(own):.2f} "
            f"| {choice_seconds(own, query._LEFT) / best_choices(own):.2f} "
            f"| {choice_seconds(own, 0.0) / best_choices(own):.2f} "
            f"| {choice_seconds(own, 2.0) / best_choices(own):.2f} "
            f"| {balance[name]:,.0f}, {values:,.0f} |"
        )
    every = list(settings.values())
    costs = min(
        itertools.product(LEAF, DISTANCE),
        key=lambda pair: sum(np.log(grid_seconds(one, *pair) / best_grids(one)) for one in every),
    )
    left = min(LEFT, key=lambda value: sum(np.log(choice_seconds(one, value) / best_choices(one)) for one in every))
    middle = np.exp(np.mean(np.log(list(balance.values()))))
    lines += ["", f"On all: `_LEAF`, `_DISTANCE` {costs}, `_LEFT` {left}, `_VALUES_A_GRID` {middle:,.0f}."]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("index", type=Path)
    one.add_argument("--tables", default="", help="a glob")
    one.add_argument("--embedder", default="glove")
    one.add_argument("--columns", type=int, default=400, help="of the lake, at most")
    one.add_argument("--least", type=int, default=20, help="values of a column")
    one.add_argument("--longest", type=int, default=1000, help="values of a column")
    one.add_argument("--queries", type=int, default=8)
    one.add_argument("--name", required=True, help="of the setting")
    one.add_argument("--to", type=Path, required=True)
    commands.add_parser("fit").add_argument("folder", type=Path)
    given = parser.parse_args()
    if given.command == "fit":
        files = sorted(given.folder.glob("*.json"))
        print("\n".join(fit({file.stem: json.loads(file.read_text()) for file in files})))
        return
    columns = columns_of(given.index, given.columns, given.least, given.longest, given.tables)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(OneSegment(Path(folder), columns, given.embedder), columns, min(given.queries, len(columns)))
    given.to.mkdir(exist_ok=True)
    (given.to / f"{given.name}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
