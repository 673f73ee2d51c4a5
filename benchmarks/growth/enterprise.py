"""The tables of an enterprise: databases of eight tables, five with a key, and three whose columns refer to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from columns import KINDS
from vocabulary import Vocabulary, make_vocabulary

_ENTITIES = 5  # tables with a key, of a database
_EVENTS = 3  # tables that refer to them
_REFERENCES = 3  # of such a table
_MEAN = 4_011  # values of a set: the enterprise of Table 3.1 of Zhu's thesis
_SPREAD = 1.5  # of the logarithm of the rows; arbitrary
_ATTRIBUTES = 3  # columns of a table besides its keys; arbitrary
_PLAIN = ("count", "year", "price", "country", "city", "company", "product", "status")
_ATTRIBUTE_KINDS = [kind for kind in KINDS if kind.names[0] in _PLAIN]

Table = tuple[str, list[str], list[Sequence[str]]]
ForeignKey = tuple[str, str, str, str]


def make_databases(tables: int, seed: int, scale: float, keys: list[ForeignKey]) -> Iterator[Table]:
    """Each table's path, names and values; the foreign keys are added to `keys`."""
    random = np.random.default_rng([seed, 2])
    words = make_vocabulary(seed)
    size = _ENTITIES + _EVENTS
    for number in range(0, tables, size):
        yield from _database(random, words, f"database{number // size:04d}", min(size, tables - number), scale, keys)


def _database(
    random: np.random.Generator, words: Vocabulary, name: str, tables: int, scale: float, keys: list[ForeignKey]
) -> Iterator[Table]:
    entities: list[tuple[str, str, list[str]]] = []
    for number in range(tables):
        rows = max(5, round(random.lognormal(np.log(_MEAN * scale) - _SPREAD**2 / 2, _SPREAD)))
        entity = words.products[int(random.integers(len(words.products)))].as_py().replace(" ", "_")
        path = f"{name}/{entity}_{number}.csv"
        columns: dict[str, Sequence[str]] = {}
        if number < _ENTITIES:
            entities.append((path, f"{entity}_id", _key(random, rows)))
            columns[f"{entity}_id"] = entities[-1][2]
        else:
            for place in random.permutation(len(entities))[:_REFERENCES].tolist():
                target, column, ids = entities[place]
                columns[column] = [ids[i] for i in (len(ids) * random.random(rows) ** 2).astype(int).tolist()]
                keys.append((path, column, target, column))
        for kind in random.permutation(len(_ATTRIBUTE_KINDS))[:_ATTRIBUTES].tolist():
            made = _ATTRIBUTE_KINDS[kind].make(random, rows, words).to_pylist()
            columns[_ATTRIBUTE_KINDS[kind].names[0]] = [str(value).replace(",", "") for value in made]
        yield path, list(columns), list(columns.values())


def _key(random: np.random.Generator, rows: int) -> list[str]:
    """Half of the keys are numbers that begin at 1, half have letters before a number."""
    if random.random() < 0.5:
        return list(map(str, range(1, rows + 1)))
    prefix = "".join(random.choice(list("ABCDEFGH"), 3).tolist())
    return [f"{prefix}{number:07d}" for number in random.permutation(10 * rows)[:rows].tolist()]
