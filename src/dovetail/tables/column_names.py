"""The columns that a user names to join on."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.errors import InputError
from dovetail.transform.transformation import Transformation

Pair = tuple[str, str]
Names = str | Pair | Sequence[str | Pair]
"""My column and theirs; a name that both have, or that is written `mine=theirs`; or several of these."""
On = Names | Transformation
"""Columns, or programs that make one side's key of the other's values."""


def column_pairs(on: Names, mine: list[str], theirs: list[str]) -> list[Pair]:
    """What `on` says, in whichever way it is written."""
    if not on:
        raise InputError("Name at least one column to join on.")
    if isinstance(on, str):
        parts = on.split(",")
        return _split(parts, mine, theirs) or [_as_pair(part) for part in parts]
    if isinstance(on, tuple) and len(on) == 2 and all(isinstance(name, str) for name in on):
        return [(str(on[0]), str(on[1]))]
    return [(one, one) if isinstance(one, str) else (one[0], one[1]) for one in on]


def _as_pair(written: str) -> Pair:
    first, equals, second = (part.strip() for part in written.partition("="))
    return first, second if equals else first


def _split(parts: list[str], mine: list[str], theirs: list[str]) -> list[Pair]:
    """The parts joined to pairs of known names, the longest first; empty where they cannot be.

    Names may hold commas and equals signs themselves.
    """
    for size in range(len(parts), 0, -1):
        written = ",".join(parts[:size])
        signs = [place for place, character in enumerate(written) if character == "="]
        options = [(written, written), *((written[:place], written[place + 1 :]) for place in signs)]
        for left, right in options:
            if left in mine and right in theirs:
                rest = _split(parts[size:], mine, theirs)
                if rest or size == len(parts):
                    return [(left, right), *rest]
    return []
