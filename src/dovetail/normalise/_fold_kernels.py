"""Kernels of folding: a table maps one character to one character, and white space is folded on the way.

The table holds only characters for which the mapping is provably what the specification does (see
``folding.py``); a value with any other character is left to the specification itself, and spliced in
afterwards.
"""

from __future__ import annotations

import itertools

import numpy as np

from dovetail._compile import compiled, compiled_beside, int64
from dovetail.normalise._arrow import Bytes, Flags, Offsets

REMOVE = -1
"""The character vanishes (zero-width, soft hyphen)."""
UNSAFE = -2
"""Only the specification can fold a value with this character."""

SPACE = 32


@compiled
def decode(data: Bytes, p: int, stop: int) -> tuple[int, int]:
    """The character at ``p`` and where the next begins; (-1, stop) for one not of the basic plane."""
    first = int64(data[p])
    if first < 0x80:
        return first, p + 1
    if 0xC2 <= first < 0xE0 and p + 1 < stop:
        return (first & 0x1F) << 6 | (int64(data[p + 1]) & 0x3F), p + 2
    if 0xE0 <= first < 0xF0 and p + 2 < stop:
        middle = (int64(data[p + 1]) & 0x3F) << 6
        return (first & 0x0F) << 12 | middle | (int64(data[p + 2]) & 0x3F), p + 3
    return -1, stop


@compiled
def encode(out: Bytes, w: int, character: int) -> int:
    """Write a character of the basic plane as UTF-8; return where the next goes."""
    if character < 0x80:
        out[w] = character
        return w + 1
    if character < 0x800:
        out[w] = 0xC0 | character >> 6
        out[w + 1] = 0x80 | character & 0x3F
        return w + 2
    out[w] = 0xE0 | character >> 12
    out[w + 1] = 0x80 | character >> 6 & 0x3F
    out[w + 2] = 0x80 | character & 0x3F
    return w + 3


@compiled
def fold_value(data: Bytes, start: int, stop: int, table: Offsets, out: Bytes, begin: int) -> int:
    """Fold one value to ``out[begin:]``; return its end, or -1 where only the specification can fold it."""
    p = int64(start)
    w = int64(begin)
    pending = False
    while p < stop:
        character = int64(data[p])
        if character < 0x80:
            p += 1
        else:
            character, p = decode(data, p, stop)
            if character < 0 or character >= len(table):
                return -1
        folded = int64(table[character])
        if folded > SPACE and not pending and folded < 0x80:
            out[w] = folded
            w += 1
        elif folded == SPACE:
            pending = w > begin
        elif folded == UNSAFE:
            return -1
        elif folded != REMOVE:
            if pending:
                out[w] = SPACE
                w += 1
                pending = False
            w = encode(out, w, folded)
    return w


class _Folds(dict[int, str | None]):
    """A table as `str.translate` takes it, filled as characters come."""

    def __init__(self, table: Offsets) -> None:
        self._table = table

    def __missing__(self, character: int) -> str | None:
        folded = int(self._table[character]) if character < len(self._table) else UNSAFE
        self[character] = None if folded == REMOVE else _MARK if folded == UNSAFE else chr(folded)
        return self[character]


_MARK = "\U0010ffff"  # no character; it stands for an unsafe one, and for itself, which is beyond every table


def _fold_values(
    data: Bytes, offsets: Offsets, valid: Flags, table: Offsets, out: Bytes, ends: Offsets, slow: Offsets
) -> int:
    folds, content, left, parts = _Folds(table), data.data, 0, []
    for i, (start, stop) in enumerate(itertools.pairwise(offsets.tolist())):
        text = str(content[start:stop], "utf-8").translate(folds) if len(valid) == 0 or valid[i] else ""
        if _MARK in text:
            if left < len(slow):
                slow[left] = i
            left, text = left + 1, ""
        parts.append(bytes(" ".join([word for word in text.split(" ") if word]), "utf-8"))
    ends[0] = 0
    ends[1:] = np.cumsum([len(part) for part in parts])
    out[: ends[-1]] = np.frombuffer(b"".join(parts), np.uint8)
    return left


@compiled_beside(_fold_values)
def fold_values(
    data: Bytes, offsets: Offsets, valid: Flags, table: Offsets, out: Bytes, ends: Offsets, slow: Offsets
) -> int:
    """Fold every value; those left to the specification come out empty and are listed in ``slow``.

    Returns how many are listed. ``slow`` is filled up to its length, and counted beyond.
    """
    w = int64(0)
    left = 0
    ends[0] = 0
    for i in range(len(offsets) - 1):
        if len(valid) == 0 or valid[i]:
            end = fold_value(data, offsets[i], offsets[i + 1], table, out, w)
            if end >= 0:
                w = end
            else:
                if left < len(slow):
                    slow[left] = i
                left += 1
        ends[i + 1] = w
    return left


@compiled
def splice(
    data: Bytes,
    ends: Offsets,
    slow: Offsets,
    patch: Bytes,
    patch_ends: Offsets,
    out: Bytes,
    out_ends: Offsets,
) -> None:
    """Copy ``data`` with the empty values listed in ``slow`` replaced by those of ``patch``, in order."""
    w = int64(0)
    k = 0
    out_ends[0] = 0
    for i in range(len(ends) - 1):
        if k < len(slow) and slow[k] == i:
            for p in range(patch_ends[k], patch_ends[k + 1]):
                out[w] = patch[p]
                w += 1
            k += 1
        else:
            for p in range(ends[i], ends[i + 1]):
                out[w] = data[p]
                w += 1
        out_ends[i + 1] = w
