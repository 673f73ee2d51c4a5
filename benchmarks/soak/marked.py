"""A lake that goes from version to version, and answers that tell which version they were made of.

In version v, the tables `marked/v00000v-*.csv` hold all keys, and those of the version before are gone; the tables
`marked/same-*.csv` keep their names, and the number of their keys tells v. So an answer that names tables of two
versions, or has the numbers of another one, was made of two generations of the index.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_BENCHMARKS = Path(__file__).resolve().parents[1]
sys.path.append(str(_BENCHMARKS / "indexing"))

from vocabulary import spelled  # noqa: E402

KEYS = spelled(np.arange(100)).to_pylist()
QUESTIONS = 5  # tables that are searched with
_MARKED = 8  # tables of each kind
_LEAST = 20  # keys of a table that is changed
_VERSIONS = 70  # after which the number of keys begins again
_NAME = re.compile(r"marked/v(\d+)-\d+\.csv$")


class TwoGenerations(Exception):
    """An answer fits no version of the lake as a whole."""


def write_questions(lake: Path) -> None:
    for number in range(QUESTIONS):
        _write(lake / f"question-{number}.csv", KEYS, number)


def write_version(lake: Path, version: int) -> None:
    """Bring the lake to a version: tables are added, changed and removed."""
    for file in lake.glob("marked/v*.csv"):
        file.unlink()
    for number in range(_MARKED):
        _write(lake / f"marked/v{version:06d}-{number}.csv", KEYS, number + version)
        _write(lake / f"marked/same-{number}.csv", KEYS[: _size(version)], number + version)


def _size(version: int) -> int:
    return _LEAST + version % _VERSIONS


def _write(file: Path, keys: Iterable[str], salt: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{key},{place * 7919 % 104_729 + salt}" for place, key in enumerate(keys)]
    file.write_text("\n".join([f"word,amount {salt}", *rows, ""]))


def version_of(tables: Iterable[str], sizes: Iterable[int] | None = None) -> int:
    """The one version whose marked tables, and keys of those that keep their names, an answer has."""
    numbers = [int(match[1]) for table in tables if (match := _NAME.search(table))]
    if len(numbers) != _MARKED or len(set(numbers)) != 1:
        raise TwoGenerations(f"tables of versions {sorted(numbers)}")
    version = numbers[0]
    if sizes is not None and list(sizes) != [_size(version)] * _MARKED:
        raise TwoGenerations(f"tables of version {version}, but {sorted(sizes)} keys instead of {_size(version)}")
    return version


def is_same(table: str) -> bool:
    """Whether a table keeps its name from version to version."""
    return "marked/same-" in table
