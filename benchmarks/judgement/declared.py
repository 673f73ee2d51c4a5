"""Measures what keys that a database declares help to find those that it does not.

    python benchmarks/judgement/declared.py DATABASES --work FOLDER [--seeds 3]

DATABASES are those of fit_keys.py, whose `truth.json` also lists `primary_keys` by table. Each becomes an SQLite file
with its primary and foreign keys declared, and all files are indexed. Then the keys of half of the tables of each
database are hidden, those that are drawn and then the others, and the foreign keys of the hidden tables are looked for:
with all keys hidden, and with those of the other tables. Every database is a lake of its own.

Databases are dealt into folds, and each is judged by models that were fitted on the others, by CSV files and without
any declared key. Recall: of the hidden foreign keys, how many are found with a probability of at least a half.
Precision: of what is found from hidden tables, how much is declared. F1 at N: of the N likeliest, N the number of
hidden keys, how many are declared. Each is a mean over databases and draws.
"""

from __future__ import annotations

import argparse
import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from declared_keys import declared_keys, lakes_of
from fit_keys import FOLDS, Judged, Weights

import dovetail
from dovetail._model import Model
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph import score
from dovetail.graph.find_keys import find_keys
from dovetail.graph.foreign_keys import ForeignKeyTable
from dovetail.lake.declared import NO_KEYS

Found = tuple[str, frozenset[tuple[str, str]], str]
"""A table, its columns with those that they refer to, and the table of these."""

NOTHING, OTHERS = KNOWN = ("nothing", "the other tables' keys")


class Score(NamedTuple):
    recall: float
    precision: float
    f1_at_n: float


