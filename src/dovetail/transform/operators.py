"""What a program is made of: constants and extracts, concatenated. Programs are values.

The paper's logical operators Substr, SplitSubstr and SplitSplitSubstr are an `Extract` with none, one and two splits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


def _title(text: str) -> str:
    """Each word between spaces with a capital: what SQL's initcap does."""
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


CASES: dict[str, Callable[[str], str]] = {
    "as is": lambda text: text,
    "lower": str.lower,
    "upper": str.upper,
    "title": _title,
}


@dataclass(frozen=True)
class Split:
    """Cut at a separator, keep the pieces from `first` to `last`, both included; negative: counted from the end.

    One piece (`first` is `last`), all but the last (0 to -2), or all but the first (1 to -1).
    """

    separator: str
    first: int
    last: int

    def apply(self, text: str) -> str | None:
        """None where there is no such piece. A text without the separator is one piece."""
        pieces = text.split(self.separator)
        size = len(pieces)
        first = self.first + size if self.first < 0 else self.first
        last = self.last + size if self.last < 0 else self.last
        if not 0 <= first <= last < size:
            return None
        return pieces[first] if first == last else self.separator.join(pieces[first : last + 1])


@dataclass(frozen=True)
class Extract:
    """A part of one column: split up to twice, then characters `start` to `stop` as Python slices them, then cased."""

    column: str
    splits: tuple[Split, ...] = ()
    start: int = 0
    stop: int | None = None
    case: str = "as is"

    def apply(self, text: str) -> str | None:
        for split in self.splits:
            part = split.apply(text)
            if part is None:
                return None
            text = part
        return CASES[self.case](text[self.start : self.stop]) or None


@dataclass(frozen=True)
class Constant:
    text: str


Step = Extract | Constant


@dataclass(frozen=True)
class Program:
    """The concatenation of its steps. A row in which one extract has nothing to take gives null."""

    steps: tuple[Step, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, in the order of their first use."""
        return tuple(dict.fromkeys(step.column for step in self.steps if isinstance(step, Extract)))

    @property
    def is_identity(self) -> bool:
        """Whether it leaves a column as it is, but for case."""
        step = self.steps[0]
        return len(self.steps) == 1 and isinstance(step, Extract) and step == Extract(step.column, case=step.case)

    def apply(self, columns: Mapping[str, Sequence[str | None]]) -> list[str | None]:
        """The program's value for every row; `columns` has the raw text of at least those that are read."""
        rows = len(columns[self.columns[0]])
        parts = [
            [step.text] * rows
            if isinstance(step, Constant)
            else [None if text is None else step.apply(text) for text in columns[step.column]]
            for step in self.steps
        ]
        return [None if None in row else "".join(row) for row in zip(*parts, strict=True)]

    def to_json(self) -> list[dict[str, Any]]:
        return [_step_json(step) for step in self.steps]

    @staticmethod
    def from_json(steps: Sequence[Mapping[str, Any]]) -> Program:
        return Program(tuple(_step_of(step) for step in steps))


def _step_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Constant):
        return {"constant": step.text}
    splits = [{"separator": split.separator, "first": split.first, "last": split.last} for split in step.splits]
    return {"column": step.column, "splits": splits, "start": step.start, "stop": step.stop, "case": step.case}


def _step_of(step: Mapping[str, Any]) -> Step:
    if "constant" in step:
        return Constant(step["constant"])
    splits = tuple(Split(split["separator"], split["first"], split["last"]) for split in step["splits"])
    return Extract(step["column"], splits, step["start"], step["stop"], step["case"])
