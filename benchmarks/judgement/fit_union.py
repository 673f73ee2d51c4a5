"""Fit the models of unions: do two columns hold the same attribute, and would a person append a table to another?

    python benchmarks/judgement/fit_union.py INDEX PIECES [--tables N] [--write]

PIECES is a folder that `benchmarks/union/splits.py` made; INDEX is an index of a lake to which it was added. Columns:
all pairs of columns of some pairs of pieces of one table. Tables: what the search considers for pieces. Pieces of the
same table are right if they were cut horizontally, wrong if vertically. Tables whose header is similar to that of the
piece's own table (Jaccard of the names of their columns 1/2 or more) count neither way: they may be of one series.
Folders of the lake are left out, a fifth of them at a time; what is printed is measured on these. --write fits all of
them and stores `src/dovetail/union/columns.json` and `tables.json`.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from signed_logistic import fit_signed

import dovetail
from dovetail._model import Model
from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.tables.input_table import open_table
from dovetail.union import alignment
from dovetail.union.alignment import COLUMN_FEATURES, compare
from dovetail.union.measure import FEATURES, UnionJudge
from dovetail.union.summary import summaries

_FOLDS = 5
_PAIRS = 4  # of pieces of each table, for columns
_QUERIES = 1  # of pieces of each table
_CONSIDERED = 60  # tables for each query
_PENALTY = 1.0  # arbitrary
_SEED = 0
_ROOM = Path(__file__).resolve().parents[2] / "src/dovetail/union"
SIMILAR_HEADER = 0.5
SIGNS = {
    "both_numbers": 0, "made_up": 0, "flag": 0, "length_differs": -1, "unique_differs": -1, "filled_differs": -1,
    "place_differs": -1, "key_shared": -1, "width_differs": -1,
}  # fmt: skip
"""The sign that the meaning of a feature allows, if not positive; 0 for both.

