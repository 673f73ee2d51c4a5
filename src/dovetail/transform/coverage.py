"""How much of a table's key a program reaches, and on how many rows of big tables that is measured.

Sampling is that of section 4.5 of the thesis, which prints the two rates swapped.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import pyarrow as pa

from dovetail.catalog.profile import count_values
from dovetail.normalise import ColumnType, decide, fold, tokens
from dovetail.transform.matches import Values, column_values
from dovetail.transform.program import Constant, Extract, Program

_KEY_SHARE = 0.8  # distinct among the values that are there; real keys have a few doubles
_FILLED_SHARE = 0.5
_MOST_LEFT = 20_000  # rows of the target among which further examples are looked for
_EXAMPLES = 4  # T: joinable pairs that the samples must hold
_SLACK = 0.8  # δ: they do with a probability of at least 1 − exp(−δ²·T/(2(1−δ))) = 99.8%
_PARTICIPATION = 0.1  # r: of the target's rows that join, at least
_SMALL = 2_000  # rows: not worth sampling
SCORED_ROWS = 2_000  # of the source, on which programs are compared
_LETTERS = 26
_TOO_EASY = 2  # times as often as at random, because some letters are used more than others
_MORE_THAN_CHANCE = 2  # times as many matches; set by hand


class SampledTable:
    """Columns of raw text, and what is worked out about them once. Matches are looked for among the `sampled` rows."""

    def __init__(self, columns: Mapping[str, Sequence[str | None]], sampled: Sequence[int] | None = None) -> None:
        self.columns = columns
        self.rows = len(next(iter(columns.values()), ()))
        self.sampled = range(self.rows) if sampled is None else sampled
        self._values: dict[str, Values] = {}

    def values(self, name: str) -> Values:
        if name not in self._values:
            self._values[name] = column_values(name, self.columns[name], self.sampled)
        return self._values[name]

    def key_columns(self, strict: bool = False) -> list[str]:
        """The columns whose values are nearly distinct; all, if there is no such column, and it is not `strict`."""
        found = []
        for name, column in self.columns.items():
            filled = [text for text in column if text]
            if len(filled) >= _FILLED_SHARE * self.rows and len(set(filled)) >= _KEY_SHARE * len(filled):
                found.append(name)
        return found if found or strict else list(self.columns)

    def is_numeric(self, name: str) -> bool:
        """Whether most characters are digits: counts, years and row numbers are equal by chance."""
        text = "".join(self.values(name).texts)
        return sum(map(str.isdigit, text)) > sum(map(str.isalpha, text))

    def take(self, rows: Sequence[int]) -> SampledTable:
        return SampledTable({name: [column[row] for row in rows] for name, column in self.columns.items()})


class Coverage:
    """The keys of a target column, and which of them programs over the source's rows reach."""

    def __init__(self, source: SampledTable, target: SampledTable, key: str) -> None:
        self.source, self.target = source, target
        self._type = _number_type(target.columns[key])
        self._keys = join_keys(target.columns[key], self._type)
        self._filled = sum(key is not None for key in self._keys)
        self._parts: dict[Extract, list[str | None]] = {}
        self._reached: dict[Program, tuple[list[str | None], set[str]]] = {}

    @cached_property
    def wanted(self) -> set[str]:
        return {key for key in self._keys if key}

    @property
    def size(self) -> int:
        return len(self.wanted)

    def outputs(self, program: Program) -> list[str | None]:
        """The join key that the program gives for each row of the source."""
        return self._run(program)[0]

    def reached(self, programs: Sequence[Program]) -> set[str]:
        """The keys that the programs reach together."""
        return set().union(*(self._run(program)[1] for program in programs))

    def score(self, program: Program) -> float:
        """The share of the target's keys that are reached, less if they are not quite keys."""
        return len(self.reached([program])) / max(min(self._filled, self.source.rows), 1)

    def share(self, program: Program) -> float:
        """The same of the keys that could be reached, when the source has fewer rows than the target has keys."""
        possible = min(self.size, len({key for key in self.outputs(program) if key}))
        return len(self.reached([program])) / max(possible, 1)

    def is_chance(self, program: Program) -> bool:
        """Whether other values as short would reach about as many of the keys."""
        reached = self.reached([program])
        length = sum(map(len, reached)) / max(len(reached), 1)
        return is_chance(len(reached), len({key for key in self.outputs(program) if key}), self.size, length)

    def puts_digits_together(self, program: Program) -> bool:
        """Whether digits of one step come right after digits of another, in most rows for which it makes a value."""
        parts = [self._part(step) for step in program.steps]
        rows = [row for row in zip(*parts, strict=True) if all(row)]
        together = sum(any(a[-1].isdigit() and b[0].isdigit() for a, b in pairwise(row) if a and b) for row in rows)
        return 2 * together > len(rows)

    def left(self, programs: Sequence[Program]) -> tuple[SampledTable, SampledTable]:
        """The rows of source and target that the programs leave without a match."""
        outputs = [self.outputs(program) for program in programs]
        source = [row for row in range(self.source.rows) if not any(keys[row] in self.wanted for keys in outputs)]
        reached = self.reached(programs)
        target = [row for row, key in enumerate(self._keys) if key and key not in reached]
        return self.source.take(source), self.target.take(target[:_MOST_LEFT])

    def _run(self, program: Program) -> tuple[list[str | None], set[str]]:
        if program not in self._reached:
            parts = [self._part(step) for step in program.steps]
            joined = ["".join(row) if None not in row else None for row in zip(*parts, strict=True)]
            keys = join_keys(joined, self._type)
            self._reached[program] = keys, {key for key in keys if key} & self.wanted
        return self._reached[program]

    def _part(self, step: Extract | Constant) -> list[str | None]:
        if isinstance(step, Constant):
            return [step.text] * self.source.rows
        if step not in self._parts:
            column = self.source.columns[step.column]
            self._parts[step] = [step.apply(text) if text else None for text in column]
        return self._parts[step]


