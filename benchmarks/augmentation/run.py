"""Does a model predict better with columns that a search adds? The experiment of the PEXESO paper's Table V on a lake.

    python benchmarks/augmentation/run.py INDEX [--tasks 16] [--skip 0] [--seed 1]

Tasks are drawn from the tables of the lake at random, by this rule, which was written before any result was seen: 100
to 5,000 rows; a *key*, the first column of text with at least 50 distinct values, of which at least three other
tables hold half; a *target*, the last column of numbers that has more than 20 distinct values, at most a tenth of
nulls, and is not a number for each row; one table of each folder and of each header. Of each, 1,000 rows are taken at
most, as in the paper.

Four folds, as in the paper. In each fold the search sees the training rows only, and the three best tables are joined
from the left: the mean of the matching numbers, the first of the matching texts. A random forest (scikit-learn, 100
trees) predicts the target of the other rows from the columns of the table and those that were joined. The gain is by
how much the root mean square error is below that without a join.

overlap         the tables that share most values with the key: an equi-join
target, key     the same tables, ranked by --target
target          `search --target`, no column named

For all three, tables that are editions of the query's own do not count (Jaccard of the names of the columns 1/2 or
more), nor do columns in which nine of ten rows meet the target's own value.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold

import dovetail
from dovetail.search.hit import Hit

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_ROWS, _SAMPLE, _FOLDS, _JOINED, _ASKED = (100, 5_000), 1_000, 4, 3, 40
_KEY_VALUES, _HOLDERS, _TARGET_VALUES, _NULLS = 50, 3, 20, 0.1
_ITSELF, _SIMILAR_HEADER = 0.9, 0.5
_ROW = "row of mine"

Search = Callable[[dovetail.Lake, pd.DataFrame, "Task"], list[Hit]]


@dataclass(frozen=True)
class Task:
    table: str
    key: str
    target: str


def tasks(lake: dovetail.Lake, number: int, seed: int) -> Iterator[Task]:
    lines = [line.table for line in lake.tables() if _ROWS[0] <= line.rows <= _ROWS[1] and not line.error]
    lines = [table for table in lines if "//" not in table]  # other roots than the lake's: databases, pieces
    folders: set[str] = set()
    headers: set[frozenset[str]] = set()
    for place in np.random.default_rng(seed).permutation(len(lines)):
        folder = lines[place].rpartition("/")[0]
        names = frozenset(header(lake, lines[place]))
        task = None if folder in folders or names in headers else task_of(lake, lines[place])
        if task:
            folders.add(folder)
            headers.add(names)
            number -= 1
            yield task
            if not number:
                return


def task_of(lake: dovetail.Lake, name: str) -> Task | None:
    table = lake.table(name)
    keys = [c.name for c in table.columns if c.type in ("text", "mixed") and c.distinct >= _KEY_VALUES]
    targets = [
        column.name
        for column in table.columns
        if column.type in ("integer", "real")
        and column.distinct > _TARGET_VALUES
        and column.nulls <= _NULLS * table.rows
        and not (column.type == "integer" and column.distinct == table.rows)
    ]
    if not (keys and targets):
        return None
    held = {hit.table for hit in lake.search(name, on=keys[0], threshold=0.5)}
    others = [other for other in held if not similar(lake, name, other)]
    return Task(name, keys[0], targets[-1]) if len(others) >= _HOLDERS else None


def header(lake: dovetail.Lake, table: str) -> set[str]:
    return {column.name.casefold() for column in lake.table(table).columns}


def similar(lake: dovetail.Lake, one: str, other: str) -> bool:
    mine, theirs = header(lake, one), header(lake, other)
    return len(mine & theirs) >= _SIMILAR_HEADER * len(mine | theirs)


SEARCHES: dict[str, Search] = {
    "overlap": lambda lake, rows, task: lake.search(rows, on=task.key, k=_ASKED),
    "target, key": lambda lake, rows, task: lake.search(rows, on=task.key, k=_ASKED, target=task.target),
    "target": lambda lake, rows, task: lake.search(rows, k=_ASKED, target=task.target),
}


def joined(lake: dovetail.Lake, rows: pd.DataFrame, task: Task, hits: list[Hit]) -> pd.DataFrame:
    """The rows with the columns of the first tables that count."""
    chosen = [hit for hit in hits if not similar(lake, task.table, hit.table) and hit.gain != 0][:_JOINED]
    found = rows
    for number, hit in enumerate(chosen):
        mine = rows[list(dict.fromkeys(hit.on))].assign(**{_ROW: range(len(rows))})
        both = lake.join(mine, hit.table, on=list(hit.pairs), how="left", max_rows=10**7).frame
        wanted = rows[task.target].astype(str).to_numpy()[both[_ROW]]
        groups = both.groupby(_ROW)
        columns = {
            f"{number} {name}": groups[name].mean()
            if pd.api.types.is_numeric_dtype(both[name])
            else groups[name].first()
            for name in both.columns
            if name not in mine.columns and not _is(both[name], wanted, both[_ROW])
        }
        found = pd.concat([found, pd.DataFrame(columns).reindex(range(len(rows))).set_index(rows.index)], axis=1)
    return found


def _is(column: pd.Series, wanted: Any, row: pd.Series) -> bool:
    """Whether most rows that match something meet the target's value."""
    known = column.notna()
    if not known.any():
        return False
    return (column.astype(str) == wanted)[known].groupby(row[known]).any().mean() >= _ITSELF