Where the files are says nothing here: all pieces are in one folder. So it is no feature.
"""


@dataclass(frozen=True)
class Examples:
    """Rows of features of one folder of the lake."""

    folder: str
    query: int
    features: Array
    right: Array


def fold_of(folders: list[str]) -> dict[str, int]:
    names = sorted(set(folders))
    order = np.random.default_rng(_SEED).permutation(len(names))
    return {names[place]: number % _FOLDS for number, place in enumerate(order)}


def of_columns(truth: list[dict[str, Any]], folder: Path) -> Iterator[Examples]:
    draw = np.random.default_rng(_SEED)
    for number, base in enumerate(truth):
        files = list(base["files"])
        if base["cut"] != "horizontal":
            continue
        for _ in range(_PAIRS):
            one, other = (files[place] for place in draw.choice(len(files), 2, replace=False))
            mine, theirs = (summaries(open_table(folder / name)) for name in (one, other))
            right = np.array([[a == b for b in base["files"][other]] for a in base["files"][one]])
            features = compare(mine, theirs).reshape(-1, len(COLUMN_FEATURES))
            yield Examples(str(Path(base["base"]).parent), number, features, right.reshape(-1).astype(float))


def of_tables(
    lake: dovetail.Lake, chosen: list[dict[str, Any]], truth: list[dict[str, Any]], folder: Path
) -> Iterator[Examples]:
    draw = np.random.default_rng(_SEED)
    headers = headers_of(lake)
    base_of = {name: base for base in truth for name in base["files"]}
    for number, base in enumerate(chosen):
        files = list(base["files"])
        for place in draw.choice(len(files), min(_QUERIES, len(files)), replace=False):
            mine = open_table(folder / files[place])
            allowed = [segment.allowed((), str(mine.path.resolve())) for segment in lake.segments]
            judge = UnionJudge(LakeColumns(lake.segments), mine, allowed)
            judged = judge.judge(judge.candidates(_CONSIDERED).tolist())
            right = np.array([how_right(base, each.table.name, base_of, headers) for each in judged])
            known = ~np.isnan(right)
            features = np.array([each.features for each in judged])
            yield Examples(str(Path(base["base"]).parent), number, features[known], right[known])


def headers_of(lake: dovetail.Lake) -> dict[str, frozenset[str]]:
    found = {}
    for segment in lake.segments:
        names = [name.casefold() for name in segment.catalog.columns["column"].to_pylist()]
        for table, first, width in zip(
            *(segment.catalog.tables[name].to_pylist() for name in ("table", "first_column", "columns")), strict=True
        ):
            found[table] = frozenset(names[first : first + width])
    return found


def how_right(
    base: dict[str, Any], table: str, base_of: dict[str, dict[str, Any]], headers: dict[str, frozenset[str]]
) -> float:
    """1 for a horizontal piece of the same table, 0 for others; NaN where nobody has said."""
    other = base_of.get(table.rpartition("/")[2])
    if other is base:
        return float(base["cut"] == "horizontal")
    mine, theirs = headers[base["base"]], headers[other["base"] if other else table]
    return np.nan if len(mine & theirs) >= SIMILAR_HEADER * len(mine | theirs) else 0.0


def fit(name: str, names: tuple[str, ...], examples: list[Examples]) -> Model:
    """Every query weighs the same."""
    features = np.concatenate([each.features for each in examples])
    right = np.concatenate([each.right for each in examples])
    weights = np.concatenate([np.full(len(each.right), 100 / max(len(each.right), 1)) for each in examples])
    signs = np.array([SIGNS.get(each, 1) for each in names])
    intercept, found = fit_signed(features, right, weights, signs, _PENALTY)
    return Model(name, names, intercept, found, np.average(features, axis=0, weights=weights), {})


def left_out(name: str, names: tuple[str, ...], examples: list[Examples]) -> list[tuple[Examples, Array]]:
    folds = fold_of([each.folder for each in examples])
    found = []
    for fold in range(_FOLDS):
        model = fit(name, names, [each for each in examples if folds[each.folder] != fold])
        found += [(each, model.probability(each.features)) for each in examples if folds[each.folder] == fold]
    return found


def report(title: str, answers: list[tuple[Examples, Array]]) -> None:
    right = np.concatenate([each.right for each, _ in answers])
    likely = np.concatenate([scores for _, scores in answers])
    told = likely >= 0.5
    precision, recall = right[told].mean(), told[right == 1].mean()
    groups = np.array_split(np.argsort(likely), 10)
    error = sum(len(group) * abs(likely[group].mean() - right[group].mean()) for group in groups) / len(right)
    print(f"{title}: {len(right):,} examples, {right.mean():.1%} right; at 1/2 precision {precision:.3f}, "
          f"recall {recall:.3f}; expected calibration error {error:.3f}")  # fmt: skip


def write(path: Path, model: Model, examples: list[Examples]) -> None:
    made_by = {
        "program": "benchmarks/judgement/fit_union.py",
        "data sets": sorted({each.folder.split("/")[0] for each in examples}),
        "tables": len({each.query for each in examples}),
        "date": datetime.date.today().isoformat(),
    }
    used = np.flatnonzero(model.weights).tolist()
    stored = {
        "made_by": made_by,
        "intercept": round(model.intercept, 4),
        "weights": {model.features[place]: round(float(model.weights[place]), 4) for place in used},
        "typical": {model.features[place]: round(float(model.typical[place]), 4) for place in used},
    }
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("pieces", type=Path)
    parser.add_argument("--tables", type=int, help="only so many of the tables that were cut, at random")
    parser.add_argument("--write", action="store_true", help="store the models of all tables")
    options = parser.parse_args()
    truth = json.loads((options.pieces / "truth.json").read_text())
    chosen = [truth[place] for place in np.random.default_rng(_SEED).permutation(len(truth))[: options.tables]]
    columns = list(of_columns(chosen, options.pieces))
    report("Columns", left_out("columns", COLUMN_FEATURES, columns))
    model = fit("columns", COLUMN_FEATURES, columns)
    if options.write:
        write(_ROOM / "columns.json", model, columns)
    alignment.load_model = lambda *_: model
    tables = list(of_tables(dovetail.open(options.index), chosen, truth, options.pieces))
    report("Tables", left_out("tables", FEATURES, tables))
    if options.write:
        write(_ROOM / "tables.json", fit("tables", FEATURES, tables), tables)


if __name__ == "__main__":
    main()
