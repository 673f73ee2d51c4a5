"""Pairs of columns in which it is known which values name the same thing, in families, and values with typing errors.

The folder of the ground truth holds `fuzzy_pairs` (AutoFJ, ccer, febrl4), `transform_pairs/AutoJoin` and
`joinable_columns` (web tables whose cells are labelled with entities). A family is left out as a whole: a class of
titles, a pair of catalogues, the variants of one transformation, the web tables that share entities.
"""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dovetail.errors import DovetailError
from dovetail.indexes.pexeso.core import texts_among
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import open_table

_KEYS = ("title", "name")
_LEAST = 5  # values of a column
_FILES = 400  # of a lake
_DISTINCT = 30  # texts of a column of a lake
_MOST_VALUES = 1_500  # of a column of a lake
_TYPOS = 40  # columns whose values get typing errors
_VALUES = 100  # of such a column
_SECOND = 12  # letters for each further error
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SEED = 0


@dataclass(frozen=True)
class Case:
    """Two columns of distinct values, folded, and the places of those that name the same thing."""

    source: str
    family: str
    left: list[str]
    right: list[str]
    same: set[tuple[int, int]]


def fold(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def cases(truth: Path, lake: list[list[str]]) -> list[Case]:
    """All cases; those with typing errors are made of columns of a lake."""
    return [
        *_fuzzy(truth / "fuzzy_pairs"), *_transformed(truth / "transform_pairs" / "AutoJoin"),
        *_labelled(truth / "joinable_columns"), *_mistyped(lake[:_TYPOS]),
    ]  # fmt: skip


def lake_columns(lake: Path) -> list[list[str]]:
    """The text columns of some CSV files of a lake, one of each: their distinct values, folded."""
    found = []
    files = sorted(lake.rglob("*.csv"))
    random.Random(_SEED).shuffle(files)
    for path in files[:_FILES]:
        try:
            table = open_table(path)
        except DovetailError:
            continue  # not a table: the lake has such files on purpose
        texts = [texts_of(column) for column in table.columns if column.is_text]
        columns = [values for values in texts if len(values) >= _DISTINCT]
        if columns:
            found.append(random.Random(_SEED).choice(columns))
    return found


def texts_of(column: InputColumn) -> list[str]:
    tokens = column.tokens.filter(pa.array(texts_among(column.tokens)))
    values: list[str] = tokens.slice(0, _MOST_VALUES).to_pylist()
    return values


def _case(source: str, family: str, left: list[str], right: list[str], same: set[tuple[str, str]]) -> Iterator[Case]:
    mine, theirs = (list(dict.fromkeys(filter(None, side))) for side in (left, right))
    places = [{value: place for place, value in enumerate(side)} for side in (mine, theirs)]
    pairs = {(places[0][a], places[1][b]) for a, b in same if a in places[0] and b in places[1]}
    if min(len(mine), len(theirs)) >= _LEAST and pairs:
        yield Case(source, family, mine, theirs, pairs)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="", errors="replace") as file:
        return list(csv.DictReader(file))


def _fuzzy(root: Path) -> Iterator[Case]:
    for truth in sorted(root.rglob("gt.csv")):
        source = truth.parent.parent.name if truth.parent.parent != root else "febrl4"
        texts = []
        for side in ("left.csv", "right.csv"):
            rows = _rows(truth.parent / side)
            texts.append({row.get("id") or row["rec_id"]: _text(row) for row in rows})
        pairs = [(row["id_l"], row["id_r"]) for row in _rows(truth)]
        same = {(texts[0][a], texts[1][b]) for a, b in pairs if a in texts[0] and b in texts[1]}
        left, right = (list(side.values()) for side in texts)
        yield from _case("ccer" if source == "febrl4" else source, truth.parent.name, left, right, same)


def _text(row: dict[str, str]) -> str:
    """What names the thing of a row: its title or name; of a person, both names and the suburb."""
    if "surname" in row:
        return fold(f"{row['given_name']} {row['surname']}, {row['suburb']}")
    return fold(next(value for key in _KEYS for name, value in row.items() if name.split("#")[-1] == key))


def _transformed(root: Path) -> Iterator[Case]:
    for path in sorted(root.glob("*/truth.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        sides = [
            [fold(row[about[column]]) for row in _rows(path.parent / file)]
            for column, file in (("source_column", "source.csv"), ("target_column", "target.csv"))
        ]
        same = {(fold(row["source_value"]), fold(row["target_value"])) for row in _rows(path.parent / "pairs.csv")}
        yield from _case("AutoJoin", about["family"], *sides, same)


def _labelled(root: Path) -> Iterator[Case]:
    """Pairs of web columns that share entities. Tables that are connected by such pairs are one family."""
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        entities: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for row in _rows(folder / "entities.csv"):
            entities[row["table"], row["column_index"]][fold(row["cell"])] = row["entity"]
        pairs = [
            ((row["table_a"], row["column_a"]), (row["table_b"], row["column_b"]))
            for row in _rows(folder / "joinable_pairs.csv")
        ]
        family = _components(pairs)
        taken: dict[str, int] = defaultdict(int)
        random.Random(_SEED).shuffle(pairs)
        for one, other in pairs:
            taken[family[one]] += 1
            if taken[family[one]] <= _LEAST * 4:  # a large family has pairs enough
                left, right = entities[one], entities[other]
                same = {(a, b) for a, entity in left.items() for b, that in right.items() if entity == that}
                yield from _case(folder.name, f"{folder.name} {family[one]}", list(left), list(right), same)


def _components(pairs: list[tuple[tuple[str, str], tuple[str, str]]]) -> dict[tuple[str, str], str]:
    root: dict[tuple[str, str], tuple[str, str]] = {}

    def find(node: tuple[str, str]) -> tuple[str, str]:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for one, other in pairs:
        root[find(one)] = find(other)
    return {node: "/".join(find(node)) for node in root}


def _mistyped(columns: list[list[str]]) -> Iterator[Case]:
    """Values of real columns with errors, to be found in columns that hold half of them."""
    chance = random.Random(_SEED)
    for number, column in enumerate(columns):
        values = chance.sample(column, min(_VALUES, len(column)))
        wrong = [mistyped(value, chance) for value in values]
        gone = {value for value in values if chance.random() < 0.5}
        kept = [value for value in column if value not in gone]
        same = {(bad, good) for bad, good in zip(wrong, values, strict=True) if bad != good}
        yield from _case("typos", f"typos {number}", wrong, kept, same)


def mistyped(text: str, chance: random.Random) -> str:
    """One letter left out, doubled, exchanged or swapped with the next; in long texts one more for each 12 letters."""
    for _ in range(1 + int(chance.random() * (len(text) // _SECOND))):
        places = [place for place, letter in enumerate(text[:-1]) if letter.isalpha()]
        if not places:
            return text
        at = chance.choice(places)
        changed = chance.choice(
            (text[at + 1 :], text[at] + text[at:], chance.choice(_LETTERS) + text[at + 1 :],
             text[at + 1] + text[at] + text[at + 2 :])
        )  # fmt: skip
        text = text[:at] + changed
    return text
