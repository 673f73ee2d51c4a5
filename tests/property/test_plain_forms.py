"""What kernels with a plain form of its own do before they are compiled is what their Python function does."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail._compile import Kernel
from dovetail._storage import packing_kernels, symbol_kernels
from dovetail._storage.packing import pack_numbers
from dovetail._storage.symbols import learn_symbols
from dovetail.indexes.tokens import query_kernels
from dovetail.indexes.tokens.query_kernels import HashTable, tags_of
from dovetail.normalise import _fold_kernels, hash_kernels
from dovetail.normalise.folding import _ascii_table, _table
from dovetail.normalise.hashing import as_buffers
from dovetail.transform import suffix_kernels
from dovetail.transform.suffixes import suffix_array

numbers = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**63 - 1), st.just(2**40)), max_size=300)
texts = st.lists(st.one_of(st.text("ab0 ", max_size=40), st.text(max_size=8)), max_size=30)


def both(kernel: Kernel, *arguments):
    """The results of both forms; those of the Python function are what counts."""
    assert kernel._given is not None
    with np.errstate(over="ignore"):
        return kernel.py_func(*arguments), kernel._given(*arguments)


def assert_same(one, other):
    for a, b in zip(one, other, strict=True) if isinstance(one, tuple) else ((one, other),):
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None) and np.array_equal(a, b)


@given(numbers, st.data())
def test_packed_numbers(values, data):
    packed = pack_numbers(np.array(values, np.int64))
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(values))] * 2)))
    assert_same(*both(packing_kernels.unpack, packed, first, last))
    assert_same(*both(packing_kernels.take_packed, packed, np.arange(first, last)[::-1]))
    small = pack_numbers(np.array(values, np.int64) % 1000)
    assert_same(*both(packing_kernels.sum_packed, small, np.array([0, first, last, last])))
    ascending = pack_numbers(np.sort(np.array(values, np.int64)))
    assert_same(*both(packing_kernels.search_packed, ascending, np.array([*values[:5], 0, 7, 2**62])))
    plain, given_form = both(packing_kernels.most_packed, packed)
    assert plain == given_form


@given(texts)
def test_hashes(values):
    assert_same(*both(hash_kernels.hash_strings, *as_buffers(pa.array(values, pa.large_string()))))
    for value in values:
        content = np.frombuffer(b"." + value.encode() + b".", np.uint8)
        plain, given_form = both(hash_kernels.hash_bytes, content, 1, len(content) - 1)
        assert plain == given_form and type(plain) is type(given_form)


@given(texts, texts)
def test_codes(values, others):
    symbols = learn_symbols(*as_buffers(pa.array(others, pa.large_string())))
    codes, starts = symbol_kernels.encode(*as_buffers(pa.array(values, pa.large_string())), symbols)
    packed = pack_numbers(starts)
    assert_same(*both(symbol_kernels.decode_range, codes, packed, symbols, 0, len(values)))
    backwards = np.arange(len(values), dtype=np.uint32)[::-1]
    assert_same(*both(symbol_kernels.decode_some, codes, packed, symbols, backwards))


@given(st.sets(st.text("abc", min_size=1, max_size=4), max_size=40), st.lists(st.text("abc", max_size=4), max_size=20))
def test_tokens(known, asked):
    tokens = sorted(known)
    content, offsets = as_buffers(pa.array(tokens, pa.large_string()))
    symbols = learn_symbols(content, offsets)
    codes, starts = symbol_kernels.encode(content, offsets, symbols)
    hashes = hash_kernels.hash_strings(content, offsets) & ~(np.uint64(0xFFFFFFFFF) << np.uint64(20))  # some meet
    order = np.argsort(hashes, kind="stable")
    counts = np.bincount((hashes >> np.uint64(62)).astype(np.int64), minlength=4)
    parts = np.array([0, *itertools.accumulate(counts.tolist())], np.uint32)
    entries = tags_of(hashes[order], 4, 6) << np.uint32(6) | order.astype(np.uint32)
    sought, places = as_buffers(pa.array([*asked, *tokens[:9]], pa.large_string()))
    sought_hashes = hash_kernels.hash_strings(sought, places) & ~(np.uint64(0xFFFFFFFFF) << np.uint64(20))
    table = HashTable(parts, entries, 6)
    found = both(query_kernels.find_tokens, table, codes, pack_numbers(starts), symbols, sought_hashes, sought, places)
    assert_same(*found)
    assert found[0].tolist()[len(asked) :] == list(range(len(tokens[:9])))


@given(st.lists(st.integers(0, 5), max_size=20), st.data())
def test_groups(sizes, data):
    group_tokens = np.array([0, *itertools.accumulate(sizes)], np.int64)
    groups = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=20)) if sizes else []
    assert_same(*both(query_kernels.spread, np.array(groups, np.uint32), group_tokens))


@given(
    st.lists(
        st.one_of(st.none(), st.text(max_size=12), st.text(" \u00a0\u200bAé\U0001f600ﬁß", max_size=9)), max_size=20
    )
)
def test_folding(values):
    strings = pa.array([value or "" for value in values], pa.large_string())
    data, offsets = as_buffers(strings)
    valid = np.array([value is not None for value in values], np.bool_)
    for table in (_ascii_table(), _table()):
        results = []
        for form in (_fold_kernels.fold_values.py_func, _fold_kernels.fold_values._given):
            out, ends = np.zeros(4 * len(data) + 8, np.uint8), np.zeros(len(offsets), np.int64)
            slow = np.zeros(3, np.int64)
            left = form(data, offsets, valid, table, out, ends, slow)
            results.append((left, out[: ends[-1]].tolist(), ends.tolist(), slow.tolist()))
        assert results[0] == results[1]


words = st.lists(st.text("ab\u00e9\U0010ffff", max_size=7), min_size=1, max_size=12, unique=True)


@given(words, words, st.integers(1, 3))
def test_qgrams(mine, theirs, least_q):
    source, target = suffix_array(mine), suffix_array(theirs)
    results = []
    for form in (suffix_kernels.best_qgrams.py_func, suffix_kernels.best_qgrams._given):
        found = [np.zeros(len(mine), np.int64) for _ in range(4)]
        form(
            source.codes, source.ends, source.starts, source.order, target.codes, target.ends, target.order, least_q,
            *found,
        )  # fmt: skip
        results.append([array.tolist() for array in found])
    assert results[0] == results[1]
