"""Programs: constants and extracts, concatenated; what several of them make; and what none should do.

The paper's logical operators Substr, SplitSubstr and SplitSplitSubstr are an `Extract` with none, one and two splits.
An extract may also have a form, which the paper does not have (forms.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.transform.forms import Form, form_json, form_of

_LOOKED_AT = 1_000  # values of a column, for whether a program cuts its numbers; arbitrary
T = TypeVar("T")
Normalise = Callable[[pa.Array], pa.Array]


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
    """Split at a separator, keep the pieces from `first` to `last`, both included; negative: counted from the end.

    One piece (`first` is `last`), all but the last (0 to -2), or all but the first (1 to -1).
    """

    separator: str
    first: int
    last: int

    def apply(self, text: str) -> str | None:
        """None if there is no such piece. A text without the separator is one piece."""
        pieces = text.split(self.separator)
        size = len(pieces)
        first = self.first + size if self.first < 0 else self.first
        last = self.last + size if self.last < 0 else self.last
        if not 0 <= first <= last < size:
            return None
        return pieces[first] if first == last else self.separator.join(pieces[first : last + 1])


@dataclass(frozen=True)
class Extract:
    """A part of one column: split up to twice, characters `start` to `stop` as Python slices, then form and case."""

    column: str
    splits: tuple[Split, ...] = ()
    start: int = 0
    stop: int | None = None
    case: str = "as is"
    form: Form | None = None

    def apply(self, text: str) -> str | None:
        for split in self.splits:
            part = split.apply(text)
            if part is None:
                return None
            text = part
        text = text[self.start : self.stop]
        if self.form is not None:
            text = self.form.apply(text) or ""
        return CASES[self.case](text) or None


@dataclass(frozen=True)
class Constant:
    text: str


Step = Extract | Constant


@dataclass(frozen=True, repr=False)
class Program:
    """The concatenation of its steps. A row in which one extract has nothing to take gives null."""

    steps: tuple[Step, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, in the order of their first use."""
        return tuple(dict.fromkeys(step.column for step in self.steps if isinstance(step, Extract)))

    @property
    def words(self) -> str:
        """The program in one sentence."""
        return ", then ".join(_words(step) for step in self.steps)

    def __repr__(self) -> str:
        return f"<Program: {self.words}>"

    @property
    def is_identity(self) -> bool:
        """Whether it leaves a column as it is, but for case."""
        step = self.steps[0]
        return len(self.steps) == 1 and isinstance(step, Extract) and step == Extract(step.column, case=step.case)

    @property
    def has_forms(self) -> bool:
        """Whether it does more than cut: then there is no expression of Spark for it."""
        return any(isinstance(step, Extract) and step.form is not None for step in self.steps)

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
        program = Program(tuple(_step_of(step) for step in steps))
        if not program.columns:
            raise ValueError("a program reads no column")
        return program


_ORDINALS = ("first", "second", "third")


def _words(step: Step) -> str:
    if isinstance(step, Constant):
        return f"“{step.text}”"
    text = f"column “{step.column}”"
    for split in step.splits:
        text = f"{_piece_words(split)} of {text} cut at “{split.separator}”"
    if (step.start, step.stop) != (0, None):
        text = f"{_slice_words(step.start, step.stop)} of {text}"
    if step.form is not None:
        text = step.form.words(text)
    return text if step.case == "as is" else f"{text}, in {step.case} case"


def _piece_words(split: Split) -> str:
    if split.first == split.last:
        return f"the {_ordinal(split.first)} piece"
    return "all but the last piece" if split.first == 0 else "all but the first piece"


def _ordinal(place: int) -> str:
    if place == -1:
        return "last"
    from_end = " from the end" if place < 0 else ""
    number = -place if place < 0 else place + 1
    return (_ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th") + from_end


def _slice_words(start: int, stop: int | None) -> str:
    if start == 0 and stop is not None:
        return f"the first {_characters(stop)}" if stop > 0 else f"all but the last {_characters(-stop)}"
    if stop is None:
        return f"all but the first {_characters(start)}" if start > 0 else f"the last {_characters(-start)}"
    return f"characters {start} to {stop} (as Python slices)"


def _characters(number: int) -> str:
    return "character" if number == 1 else f"{number} characters"


def _step_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Constant):
        return {"constant": step.text}
    splits = [{"separator": split.separator, "first": split.first, "last": split.last} for split in step.splits]
    form = {} if step.form is None else {"form": form_json(step.form)}
    return {"column": step.column, "splits": splits, "start": step.start, "stop": step.stop, "case": step.case, **form}


def _step_of(step: Mapping[str, Any]) -> Step:
    """A step as it was written; TypeError or ValueError for what no program has."""
    if "constant" in step:
        return Constant(_of_type(step["constant"], str))
    splits = tuple(_split_of(split) for split in step["splits"])
    if step["case"] not in CASES:
        raise ValueError(f"there is no case {step['case']!r}")
    stop = step["stop"] if step["stop"] is None else _of_type(step["stop"], int)
    form = form_of(step["form"]) if "form" in step else None
    return Extract(_of_type(step["column"], str), splits, _of_type(step["start"], int), stop, step["case"], form)


def _split_of(split: Mapping[str, Any]) -> Split:
    if not _of_type(split["separator"], str):
        raise ValueError("a separator is empty")
    return Split(split["separator"], _of_type(split["first"], int), _of_type(split["last"], int))


def _of_type(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def made_by(
    programs: Sequence[Program], columns: Mapping[str, Sequence[str | None]], normalise: Normalise, wanted: pa.Array
) -> pa.LargeStringArray:
    """Normalised values, one for each row of `columns`; null where no program makes one of those `wanted`."""
    rows = len(next(iter(columns.values())))
    found = pa.nulls(rows, pa.large_string())
    for program in programs:
        made = normalise(pa.array(program.apply(columns), pa.string())).cast(pa.large_string())
        found = pc.coalesce(found, pc.if_else(pc.is_in(made, wanted), made, None))
    return found


def cuts_numbers(program: Program, columns: Mapping[str, Sequence[str | None]]) -> bool:
    """Whether it takes a part of numbers of different lengths: 14 is not 149 written differently.

    Of numbers that all have as many digits, such as dates, a part may well mean something.
    """
    return any(
        _cuts(step, (text for text in columns[step.column][:_LOOKED_AT] if text))
        for step in program.steps
        if isinstance(step, Extract) and (step.start or step.stop is not None)
    )


def _cuts(step: Extract, texts: Iterable[str]) -> bool:
    whole = Extract(step.column, step.splits)
    lengths, cut = set(), False
    for text in texts:
        piece = whole.apply(text) or ""
        first, last, _ = slice(step.start, step.stop).indices(len(piece))
        for edge, inside in ((first, first), (last, last - 1)):
            if first < last and piece[inside].isdigit():
                begin, end = _number_around(piece, inside)
                lengths.add(end - begin)
                cut |= begin < edge < end
    return cut and len(lengths) > 1


def _number_around(text: str, place: int) -> tuple[int, int]:
    begin, end = place, place + 1
    while begin and text[begin - 1].isdigit():
        begin -= 1
    while end < len(text) and text[end].isdigit():
        end += 1
    return begin, end
