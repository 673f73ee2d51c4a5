"""Folding: what people mean to be the same text becomes the same text.

``fold_one`` is the specification. ``fold`` does the same to a whole array, by table wherever that is
provably the same: a character is in the table if it and what it folds to are single characters that
Unicode's quick check for NFC answers with "yes" (unicode.org/reports/tr15, section 9). A text of such
characters is in NFC before and after its case is folded, whatever their order, so each can be replaced on
its own.

This is not NFKC, which would turn ``10²`` into ``102``. Typographic quotes and dashes stay what they are.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.normalise._arrow import Bytes, Offsets, check_size, read, room, write
from dovetail.normalise._fold_kernels import REMOVE, SPACE, UNSAFE, fold_values, splice

WHITE_SPACE = (
    *range(0x09, 0x0E),  # tab, line feed, vertical tab, form feed, carriage return
    0x20,  # space
    0x85,  # next line
    0xA0,  # no-break space
    0x1680,  # ogham space mark
    *range(0x2000, 0x200B),  # en quad to hair space
    0x2028,  # line separator
    0x2029,  # paragraph separator
    0x202F,  # narrow no-break space
    0x205F,  # medium mathematical space
    0x3000,  # ideographic space
)
"""Unicode's White_Space property: each becomes a space."""

INVISIBLE = (
    0xAD,  # soft hyphen
    0x061C,  # Arabic letter mark
    0x200B,  # zero-width space
    0x200E,  # left-to-right mark
    0x200F,  # right-to-left mark
    *range(0x202A, 0x202F),  # embeddings and overrides of direction
    0x2060,  # word joiner
    *range(0x2066, 0x206A),  # isolates of direction
    0xFEFF,  # byte order mark, zero-width no-break space
)
"""Removed. The zero-width joiner and non-joiner are not here: they make other words, and other emoji."""

_FULL_WIDTH = range(0xFF00, 0xFFF0)
_COMPUTED = (range(0x2C00), range(0x3000, 0x3100), _FULL_WIDTH, range(0xFEFF, 0xFF00))
"""Worked out character by character: alphabets, punctuation, symbols, kana, full-width forms."""
_UNCHANGED = (range(0x4E00, 0xA000), range(0xAC00, 0xD7A4))
"""Every character folds to itself: Han and Hangul syllables."""
_COMBINING_JAMO = range(0x1160, 0x1200)
"""Hangul vowels and finals join the letter before them, though their combining class is 0."""
LETTER, DIGIT = 1, 2
_CODES = 1 << 16  # characters beyond are letters as they are


def _wide_forms() -> dict[int, int]:
    """Full-width characters and the ordinary ones that Unicode says they are the ``<wide>`` form of."""
    pairs = ((c, unicodedata.decomposition(chr(c)).split()) for c in _FULL_WIDTH)
    return {c: int(parts[1], 16) for c, parts in pairs if parts[:1] == ["<wide>"]}


_MAPPED: dict[int, int | None] = {
    **_wide_forms(),
    **dict.fromkeys(WHITE_SPACE, SPACE),
    **dict.fromkeys(INVISIBLE),
}


def fold_one(text: str) -> str:
    """The specification of folding, for one value.

    NFC comes before case folding, which looks at characters, and after it, because a lower-case letter may
    join the mark after it where the upper-case letter has no joined form.
    """
    text = unicodedata.normalize("NFC", text.translate(_MAPPED))
    text = unicodedata.normalize("NFC", text.casefold())
    return " ".join(part for part in text.split(" ") if part)


def fold(raw: pa.Array) -> pa.Array:
    """Fold every value of a string or large_string array; a null stays null."""
    strings = read(raw)
    data, ends = room(strings, growth=0)
    slow = np.empty(strings.length, dtype=np.int64)
    left = fold_values(strings.data, strings.offsets, strings.valid, _ascii_table(), data, ends, slow)
    if left:
        left = fold_values(strings.data, strings.offsets, strings.valid, _table(), data, ends, slow)
    if left:
        data, ends = _with_slow_values(raw, data, ends, slow[:left])
    return write(strings.type, data, ends, strings.valid)


