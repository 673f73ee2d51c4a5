"""Names that are not there: what to say about them, and which ones are nearest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._types import Array

_LISTED = 5  # names that are listed where none is similar; arbitrary
_NEAREST = 3  # names that are offered for one that is not there; arbitrary
_MISSPELT = 1 / 3  # of a name's characters, in a slip of the hand; arbitrary


def unknown(what: str, name: str, known: list[str]) -> str:
    """About a name that is not there: the nearest that are, or else some of those that are."""
    rest = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    return _did_you_mean(what, name, known) or (
        f'{what} "{name}". There are {len(known):,}: {", ".join(known[:_LISTED])}{rest}.'
    )


def unknown_table(what: str, name: str, known: list[str]) -> str:
    """The same of a table: of many, those that come first by the alphabet help nobody."""
    if len(known) <= _LISTED:
        return unknown(what, name, known)
    return _did_you_mean(what, name, known) or (
        f'{what} "{name}"; none of its {len(known):,} tables has a similar name.'
    )


def _did_you_mean(what: str, name: str, known: list[str]) -> str:
    near = " or ".join(f'"{other}"' for other in nearest_names(name, known))
    return f'{what} "{name}". Did you mean {near}?' if near else ""


def nearest_names(name: str, known: Sequence[str]) -> list[str]:
    """The known names with the fewest edits, of the whole name or of its last part; none if all differ too much.

    A last part may lack its ending. Of several as near, those in the same folders come first.
    """
    folders, last = set(name.casefold().split("/")[:-1]), _last_part(name)
    edits = [_share_of_edits(name.casefold(), [other.casefold() for other in known])]
    for part in (_last_part, _stem):
        edits.append(_share_of_edits(last, [part(other) for other in known]))
    shares = list(map(min, zip(*edits, strict=True)))
    least = min(shares, default=1.0)
    near = [other for other, share in zip(known, shares, strict=True) if share == least <= _MISSPELT]

    def order(other: str) -> tuple[int, int, str]:
        return -len(folders & set(other.casefold().split("/"))), len(other), other

    return sorted(near, key=order)[:_NEAREST]


def _last_part(name: str) -> str:
    return name.casefold().rpartition("/")[2]


def _stem(name: str) -> str:
    return _last_part(name).partition(".")[0]


def _share_of_edits(name: str, others: Sequence[str]) -> list[float]:
    """Levenshtein's distance to each, by the length of the longer name; 1 where that alone is too different."""
    longer = [max(len(name), len(other), 1) for other in others]
    close = [n for n, other in enumerate(others) if abs(len(name) - len(other)) <= _MISSPELT * longer[n]]
    found = [1.0] * len(others)
    for number, edits in zip(close, edit_distances(name, [others[n] for n in close]).tolist(), strict=True):
        found[number] = edits / longer[number]
    return found


def edit_distances(name: str, others: Sequence[str]) -> Array:
    """Levenshtein's distance to each: characters that are inserted, deleted or replaced."""
    width = max(map(len, others), default=0)
    letters = np.array(others, f"U{max(width, 1)}").view(np.uint32).reshape(len(others), max(width, 1))
    steps = np.arange(letters.shape[1] + 1)
    row = np.tile(steps, (len(others), 1))
    for place, letter in enumerate(name, 1):
        replaced, deleted = row[:, :-1] + (letters != ord(letter)), row[:, 1:] + 1
        row[:, 0], row[:, 1:] = place, np.minimum(replaced, deleted)
        row = np.minimum.accumulate(row - steps, axis=1) + steps  # inserted
    found: Array = row[np.arange(len(others)), [len(other) for other in others]]
    return found
