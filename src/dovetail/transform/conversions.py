"""Programs of one form, proposed without examples: what they make shares no q-gram with what they read.

Initials, and numbers in another unit. Nothing guides the search but the values themselves, so that nearly all of them
must be keys, and more than chance would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.normalise import plain
from dovetail.transform.coverage import SampledTable
from dovetail.transform.examples import Direction, is_over
from dovetail.transform.forms import Form, Initials, Number, read_number
from dovetail.transform.program import Extract, Program
from dovetail.transform.units import Conversion, conversions

_NEARLY_ALL = 0.8  # of what is made, or of the keys if these are fewer; as for key columns
_LOOKED_AT = 50  # values that show what a column holds; arbitrary
_FEWEST = 4  # distinct numbers or texts: fewer prove nothing
_SHORTEST = 3.0  # letters of initials, on average: shorter ones are equal by chance
_MOST_VALUES = 20_000  # distinct values of either column: more are not looked through; arbitrary, a tenth of a second
_CHANCE = -6.0
"""The logarithm of the probability that so many numbers are keys by chance, at most. A thousand pairs of columns and as
many conversions would make one mistake."""


class Proposal(NamedTuple):
    direction: Direction
    source: str
    target: str
    program: Program


def proposals(directions: Sequence[Direction], deadline: Deadline | None = None) -> Iterator[Proposal]:
    """Programs of one form that make nearly all keys of a column."""
    for direction in directions:
        for target in direction.target.key_columns(strict=True):
            keys = _texts(direction.target, target)
            for source in direction.source.columns if keys else ():
                if is_over(deadline):
                    return
                values = _texts(direction.source, source)
                form = _form(values, keys) if values else None
                if form is not None:
                    yield Proposal(direction, source, target, Program((Extract(source, form=form),)))


def _texts(table: SampledTable, name: str) -> list[str]:
    """The distinct values of a column; none if they are too few or too many."""
    found = list(dict.fromkeys(text for text in table.columns[name] if text))
    return found if _FEWEST <= len(found) <= _MOST_VALUES else []


def _form(values: list[str], keys: list[str]) -> Form | None:
    some = values[:: -(-len(values) // _LOOKED_AT)]
    if _mostly(read_number(text) is not None for text in some):
        return _scaled(values, keys)
    lengths = [len(Initials().apply(text) or "") for text in some]
    return Initials() if sum(lengths) >= _SHORTEST * len(lengths) and _reaches(Initials(), values, keys) else None


def _mostly(tests: Iterator[bool]) -> bool:
    found = list(tests)
    return sum(found) >= 0.9 * len(found)


def _reaches(form: Form, values: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether what it makes are nearly all keys, or the other way round."""
    made = {plain(text) for value in values if (text := form.apply(value))}
    wanted = {plain(key) for key in keys}
    common = len(made & wanted)
    return common >= _FEWEST and common >= _NEARLY_ALL * min(len(made), len(wanted))


def _scaled(values: list[str], keys: list[str]) -> Number | None:
    """The conversion with which nearly all numbers are keys, if that is not chance; the one that reaches most."""
    numbers = np.unique([number for text in values if (number := read_number(text)) is not None])
    written = [key for key in keys if read_number(key) is not None]
    if len(written) < 0.9 * len(keys) or min(len(numbers), len(written)) < _FEWEST:
        return None
    wanted = np.array([read_number(key) for key in written])
    decimals = max(len(key.partition(".")[2]) for key in written)
    significant = max(len(key.lstrip("+-0.").replace(".", "")) for key in written)
    if float(np.abs(wanted).max()) * 10.0**decimals >= 2**53:
        return None
    grid = np.unique(np.rint(wanted * 10.0**decimals).astype(np.int64))
    some = numbers[:: -(-len(numbers) // _LOOKED_AT)]
    best: tuple[int, Number] | None = None
    for conversion in conversions():
        for digits in (0, significant):
            if _share(some, conversion, decimals, digits, grid)[0] < _NEARLY_ALL / 2:
                continue
            share, made = _share(numbers, conversion, decimals, digits, grid)
            common = np.intersect1d(made, grid)
            if share >= _NEARLY_ALL and len(common) >= _FEWEST and _log_chance(common, grid) <= _CHANCE:
                form = Number(conversion.factor, conversion.offset, conversion.units, decimals, digits)
                if best is None or len(common) > best[0]:
                    best = len(common), form
    return best[1] if best else None


def _share(numbers: Array, conversion: Conversion, decimals: int, digits: int, grid: Array) -> tuple[float, Array]:
    """The share that both have of what is made, or of the keys if these are fewer; and what is made, on the grid."""
    made = numbers * conversion.factor + conversion.offset
    if digits:
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(made) + (made == 0))))
        made = np.rint(made * scale) / scale
    made = np.unique(np.rint(np.clip(made * 10.0**decimals, -(2.0**53), 2.0**53)).astype(np.int64))
    place = np.minimum(np.searchsorted(grid, made), len(grid) - 1)
    return float(np.count_nonzero(grid[place] == made) / min(len(made), len(grid))), made


def _log_chance(common: Array, grid: Array) -> float:
    """The logarithm of the probability that numbers of this size are keys by chance.

    Keys are as dense near a number as between its half and its double, in steps of what divides all differences: every
    second number of 1, 2, 3, … is a key of 10, 20, 30, … by chance, few of those with six digits.
    """
    step = max(1, int(np.gcd.reduce(np.diff(grid))))
    low, high = np.minimum(common / 2, common * 2), np.maximum(common / 2, common * 2)
    keys = np.searchsorted(grid, high, "right") - np.searchsorted(grid, low, "left")
    density = np.minimum(1.0, keys / ((high - low) / step + 1))
    return float(np.log10(density).sum()) if len(common) else math.inf
