"""Tables of symbols for short texts: which runs of bytes get a code of one byte, learned from a sample.

Peter Boncz, Thomas Neumann, Viktor Leis: FSST: Fast Random Access String Compression. PVLDB 13(11), 2020.
doi:10.14778/3407790.3407851. Here symbols are found by their first byte, the longest first, in place of the paper's
lossy hash table; training is the paper's, in Algorithm 4's rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from dovetail._storage.symbol_kernels import ESCAPE, LONGEST, RAW, Symbols, count_codes
from dovetail._types import Array

_ROUNDS = 5  # as in the paper
_SAMPLE = 1 << 16  # bytes; the paper takes 16 KB of one kind of text, and columns differ more
_SINGLE = 8  # how much more a symbol of one byte counts, as in the paper's code: without it the byte takes two


def learn_symbols(content: Array, offsets: Array) -> Symbols:
    """The symbols that suit some texts best, from texts spread over all of them."""
    content, offsets = _sample(content, offsets)
    symbols = _table(())
    for _ in range(_ROUNDS):
        counts, pairs = np.zeros(2 * RAW, np.int64), np.zeros((2 * RAW, 2 * RAW), np.int32)
        count_codes(content, offsets, symbols, counts, pairs)
        symbols = _table(_best(_texts(symbols), counts, pairs))
    return symbols


def write_symbols(symbols: Symbols) -> Array:
    """The table as bytes: eight and a length for each symbol."""
    return np.concatenate([symbols.content, symbols.lengths])


def read_symbols(content: Array) -> Symbols | None:
    """The table that these bytes hold; None where they hold none."""
    number = len(content) // (LONGEST + 1)
    symbols, lengths = content[: LONGEST * number], content[LONGEST * number :]
    if len(content) != number * (LONGEST + 1) or number > ESCAPE or np.any(lengths - 1 >= LONGEST):
        return None
    starts = np.searchsorted(symbols[::LONGEST], np.arange(257)).astype(np.int64)
    return Symbols(symbols, symbols.view("<u8"), lengths, starts)


def _sample(content: Array, offsets: Array) -> tuple[Array, Array]:
    """Texts at equal distances, about as much as is wanted."""
    step = max(1, (int(offsets[-1]) - int(offsets[0])) // _SAMPLE)
    begins, ends = offsets[:-1][::step], offsets[1:][::step]
    parts = [content[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    lengths = np.concatenate([[0], ends - begins]).astype(np.int64)
    return np.concatenate([np.empty(0, np.uint8), *parts]), np.cumsum(lengths)


def _texts(symbols: Symbols) -> list[bytes]:
    """What each code stands for while codes are counted: symbols, and single bytes from RAW on."""
    content = symbols.content.tobytes()
    known = [content[LONGEST * code :][:length] for code, length in enumerate(symbols.lengths.tolist())]
    return known + [b""] * (RAW - len(known)) + [bytes([byte]) for byte in range(256)]


def _best(texts: list[bytes], counts: Array, pairs: Array) -> Iterable[bytes]:
    """The symbols that would save most: those there are, and those that follow each other as one."""
    gains: Counter[bytes] = Counter()
    for code in np.flatnonzero(counts).tolist():
        text = texts[code]
        gains[text] += int(counts[code]) * (_SINGLE if len(text) == 1 else len(text))
    firsts, seconds = np.nonzero(pairs)
    for first, second, count in zip(firsts.tolist(), seconds.tolist(), pairs[firsts, seconds].tolist(), strict=True):
        text = (texts[first] + texts[second])[:LONGEST]
        gains[text] += count * len(text)
    ranked = sorted(gains.items(), key=lambda one: (-one[1], one[0]))  # the same texts give the same table
    return (text for text, _ in ranked[:ESCAPE])


def _table(texts: Iterable[bytes]) -> Symbols:
    ordered = sorted(texts, key=lambda text: (text[0], -len(text), text))
    content = np.frombuffer(b"".join(text.ljust(LONGEST, b"\0") for text in ordered), np.uint8)
    lengths = np.array([len(text) for text in ordered], np.uint8)
    table = read_symbols(np.concatenate([content, lengths]))
    assert table is not None
    return table
