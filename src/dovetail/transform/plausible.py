"""What no program should do, however many rows it joins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dovetail.transform.operators import Extract, Program

_LOOKED_AT = 1_000  # values of a column


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
