"""Programs of one form, proposed without examples: what they make shares no q-gram with what they read.

Initials, and numbers in another unit. Nothing guides the search but the values themselves, so that nearly all of them
must be keys, and more than chance would give.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
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

_DIGITS = re.compile("[0-9]+")
_NEARLY_ALL = 0.8  # of what is made, or of the keys if these are fewer; as for key columns
_LOOKED_AT = 50  # values that show what a column holds; arbitrary
_FEWEST = 4  # distinct numbers or texts: fewer prove nothing
_SHORTEST = 3.0  # letters of initials, on average: shorter ones are equal by chance
_MOST_VALUES = 20_000  # distinct values of either column: more are not looked through; arbitrary, a tenth of a second
_LEAST_PROMISING = 2  # of the values that are looked at: a conversion that makes fewer keys of them is not tried
_EXACT = 2.0**53  # numbers above are not exact
_DENSE = 0.2  # of the places near a number are taken: where more are, nothing is concluded; arbitrary
_CHANCE = -9.0
"""The logarithm of the probability that so many numbers are keys by chance, at most. Some hundred conversions of a
hundred pairs of columns make 10⁵ tries: one of ten thousand pairs of tables would have a mistake."""


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
    made = [Initials().apply(text) or "" for text in some]
    long_enough = sum(map(len, made)) >= _SHORTEST * len(made) and _mostly(map(str.isalpha, made))
    return Initials() if long_enough and _reaches(Initials(), values, keys) else None


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
    if float(np.abs(wanted).max()) * 10.0**decimals >= _EXACT:
        return None
    grid = np.unique(np.rint(wanted * 10.0**decimals).astype(np.int64))
    if _log_tail(grid, grid, 0) > _CHANCE:
        return None  # such as 1, 2, 3, …
    some = numbers[:: -(-len(numbers) // _LOOKED_AT)]
    best: tuple[int, Number] | None = None
    for digits in (0, significant):
        for conversion in _promising(some, decimals, digits, grid):
            made = np.unique(_on_grid(numbers * conversion.factor + conversion.offset, decimals, digits))
            common = np.intersect1d(made, grid, assume_unique=True)
            if len(common) < max(_FEWEST, _NEARLY_ALL * min(len(made), len(grid)), best[0] + 1 if best else 0):
                continue
            if _log_chance(made, grid, digits) <= _CHANCE:
                best = len(common), Number(*conversion, decimals, digits)
    return best[1] if best else None


def _promising(numbers: Array, decimals: int, digits: int, grid: Array) -> list[Conversion]:
    """The conversions with which at least some of these numbers are keys."""
    factors, offsets = (np.array([each[place] for each in conversions()])[:, None] for place in (0, 1))
    made = _on_grid(numbers * factors + offsets, decimals, digits)
    place = np.minimum(np.searchsorted(grid, made), len(grid) - 1)
    found = np.count_nonzero(grid[place] == made, axis=1)
    return [each for each, number in zip(conversions(), found, strict=True) if number >= _LEAST_PROMISING]


def _on_grid(made: Array, decimals: int, digits: int) -> Array:
    """Rounded to so many significant digits, if any, and in steps of the last decimal."""
    if digits:
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(made) + (made == 0))))
        made = np.rint(made * scale) / scale
    found: Array = np.rint(np.clip(made * 10.0**decimals, -_EXACT, _EXACT)).astype(np.int64)
    return found


def are_numbers_by_chance(made: Collection[str], keys: Collection[str]) -> bool:
    """Whether the values of both differ in one whole number, and as many are the same by chance: row numbers."""
    mine, theirs = _only_numbers(made), _only_numbers(keys)
    if not len(mine) or len(mine) < 0.9 * len(made) or len(theirs) < 0.9 * len(keys):
        return False
    return _log_chance(mine, theirs, 0) > _CHANCE


def _only_numbers(texts: Collection[str]) -> Array:
    found: Array = np.unique([number for text in texts if (number := _only_number(text)) is not None])
    return found


def _only_number(text: str) -> int | None:
    """The one whole number in a text."""
    found = _DIGITS.findall(text)
    return number if len(found) == 1 and (number := int(found[0])) < _EXACT else None


def _log_chance(made: Array, grid: Array, digits: int) -> float:
    """The logarithm of the probability that so many of one are in the other by chance; the greater of both ways."""
    return max(_log_tail(made, grid, digits), _log_tail(grid, made, digits))


def _log_tail(numbers: Array, others: Array, digits: int) -> float:
    """At most the logarithm of the probability that as many numbers are among others that are as dense near them.

    Near is between the half and the double of a number. What divides all differences is one step, so that 10, 20, 30, …
    are as dense as 1, 2, 3, …; and so is the last of the significant digits. The bound is Chernoff's; it is 0 where the
    others are so dense that their distribution matters.
    """
    numbers = numbers[(numbers >= others[0]) & (numbers <= others[-1])]
    if not len(numbers):
        return 0.0
    step = np.full(len(numbers), max(1.0, float(np.gcd.reduce(np.diff(others)))) if len(others) > 1 else 1.0)
    if digits:
        step = np.maximum(step, 10.0 ** (np.floor(np.log10(np.maximum(np.abs(numbers), 1))) + 1 - digits))
    low, high = np.minimum(numbers / 2, numbers * 2.0), np.maximum(numbers / 2, numbers * 2.0)
    low, high = np.maximum(low, others[0]), np.minimum(high, others[-1])
    near = np.searchsorted(others, high, "right") - np.searchsorted(others, low, "left")
    chance = float(np.minimum(1.0, near / ((high - low) / step + 1)).mean())
    share = float(np.isin(numbers, others).mean())
    if chance >= _DENSE or share <= chance:
        return 0.0
    missed = 0.0 if share == 1 else (1 - share) * np.log10((1 - share) / (1 - chance))
    return -len(numbers) * float(share * np.log10(share / chance) + missed)
