"""The columns that a user names to join or search on, in all the ways they can be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dovetail.errors import InputError

T = TypeVar("T")

Pair = tuple[str, str]
Names = str | Pair | Sequence[str | Pair]
"""My column and theirs; a name that both have, or that is written `mine=theirs`; or several of these."""


def column_pairs(on: Names, mine: Sequence[str], theirs: Sequence[str]) -> list[Pair]:
    """The pairs of columns that `on` names. Names may contain commas and equals signs."""
    if not on:
        raise InputError("`on` is empty; name at least one column.")
    if isinstance(on, str):
        parts = on.split(",")
        return _joined_parts(parts, lambda text: _known_pair(text, mine, theirs)) or [_as_pair(part) for part in parts]
    if isinstance(on, tuple) and len(on) == 2 and all(isinstance(name, str) for name in on):
        return [(str(on[0]), str(on[1]))]
    return [_one_pair(one, mine, theirs) if isinstance(one, str) else _given_pair(one) for one in on]


def paired(
    on: Names | None, left_on: str | Sequence[str] | None, right_on: str | Sequence[str] | None, uneven: bool = False
) -> Names | None:
    """The columns that are named by `on`, or by `left_on` and `right_on` as in pandas and polars.

    If they may be `uneven`, one column on one side is paired with each on the other.
    """
    if left_on is None and right_on is None:
        return on
    if on is not None:
        raise InputError("Use either `on`, or `left_on` and `right_on`.")
    if left_on is None or right_on is None:
        raise InputError("`left_on` and `right_on` must be given together.")
    mine, theirs = _as_list(left_on), _as_list(right_on)
    if uneven and 1 in (len(mine), len(theirs)):
        return [(one, other) for one in mine for other in theirs]
    if len(mine) != len(theirs):
        raise InputError(
            f"`left_on` and `right_on` must have the same length, not {len(mine)} and {len(theirs)}. "
            "(One column joins with several by='transform'.)"
        )
    return list(zip(mine, theirs, strict=True))


def is_one_to_several(left_on: str | Sequence[str] | None, right_on: str | Sequence[str] | None) -> bool:
    """Whether one column is named on one side and several on the other, so that a program has to make it of them."""
    if left_on is None or right_on is None:
        return False
    sizes = sorted((len(_as_list(left_on)), len(_as_list(right_on))))
    return sizes[0] == 1 < sizes[1]


def _as_list(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def column_list(on: str | Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The columns of one table: a list of names, or a text with commas."""
    if isinstance(on, str):
        parts = on.split(",")
        names = _joined_parts(parts, lambda text: _known_name(text, known)) or [part.strip() for part in parts]
    else:
        names = list(on)
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"`on` names {twice} twice.")
    if not names:
        raise InputError("`on` is empty; name at least one column.")
    return tuple(names)


def _as_pair(written: str) -> Pair:
    first, equals, second = (part.strip() for part in written.partition("="))
    return first, second if equals else first


def _given_pair(given: Pair) -> Pair:
    if isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(name, str) for name in given):
        return given[0], given[1]
    raise InputError(f"`on` holds {given!r}; it takes names of columns, and pairs of a name of each table.")


def _one_pair(written: str, mine: Sequence[str], theirs: Sequence[str]) -> Pair:
    """A name of both, or `mine=theirs`: as they are written, or without the spaces around the sign."""
    return _known_pair(written, mine, theirs) or _as_pair(written)


def _known_pair(text: str, mine: Sequence[str], theirs: Sequence[str]) -> Pair | None:
    signs = [place for place, character in enumerate(text) if character == "="]
    options = [(text, text), *((text[:place], text[place + 1 :]) for place in signs)]
    return next(((left, right) for left, right in options if left in mine and right in theirs), None)


def _known_name(text: str, known: Sequence[str]) -> str | None:
    return next((name for name in (text, text.strip()) if name in known), None)


def _joined_parts(parts: list[str], found: Callable[[str], T | None]) -> list[T]:
    """The parts, joined again into known names, the longest first; empty if that is not possible."""
    for size in range(len(parts), 0, -1):
        first = found(",".join(parts[:size]))
        if first is not None:
            rest = _joined_parts(parts[size:], found)
            if rest or size == len(parts):
                return [first, *rest]
    return []