def inputs(rows: pd.DataFrame, target: str) -> Any:
    """Numbers as they are, texts by the rank of their frequency; missing values are -1."""
    columns = {}
    for name in rows.columns:
        values = rows[name]
        if name == target:
            continue
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            columns[name] = pd.to_numeric(values, errors="coerce").astype(float)
        else:
            texts = values.astype(str)
            columns[name] = texts.map({text: rank for rank, text in enumerate(texts.value_counts().index)}).astype(
                float
            )
    return pd.DataFrame(columns).replace([np.inf, -np.inf], np.nan).fillna(-1.0).to_numpy()


def error(rows: pd.DataFrame, target: str, train: Any, test: Any, seed: int) -> float:
    known, wanted = inputs(rows, target), rows[target].astype(float).to_numpy()
    forest = RandomForestRegressor(100, random_state=seed).fit(known[train], wanted[train])
    return float(np.sqrt(((forest.predict(known[test]) - wanted[test]) ** 2).mean()))


def measure(lake: dovetail.Lake, task: Task, seed: int) -> tuple[dict[str, float], list[float]]:
    """By how much each search lowers the error, and how long `search --target` took."""
    rows = lake.table(task.table).to_pandas()
    rows = rows[rows[task.target].notna()]
    rows = rows.sample(min(len(rows), _SAMPLE), random_state=seed).reset_index(drop=True)
    errors: dict[str, list[float]] = {"no join": [], **{name: [] for name in SEARCHES}}
    seconds = []
    for train, test in KFold(_FOLDS, shuffle=True, random_state=seed).split(rows):
        errors["no join"].append(error(rows, task.target, train, test, seed))
        for name, search in SEARCHES.items():
            begun = time.perf_counter()
            hits = search(lake, rows.iloc[train], task)
            if name == "target":
                seconds.append(time.perf_counter() - begun)
            errors[name].append(error(joined(lake, rows, task, list(hits)), task.target, train, test, seed))
    without = mean(errors["no join"])
    return {name: 1 - mean(errors[name]) / without for name in SEARCHES}, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--skip", type=int, default=0, help="the first tasks, so that a run can be continued")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lake = dovetail.open(options.index)
    gains: dict[str, list[float]] = {name: [] for name in SEARCHES}
    seconds: list[float] = []
    for task in itertools.islice(tasks(lake, options.tasks, options.seed), options.skip, None):
        found, taken = measure(lake, task, options.seed)
        seconds += taken
        for name, gain in found.items():
            gains[name].append(gain)
        told = ", ".join(f"{name} {gain:+.1%}" for name, gain in found.items())
        print(f"{task.table}: {task.target} by {task.key}: {told}", flush=True)
    for name, values in gains.items():
        better = sum(value > 0 for value in values)
        print(f"{name}: mean gain {mean(values):+.2%}, better than no join in {better} of {len(values)}")
    record(
        tasks=len(gains["target"]),
        target_gain=100 * mean(gains["target"]),
        overlap_gain=100 * mean(gains["overlap"]),
    )
    print(f"search --target: median {median(seconds):.2f} s")


if __name__ == "__main__":
    main()