def _with_slow_values(raw: pa.Array, data: Bytes, ends: Offsets, slow: npt.NDArray[np.int64]) -> tuple[Bytes, Offsets]:
    """Fold the values that the table could not, by the specification, and put them in their places."""
    values = raw.take(pa.array(slow)).to_pylist()
    patch = read(pa.array([fold_one(value) for value in values], pa.large_string()))
    size = int(ends[-1]) + patch.size
    check_size(raw.type, size)
    out, out_ends = np.empty(size, dtype=np.uint8), np.empty_like(ends)
    splice(data, ends, slow, patch.data, patch.offsets, out, out_ends)
    return out, out_ends


@cache
def _ascii_table() -> npt.NDArray[np.int32]:
    """The first 128 entries of the table: all that most lakes need, and ready at once."""
    return _frozen(_entries(range(0x80), frozenset()))


@cache
def _table() -> npt.NDArray[np.int32]:
    """What every character of the basic plane folds to, ``REMOVE`` or ``UNSAFE``; made when first needed."""
    table = np.full(0x10000, UNSAFE, dtype=np.int32)
    joining = _joining_characters()
    for span in _COMPUTED:
        table[span.start : span.stop] = _entries(span, joining)
    for span in _UNCHANGED:
        table[span.start : span.stop] = np.arange(span.start, span.stop)
    return _frozen(table)


def _frozen(table: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    table.setflags(write=False)
    return table


def _entries(span: range, joining: frozenset[int]) -> npt.NDArray[np.int32]:
    return np.array([_entry(c, joining) for c in span], dtype=np.int32)


def _entry(character: int, joining: frozenset[int]) -> int:
    """One entry. A character whose folded form needs more bytes is left out, so that values never grow."""
    mapped = _MAPPED.get(character, character)
    if mapped is None:
        return REMOVE
    folded = chr(mapped).casefold()
    if len(folded) != 1 or len(folded.encode()) > len(chr(character).encode()):
        return UNSAFE
    if not _stands_alone(folded, joining) or (ord(folded) != mapped and not _stands_alone(chr(mapped), joining)):
        return UNSAFE
    return ord(folded)


def _stands_alone(character: str, joining: frozenset[int]) -> bool:
    """Whether NFC's quick check answers "yes": never changed, moved or joined to the character before it."""
    return (
        unicodedata.combining(character) == 0
        and ord(character) not in joining
        and unicodedata.is_normalized("NFC", character)
    )


def _joining_characters() -> frozenset[int]:
    """The characters that some composition joins to the one before: quick check's "maybe"."""
    decompositions = filter(None, map(unicodedata.decomposition, map(chr, range(0x3100))))
    pairs = (found.split() for found in decompositions if not found.startswith("<") and " " in found)
    return frozenset(int(second, 16) for _, second in pairs) | frozenset(_COMBINING_JAMO)


class _Plain(dict[int, str]):
    """Each character without accents and case, always as one character, so that positions stay."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        base = unicodedata.normalize("NFD", character)[0].lower()
        found = base if len(base) == 1 else character
        self[code] = found
        return found


_PLAIN = _Plain()


def plain(text: str) -> str:
    """The text without accents and case, character for character: as values are compared while programs are learned."""
    return text.translate(_PLAIN)


@cache
def characters() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """For kernels: for every character its plain one, and whether it is a letter, a digit or neither."""
    folded = np.arange(_CODES, dtype=np.uint32)
    kinds = np.zeros(_CODES, np.uint8)
    for code in range(_CODES):
        character = chr(code)
        if character.isalnum():
            folded[code] = ord(plain(character))
            kinds[code] = DIGIT if character.isdigit() else LETTER
    return folded, kinds
