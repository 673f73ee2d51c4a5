"""Composite keys on both sides (section 4.4.3): if no program makes a whole key, one may make a part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dovetail._deadline import Deadline
from dovetail.transform.candidates import pieces
from dovetail.transform.discover import Discovery, Learn, discover
from dovetail.transform.examples import without_documents
from dovetail.transform.learn import learn
from dovetail.transform.program import Extract, Program

Columns = Mapping[str, Sequence[str | None]]
_SEEN = 4  # values whose separators are looked at
_CHECKED = 400  # values that must have the part, and nearly all another
_REGULAR = 0.9
_KEY_SHARE = 0.8
_MOST_PARTS = 16  # of a table
_LONG = 3  # characters of a part, on average: shorter ones are equal by chance
_LEAST_MATCHED = 0.5  # of the rows of the smaller table: with both sides cut, less may be chance


def discover_composite(
    left: Columns,
    right: Columns,
    deadline: Deadline | None = None,
    learning: Learn = learn,
    read: int | None = None,
) -> Discovery | None:
    """The program that makes a part of a composite key, if it joins half of the smaller table.

    `learning` makes programs of examples; `read` is the table that programs read: 0 the left one, 1 the right one,
    None either.
    """
    left, right = without_documents(left), without_documents(right)
    for turned, source, target in ((False, left, right), (True, right, left)):
        if deadline is not None and deadline.is_over:
            break
        if read not in (None, int(turned)):
            continue
        parts = {f"{number}": extract for number, extract in enumerate(_parts(target))}
        widened = {name: _made(extract, target) for name, extract in parts.items()}
        found = discover(source, widened, deadline=deadline, learning=learning) if parts else None
        if found is None or found.reversed:
            continue
        extract = parts[found.target]
        whole = replace(found, target=extract.column, reversed=turned, key=Program((extract,)))
        if _matched(whole, source, target) >= _LEAST_MATCHED * min(_rows(source), _rows(target)):
            return whole
    return None


def _parts(table: Columns) -> Iterator[Extract]:
    """The pieces that are nearly keys themselves, the plainest splits first."""
    found = 0
    for name, column in table.items():
        filled = [text for text in column if text]
        step = -(-len(filled) // _CHECKED) or 1
        checked = filled[::step][:_CHECKED]
        if not checked:
            continue
        ways = sorted((min(ways, key=lambda way: way[0]) for ways in pieces(checked[:_SEEN], 2).values()), key=_cost)
        seen = set()
        for _, splits in ways:
            extract = Extract(name, splits)
            made = tuple(extract.apply(text) for text in checked)
            if splits and made not in seen and _is_key(made) and found < _MOST_PARTS:
                seen.add(made)
                found += 1
                yield extract


def _cost(way: tuple[float, object]) -> float:
    return way[0]


def _is_key(made: Sequence[str | None]) -> bool:
    there = [text for text in made if text]
    long = sum(map(len, there)) >= _LONG * len(there)
    return long and len(there) >= _REGULAR * len(made) and len(set(there)) >= _KEY_SHARE * len(there)


def _made(extract: Extract, table: Columns) -> list[str | None]:
    return [extract.apply(text) if text else None for text in table[extract.column]]


def _matched(found: Discovery, source: Columns, target: Columns) -> int:
    keys = set(found.keys_of(target)) - {None}
    made = [program.apply(source) for program in found.programs]
    return sum(any(value in keys for value in row) for row in zip(*made, strict=True))


def _rows(table: Columns) -> int:
    return len(next(iter(table.values()), ()))
