"""Texts in codes come back as they were, alone and together, and are compared without being decoded."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage import symbol_kernels
from dovetail._storage.packing import pack_numbers
from dovetail._storage.symbol_kernels import Symbols, decode_range, decode_some, encode, same_text
from dovetail._storage.symbols import learn_symbols, read_symbols, write_symbols

# Few letters, so that symbols of several bytes are learned; and any bytes, so that some need an escape.
texts = st.lists(st.one_of(st.text("ab0", max_size=20).map(str.encode), st.binary(max_size=6)), max_size=40)


def as_arrays(given_texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, given_texts)])
    return np.frombuffer(b"".join(given_texts), np.uint8), offsets


def as_texts(content: np.ndarray, offsets: np.ndarray) -> list[bytes]:
    return [content[a:b].tobytes() for a, b in itertools.pairwise(offsets.tolist())]


@given(texts, texts)
def test_round_trip(learned_from, others):
    """Also of texts that the symbols were not learned from."""
    symbols = learn_symbols(*as_arrays(learned_from))
    for some in (learned_from, others):
        codes, starts = encode(*as_arrays(some), symbols)
        packed = pack_numbers(starts)
        assert as_texts(*decode_range(codes, packed, symbols, 0, len(some))) == some
        backwards = np.arange(len(some))[::-1]
        assert as_texts(*decode_some(codes, packed, symbols, backwards)) == some[::-1]


@given(texts)
def test_codes_are_compared_with_texts(some):
    content, offsets = as_arrays(some)
    symbols = learn_symbols(content, offsets)
    codes, starts = encode(content, offsets, symbols)
    for one in range(len(some)):
        for other in range(len(some)):
            same = same_text(codes, starts[one], starts[one + 1], symbols, content, offsets[other], offsets[other + 1])
            assert same == (some[one] == some[other])


def test_frequent_runs_take_one_byte():
    some = [b"2024-01-%02d" % day for day in range(1, 29)] * 40
    content, offsets = as_arrays(some)
    symbols = learn_symbols(content, offsets)
    codes, _ = encode(content, offsets, symbols)
    assert len(codes) < len(content) / 3
    with np.errstate(over="ignore"):
        plain = symbol_kernels.encode.py_func(content[:100], offsets[:11], symbols)
    np.testing.assert_array_equal(plain[0], codes[: len(plain[0])])


def test_a_table_is_written_and_read():
    symbols = learn_symbols(*as_arrays([b"abcabc", b"xyz"] * 50))
    again = read_symbols(write_symbols(symbols))
    assert isinstance(again, Symbols)
    for one, other in zip(symbols, again, strict=True):
        np.testing.assert_array_equal(one, other)
    written = write_symbols(symbols)
    assert read_symbols(written[:-1]) is None
    too_long = written.copy()
    too_long[-1] = 9
    assert read_symbols(too_long) is None
