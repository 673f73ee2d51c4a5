"""Abbreviations written out before a text becomes a vector: "5 mar 2020" as "5 march 2020", "9th st" as "9th street".

They are data: abbreviations.tsv, and a file of the same form that a user gives when an index is created.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.embedders.word_kernels import ANY, FIRST, LATER, NUMBER, expand
from dovetail.errors import InputError
from dovetail.normalise.hashing import as_buffers, as_strings, hash_tokens

_WHERE = {"any": ANY, "first": FIRST, "later": LATER, "number": NUMBER}


class Abbreviation(NamedTuple):
    short: str
    long: str
    where: str


class Abbreviations:
    """Some abbreviations, ready to apply. A later one replaces an earlier one of the same word and position."""

    def __init__(self, listed: Iterable[Abbreviation]) -> None:
        by_place = {(one.short, one.where): one for one in listed}
        self.listed = tuple(by_place[key] for key in sorted(by_place))

    def write_out(self, texts: pa.Array) -> pa.LargeStringArray:
        if not self.listed:
            return texts.cast(pa.large_string())
        content, offsets = as_buffers(texts)
        return as_strings(*expand(content, offsets, *self._table))

    @cached_property
    def _table(self) -> tuple[Array, Array, Array, Array]:
        """Hashes of the short forms, ascending; where each holds; and the long forms' bytes."""
        hashes = hash_tokens(pa.array([one.short for one in self.listed], pa.large_string()))
        order = np.argsort(hashes, kind="stable")
        where = np.array([_WHERE[self.listed[place].where] for place in order], np.int64)
        content, offsets = as_buffers(pa.array([self.listed[place].long for place in order], pa.large_string()))
        return hashes[order], where, content, offsets


@cache
def built_in() -> tuple[Abbreviation, ...]:
    text = files("dovetail.embedders").joinpath("abbreviations.tsv").read_text(encoding="utf-8")
    return parse(text, "abbreviations.tsv")


def read_abbreviations(path: Path) -> tuple[Abbreviation, ...]:
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as reason:
        raise InputError(f"Cannot read the abbreviations in {path}: {reason}.") from reason


def parse(text: str, name: str) -> tuple[Abbreviation, ...]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip().casefold() for part in line.split("\t")]
        if len(parts) == 2:
            parts.append("any")
        if len(parts) != 3 or not parts[0].isalnum() or not parts[1] or parts[2] not in _WHERE:
            raise InputError(
                f"Line {number} of {name} is not an abbreviation. Write one word, a tab and the long form; after "
                f"another tab, where it applies ({', '.join(_WHERE)})."
            )
        found.append(Abbreviation(*parts))
    return tuple(found)