def is_chance(matched: int, values: int, keys: int, length: float) -> bool:
    """Whether as many other values of the length would match about as often: most codes of three letters are in use."""
    chance = min(1.0, _TOO_EASY * keys / float(_LETTERS) ** max(round(length), 1))
    return matched <= _MORE_THAN_CHANCE * chance * values


def join_keys(values: Sequence[str | None], number_type: ColumnType | None = None) -> list[str | None]:
    """Folded text, or tokens of numbers, as they join; null for what is empty."""
    folded = fold(pa.array(values, pa.string()))
    found: list[str | None] = (tokens(folded, number_type) if number_type else folded).to_pylist()
    return [value or None for value in found]


def _number_type(values: Sequence[str | None]) -> ColumnType | None:
    """The type of a column of numbers, of which 1.50 and 1.5 are one; None for any other."""
    found = decide(count_values(pa.chunked_array([pa.array(values, pa.string())])).evidence)
    return found if found.kind in ("integer", "real") else None


def rates(source: int, target: int) -> tuple[float, float]:
    """The rates for source and target that need the fewest rows; where one exceeds 1, the other is solved anew."""
    pairs = _EXAMPLES / ((1 - _SLACK) * _PARTICIPATION)
    of_source = math.sqrt(pairs / max(source, 1))
    of_target = of_source * source / max(target, 1)
    if of_source > 1:
        of_source, of_target = 1.0, pairs / max(target, 1)
    elif of_target > 1:
        of_source, of_target = pairs / max(target, 1), 1.0
    return min(of_source, 1.0), min(of_target, 1.0)


def sample(rows: int, rate: float) -> list[int]:
    """Rows drawn at a rate, the same in every run; all rows of a small table."""
    size = rows if rows <= _SMALL else max(math.ceil(rows * rate), _SMALL)
    return list(range(rows)) if size >= rows else sorted(random.Random(rows).sample(range(rows), size))
