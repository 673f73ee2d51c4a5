"""Tokens, sets and postings against a brute-force dictionary."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._storage.packing import pack_numbers
from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._storage.symbol_kernels import encode
from dovetail._storage.symbols import learn_symbols
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens import query as tokens_query
from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.kernels import (
    group_lists,
    merge_groups,
    merge_repeats,
    stable_order,
    take_lists,
    transpose,
)
from dovetail.indexes.tokens.query import TokenReader
from dovetail.indexes.tokens.query_kernels import HashTable, ascending, find_tokens, spread, tags_of, weigh_groups
from dovetail.normalise.hashing import as_buffers, hash_tokens

Columns = list[list[list[str]]]  # columns, each of chunks, each of values

PLENTY = 1 << 30


def build(folder: Path, columns: Columns, memory_bytes: int = PLENTY) -> Segment:
    writer = SegmentWriter(folder)
    scratch = folder / f"scratch-{writer.id}"
    scratch.mkdir()
    builder = TOKENS.builder(scratch, memory_bytes)
    for number, chunks in enumerate(columns):
        for values in chunks:
            counts = Counter(values)
            tokens = pa.array(list(counts), pa.large_string())
            builder.add(ColumnChunk(number, tokens, np.array(list(counts.values()), np.int64)))
    counts = builder.finish(writer, [1] * len(columns))
    return Segment(folder, writer.finish({"tables": 0, **counts}))


def contents(reader: TokenReader) -> list[dict[str, int]]:
    found = []
    for column in range(reader.arrays.columns):
        ids, counts = reader.set_of(column)
        assert np.all(np.diff(ids.astype(np.int64)) > 0)
        found.append(dict(zip(reader.tokens(ids).to_pylist(), counts.tolist(), strict=True)))
    return found


words = st.text(st.characters(codec="utf-8"), max_size=40)
small_words = st.sampled_from(["", "a", "b", "ab", "ä", "x" * 70, "zürich"])
columns_of_chunks = st.lists(st.lists(st.lists(words | small_words, max_size=12), max_size=3), max_size=8)


@settings(max_examples=60)
@given(columns=columns_of_chunks, memory_bytes=st.sampled_from([1, 300, PLENTY]))
def test_equals_brute_force(tmp_path_factory, columns, memory_bytes):
    segment = build(tmp_path_factory.mktemp("segments"), columns, memory_bytes)
    reader = TOKENS.open(segment)
    truth = [dict(Counter(value for chunk in chunks for value in chunk)) for chunks in columns]
    assert contents(reader) == truth
    assert list(TOKENS.check(segment)) == []
    assert segment.damage() == []

    holders = defaultdict(list)
    for number, column in enumerate(truth):
        for token in column:
            holders[token].append(number)
    asked = pa.array([*holders, "never seen", "x" * 71], pa.large_string())
    ids = reader.find(asked)
    assert ids[-2:].tolist() == [-1, -1]
    for token, token_id in zip(holders, ids[:-2], strict=True):
        assert reader.columns_with(token_id).tolist() == holders[token]
        for number in holders[token]:
            assert reader.rows_with(token_id, number) == truth[number][token]
    frequencies = np.diff(reader.arrays.posting_offsets)
    assert np.all(np.diff(frequencies) >= 0), "ids rise with frequency"
    assert reader.arrays.groups == len(set(map(tuple, holders.values()))), "one group for each list of columns"


@settings(max_examples=30)
@given(columns=columns_of_chunks, large=st.sampled_from([1, 8, 1 << 18]), portion=st.sampled_from([1, 20, 1 << 23]))
def test_spilling_changes_no_byte_of_the_arrays(tmp_path_factory, columns, large, portion):
    """But of the symbols, which are learned from the first bucket: the tokens that they stand for are the same."""
    whole = build(tmp_path_factory.mktemp("whole"), columns, PLENTY)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_LARGE", large), ("_PORTION", portion), ("_ENTRIES", portion)):
            patch.setattr(f"dovetail.indexes.tokens.write.{name}", value)
        spilled = build(tmp_path_factory.mktemp("spilled"), columns, 200)
    packs = whole.pack("tokens"), spilled.pack("tokens")
    for name in {*packs[0].names()} - {"symbols", "token_codes", "token_starts"}:
        np.testing.assert_array_equal(packs[0]._arrays[name], packs[1]._arrays[name], name)
    readers = TOKENS.open(whole), TOKENS.open(spilled)
    assert readers[0].arrays.tokens == readers[1].arrays.tokens
    one, other = (reader.tokens(np.arange(reader.arrays.tokens)) for reader in readers)
    assert one.equals(other)


@given(st.lists(words | st.text(min_size=30, max_size=300), max_size=20))
def test_hash_is_xxh64(values):
    expected = [xxhash.xxh64_intdigest(value.encode()) for value in values]
    assert hash_tokens(pa.array(values, pa.large_string())).tolist() == expected


def test_hash_of_a_slice():
    values = pa.array(["a", "bc", "def", "ghij"], pa.string())
    assert hash_tokens(values.slice(1, 2)).tolist() == hash_tokens(pa.array(["bc", "def"])).tolist()


def test_where_hashes_meet_the_bytes_decide():
    content, offsets = as_buffers(pa.array(["same", "hash", "here"]))
    symbols = learn_symbols(content, offsets)
    codes, token_starts = encode(content, offsets, symbols)
    tags = tags_of(np.array([7, 7, 7], np.uint64), 2, 2)
    ids = np.array([2, 0, 1], np.uint32)
    asked, asked_offsets = as_buffers(pa.array(["hash", "here", "same", "else", "sam"]))
    table = HashTable(np.array([0, 3, 3], np.uint32), tags << np.uint32(2) | ids, 2)
    for find in (find_tokens, find_tokens.py_func):
        found = find(table, codes, pack_numbers(token_starts), symbols, np.full(5, 7, np.uint64), asked, asked_offsets)
        assert found.tolist() == [1, 2, 0, -1, -1]


def test_many_tokens_are_sought_by_several_threads(tmp_path, monkeypatch):
    reader = TOKENS.open(build(tmp_path, [[[str(number) for number in range(100)]]]))
    asked = pa.array([str(number) for number in range(-50, 200, 3)])
    alone = reader.find(asked)
    monkeypatch.setattr(tokens_query, "_WORTH_A_THREAD", 2)
    monkeypatch.setattr(tokens_query.os, "cpu_count", lambda: 7)
    assert reader.find(asked).tolist() == alone.tolist()
    assert sum(alone >= 0) == 33


@pytest.mark.filterwarnings("ignore:overflow encountered")  # plain Python warns of what hashes are made of
@given(st.lists(st.lists(st.integers(0, 6), max_size=9), min_size=1, max_size=6))
def test_kernels_equal_their_plain_form(columns):
    codes = np.array([code for column in columns for code in column], np.int32)
    owners = np.repeat(np.arange(len(columns), dtype=np.uint32), [len(column) for column in columns])
    counts = np.ones(len(codes), np.int64)
    results = []
    for merge, group, order, turn, expand in (
        (merge_repeats, group_lists, stable_order, transpose, spread),
        tuple(kernel.py_func for kernel in (merge_repeats, group_lists, stable_order, transpose, spread)),
    ):
        c, o, n = codes.copy(), owners.copy(), counts.copy()
        kept = merge(c, o, n, 7)
        offsets = np.searchsorted(o[:kept], np.arange(len(columns) + 1))
        lists = turn(offsets, c[:kept], n[:kept], 7)
        group_of, example, hashes = group(lists[0], lists[1], len(columns))
        by_hash = np.array([3, 1, 6, 0, 5, 2, 4])
        sizes = np.concatenate([[0], np.cumsum(np.bincount(group_of))])
        results.append([c[:kept], o[:kept], n[:kept], *lists, group_of, example, hashes])
        results[-1] += [order(by_hash, group_of, len(example)), expand(np.arange(len(example)), sizes)]
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)


@given(lists=st.lists(st.sets(st.integers(0, 5), min_size=1).map(sorted), max_size=12))
def test_equal_lists_get_one_number_though_all_hashes_meet(lists):
    lengths = np.array([len(columns) for columns in lists], np.int64)
    columns = np.array([column for members in lists for column in members], np.uint32)
    starts, hashes = np.cumsum(lengths) - lengths, np.full(len(lists), 7, np.uint64)
    order = np.lexsort((columns[starts], lengths))
    for merge, take in ((merge_groups, take_lists), (merge_groups.py_func, take_lists.py_func)):
        numbers, examples = merge(order, lengths, columns[starts], hashes, starts, columns)
        offsets, members = take(starts, lengths, columns, examples)
        distinct = [members[a:b].tolist() for a, b in pairwise(offsets)]
        assert [distinct[number] for number in numbers] == lists
        assert len(distinct) == len(set(map(tuple, distinct)))


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=20), data=st.data())
def test_groups_of_tokens(sizes, data):
    group_tokens = np.cumsum([0, *sizes])
    ids = np.array(sorted(data.draw(st.lists(st.integers(0, sum(sizes) - 1)))), np.uint32)
    groups, weights = np.unique(np.searchsorted(group_tokens, np.unique(ids), side="right") - 1, return_counts=True)
    for kernel in (weigh_groups, weigh_groups.py_func):
        found, weighed = kernel(ids, group_tokens)
        assert found.tolist() == groups.tolist()
        assert weighed.tolist() == weights.tolist()


@pytest.mark.parametrize("bound", [1, 300, 1 << 11, 1 << 20, (1 << 32) - 1])
@pytest.mark.parametrize("count", [0, 1, 200, 3000])
def test_ids_ascending(count, bound):
    ids = np.random.default_rng(count).integers(-1, bound, count)
    expected = sorted(int(number) for number in ids if number >= 0)
    for kernel in (ascending, ascending.py_func):
        assert kernel(ids, bound).tolist() == expected


@pytest.mark.parametrize(
    ("array", "place", "value", "said"),
    [
        ("set_groups", 0, 99, "group that does not exist"),
        ("set_groups", 0, 1, "disagree"),
        ("posting_columns", 0, 99, "column that does not exist"),
        ("hash_entries", 0, 0xFFFFFFFF, "every token once"),
        ("hash_starts", 1, 3, "hash table does not match"),
        ("symbols", 0, 5, "hash table does not match"),
    ],
)
def test_check_names_broken_references(tmp_path, monkeypatch, array, place, value, said):
    segment = build(tmp_path, [[["a", "b"]], [["a", "c"]]])
    original = segment.pack("tokens")._arrays[array]
    broken = original.copy()
    broken[place] = value
    monkeypatch.setitem(segment.pack("tokens")._arrays, array, broken)
    assert any(said in problem for problem in TOKENS.check(segment))


@pytest.mark.parametrize(
    ("array", "numbers", "said"),
    [
        ("set_counts", [0, 1, 1, 1], "occurs in no row"),
        ("token_starts", [0, 2, 1, 3], "goes backwards"),
        ("set_offsets", [0, 1, 4], "more or fewer counts"),
        ("set_offsets", [0, 9, 4], "goes backwards"),
    ],
)
def test_check_names_broken_numbers(tmp_path, monkeypatch, array, numbers, said):
    segment = build(tmp_path, [[["a", "b"]], [["a", "c"]]])
    monkeypatch.setitem(segment.pack("tokens")._packed, array, pack_numbers(np.array(numbers)))
    assert any(said in problem for problem in TOKENS.check(segment))