def make_database(database: Path, file: Path) -> None:
    """The tables of a database with their keys. SQLite does not check references while they are filled in."""
    truth = json.loads((database / "truth.json").read_text(encoding="utf-8"))
    with closing(sqlite3.connect(file)) as connection:
        for table in truth["tables"]:
            with (database / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as rows:
                header, *cells = csv.reader(rows)
            connection.execute(f"CREATE TABLE {_quoted(table)} ({', '.join(_declarations(truth, table, header))})")
            places = ", ".join("?" * len(header))
            values = ([cell or None for cell in row] for row in cells)
            connection.executemany(f"INSERT INTO {_quoted(table)} VALUES ({places})", values)
        connection.commit()


def _declarations(truth: Mapping[str, Any], table: str, header: list[str]) -> Iterator[str]:
    """Columns without types, which hold what is given, and the keys whose columns the table has."""
    yield from map(_quoted, header)
    primary = truth["primary_keys"].get(table)
    if primary and set(primary) <= set(header):
        yield f"PRIMARY KEY ({_list(primary)})"
    for key in truth["foreign_keys"]:
        if key["from_table"] == table:
            there = f"{_quoted(key['to_table'])} ({_list(key['to_columns'])})"
            yield f"FOREIGN KEY ({_list(key['from_columns'])}) REFERENCES {there}"


def _list(names: list[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def index_of(databases: list[Path], work: Path) -> Path:
    index = work / "declared.idx"
    if not index.exists():
        (work / "databases").mkdir(parents=True, exist_ok=True)
        for database in databases:
            file = work / "databases" / f"{database.name}.sqlite"
            if not file.exists():
                make_database(database, file)
        dovetail.index(work / "databases", index)
    return index


class Databases:
    """Databases in one index, some of whose declared keys are hidden."""

    def __init__(self, index: Path) -> None:
        self.segments = dovetail.open(index).segments
        self._all = [dict(segment.catalog.declared) for segment in self.segments]
        self.tables = sorted(name for segment in self.segments for name in segment.names)
        self.keys = {
            name: [(key.columns, key.table, key.referenced) for key in declared.get(number, NO_KEYS).foreign]
            for segment, declared in zip(self.segments, self._all, strict=True)
            for number, name in enumerate(segment.names)
        }

    def columns(self, shown: set[str]) -> LakeColumns:
        """Their columns, with the keys of some tables alone."""
        for segment, declared in zip(self.segments, self._all, strict=True):
            segment.catalog.declared = {
                number: keys for number, keys in declared.items() if segment.names[number] in shown
            }
        return LakeColumns(self.segments)


def database_of(table: str) -> str:
    return table.partition(".sqlite::")[0]


def halves(tables: list[str], seed: int) -> Iterator[set[str]]:
    """The tables whose keys are hidden: of each database a half, then the others."""
    rng, drawn = np.random.default_rng(seed), set[str]()
    for name in dict.fromkeys(map(database_of, tables)):
        own = [table for table in tables if database_of(table) == name]
        drawn |= {own[place] for place in rng.permutation(len(own))[: len(own) // 2]}
    yield drawn
    yield set(tables) - drawn


def found_keys(columns: LakeColumns) -> list[tuple[float, str, Found]]:
    """All references that are found, best first, with the tables that they come from."""
    found: ForeignKeyTable = find_keys(columns).foreign_keys
    names, tables = columns.names.to_pylist(), columns.table_names.to_pylist()
    keys = []
    for place in range(len(found)):
        span = slice(found.offsets[place], found.offsets[place + 1])
        one, other = found.dependent[span].tolist(), found.referenced[span].tolist()
        home, there = (tables[columns.table_of[side[0]]] for side in (one, other))
        pairs = frozenset((names[a], names[b]) for a, b in zip(one, other, strict=True))
        keys.append((float(found.score[place]), home, (home, pairs, there)))
    return keys


def scores(found: list[tuple[float, str, Found]], truth: set[Found], hidden: set[str]) -> Score:
    ranked = [(score, key) for score, home, key in found if home in hidden]
    likely = {key for score, key in ranked if score >= LIKELY_REFERENCE}
    best = {key for _, key in ranked[: len(truth)]}
    right = len(likely & truth)
    return Score(right / len(truth), right / max(1, len(likely)), len(best & truth) / len(truth))


def left_out_models(databases: list[Path], work: Path) -> dict[str, tuple[Weights, Weights]]:
    """The models for each database, fitted on the tables of the other folds."""
    truths = {database.name: declared_keys(database) for database in databases}
    folds = {database.name: place % FOLDS for place, database in enumerate(databases)}
    judged = Judged(list(lakes_of(databases, truths, work)), folds)
    models = [(judged.fit_inclusion(fold), judged.fit_reference(fold)) for fold in range(FOLDS)]
    return {name: models[fold] for name, fold in folds.items()}


def use_models(inclusion: Weights, reference: Weights) -> None:
    """In place of those of the package."""
    weights = {"inclusion": inclusion, "reference": reference}

    def load(name: str, features: tuple[str, ...]) -> Model:
        return Model(name, features, weights[name].intercept, weights[name].weights, np.zeros(len(features)), {})

    score.load_model = load


def measure(databases: Databases, models: dict[str, tuple[Weights, Weights]], seeds: int) -> None:
    """Each database as a lake of its own."""
    print(f"{'known':26}" + "".join(f"{name:>11}" for name in Score._fields))
    total: dict[str, list[Score]] = {known: [] for known in KNOWN}
    for seed in range(seeds):
        for hidden in halves(databases.tables, seed):
            for known in KNOWN:
                columns = databases.columns(set(databases.tables) - hidden if known == OTHERS else set())
                homes = np.array([database_of(table) for table in columns.table_names.to_pylist()])[columns.table_of]
                alive = columns.alive
                for name, chosen in models.items():
                    mine = {table for table in hidden if database_of(table) == name}
                    truth = {(table, frozenset(zip(one, other, strict=True)), there)
                             for table in mine for one, there, other in databases.keys[table]}  # fmt: skip
                    if truth:
                        use_models(*chosen)
                        columns.alive = alive & (homes == name)
                        total[known].append(scores(found_keys(columns), truth, mine))
    for known, found in total.items():
        print(f"{known:26}" + "".join(f"{value:11.3f}" for value in np.mean(found, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where to put the databases and their indexes")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    databases = sorted(path.parent for path in given.databases.glob("*/truth.json"))
    models = left_out_models(databases, given.work)
    measure(Databases(index_of(databases, given.work)), models, given.seeds)


if __name__ == "__main__":
    main()
