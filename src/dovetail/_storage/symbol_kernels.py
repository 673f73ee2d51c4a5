"""Kernels that write texts in codes of one byte and read them back (FSST).

A code below 255 stands for a symbol, one to eight bytes that are frequent in the texts; code 255 says that the next
byte stands for itself. Every text is coded alone, so any of them is read, or compared, without the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, compiled_beside, inlined, int64
from dovetail._storage.packing_kernels import Packed, packed_at, read_packed
from dovetail._types import Array

ESCAPE = 255
LONGEST = 8  # bytes of a symbol
RAW = 256  # what a byte that is no symbol is counted as, plus the byte


class Symbols(NamedTuple):
    """At most 255 symbols, by their first byte, the longer ones first: the first that fits is the longest."""

    content: Array  # uint8, eight a symbol, zeros behind its end
    words: Array  # uint64, the same, little-endian
    lengths: Array  # uint8
    starts: Array  # int64, 257: the first symbol for each first byte


@inlined
def _longest(text: Array, at: int, stop: int, symbols: Symbols) -> int:
    """The longest symbol that the text goes on with, or -1."""
    ahead = np.uint64(0)
    for k in range(min(LONGEST, stop - at)):
        ahead |= np.uint64(text[at + k]) << np.uint64(8 * k)
    found = -1
    for code in range(symbols.starts[text[at]], symbols.starts[text[at] + 1]):
        length = int64(symbols.lengths[code])
        unread = np.uint64(8 * (LONGEST - length))
        if (ahead ^ symbols.words[code]) << unread == 0 and at + length <= stop:
            found = code
            break
    return found


@compiled
def count_codes(content: Array, offsets: Array, symbols: Symbols, counts: Array, pairs: Array) -> None:
    """Count the codes of some texts, and which follow which; a byte without a symbol counts as RAW plus the byte."""
    for text in range(len(offsets) - 1):
        at, stop, last = offsets[text], offsets[text + 1], -1
        while at < stop:
            code = _longest(content, at, stop, symbols)
            at += 1 if code < 0 else int64(symbols.lengths[code])
            if code < 0:
                code = RAW + int64(content[at - 1])
            counts[code] += 1
            if last >= 0:
                pairs[last, code] += 1
            last = code


@compiled
def encode(content: Array, offsets: Array, symbols: Symbols) -> tuple[Array, Array]:
    """The codes of some texts, and where those of each begin."""
    codes = np.empty(2 * (offsets[-1] - offsets[0]), np.uint8)
    starts = np.zeros(len(offsets), np.int64)
    size = 0
    for text in range(len(offsets) - 1):
        at, stop = offsets[text], offsets[text + 1]
        while at < stop:
            code = _longest(content, at, stop, symbols)
            if code < 0:
                codes[size] = ESCAPE
                codes[size + 1] = content[at]
                size += 2
                at += 1
            else:
                codes[size] = code
                size += 1
                at += int64(symbols.lengths[code])
        starts[text + 1] = size
    return codes[:size].copy(), starts


@compiled
def _decoded_length(codes: Array, at: int, stop: int, lengths: Array) -> int:
    length = 0
    while at < stop:
        code = codes[at]
        if code == ESCAPE:
            length += 1
            at += 2
        else:
            length += lengths[code]
            at += 1
    return int64(length)


@compiled
def _decode_text(codes: Array, at: int, stop: int, symbols: Symbols, target: Array, size: int) -> int:
    """Write one text into `target` from `size` on; where it ends."""
    while at < stop:
        code = codes[at]
        at += 1
        if code == ESCAPE:
            target[size] = codes[at]
            size += 1
            at += 1
        else:
            place = LONGEST * int64(code)
            for k in range(symbols.lengths[code]):
                target[size + k] = symbols.content[place + k]
            size += symbols.lengths[code]
    return int64(size)


def _texts(codes: Array, starts: list[int], stops: list[int], symbols: Symbols) -> tuple[Array, Array]:
    """The texts between some places of the codes, as bytes and offsets."""
    content = symbols.content.tobytes()
    lengths = enumerate(symbols.lengths.tolist())
    table = [content[LONGEST * code : LONGEST * code + length] for code, length in lengths]
    table += [b""] * (ESCAPE - len(table))  # damaged codes have no symbol; the checks of their readers tell
    decoded = []
    for start, stop in zip(starts, stops, strict=True):
        rest = iter(codes[start:stop].tolist())
        decoded.append(b"".join([bytes((next(rest, 0),)) if code == ESCAPE else table[code] for code in rest]))
    offsets = np.zeros(len(decoded) + 1, np.int64)
    np.cumsum([len(text) for text in decoded], out=offsets[1:])
    return np.frombuffer(bytearray(b"".join(decoded)), np.uint8), offsets


def read_some(codes: Array, starts: Packed, symbols: Symbols, texts: Array) -> tuple[Array, Array]:
    texts = texts.astype(np.int64)
    places = read_packed(starts, texts).tolist(), read_packed(starts, texts + 1).tolist()
    return _texts(codes, *places, symbols)


def _decode_range(codes: Array, starts: Packed, symbols: Symbols, first: int, last: int) -> tuple[Array, Array]:
    places = read_packed(starts, np.arange(first, last + 1)).tolist()
    return _texts(codes, places[:-1], places[1:], symbols)


@compiled_beside(read_some)
def decode_some(codes: Array, starts: Packed, symbols: Symbols, texts: Array) -> tuple[Array, Array]:
    """Some texts by number, as bytes and offsets."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    for i in range(len(texts)):
        text = int64(texts[i])
        begin, end = packed_at(starts, text), packed_at(starts, text + 1)
        offsets[i + 1] = offsets[i] + _decoded_length(codes, begin, end, symbols.lengths)
    content = np.empty(offsets[-1], np.uint8)
    for i in range(len(texts)):
        text = int64(texts[i])
        begin, end = packed_at(starts, text), packed_at(starts, text + 1)
        _decode_text(codes, begin, end, symbols, content, offsets[i])
    return content, offsets


@compiled_beside(_decode_range)
def decode_range(codes: Array, starts: Packed, symbols: Symbols, first: int, last: int) -> tuple[Array, Array]:
    """The texts from `first` to below `last`, as bytes and offsets."""
    offsets = np.zeros(last - first + 1, np.int64)
    begin = packed_at(starts, first)
    for text in range(first, last):
        end = packed_at(starts, text + 1)
        offsets[text - first + 1] = offsets[text - first] + _decoded_length(codes, begin, end, symbols.lengths)
        begin = end
    content = np.empty(offsets[-1], np.uint8)
    _decode_text(codes, packed_at(starts, first), begin, symbols, content, 0)
    return content, offsets


@compiled
def same_text(codes: Array, at: int, stop: int, symbols: Symbols, text: Array, start: int, end: int) -> bool:
    """Whether these codes stand for text[start:end]."""
    while at < stop:
        code = codes[at]
        at += 1
        if code == ESCAPE:
            if start == end or text[start] != codes[at]:
                return False
            start += 1
            at += 1
            continue
        length = int64(symbols.lengths[code])
        if start + length > end:
            return False
        place = LONGEST * int64(code)
        for k in range(length):
            if text[start + k] != symbols.content[place + k]:
                return False
        start += length
    return start == end
