"""Super keys, row postings and the search over them against brute force over all mappings of columns."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.mate.core import SIZES, Hashing, SuperKeyParameters, alpha
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.mate.kernels import hash_tokens as hash_into
from dovetail.indexes.mate.query import MOST_MAPPINGS, MateReader, cheapest_cover, column_items
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.rows.index import ROWS
from dovetail.indexes.rows.query import RowReader
from dovetail.indexes.tokens.index import TOKENS
from dovetail.normalise.hashing import as_buffers, hash_tokens
from dovetail.papers import mate

Table = list[tuple[str | None, ...]]
FAMILIES = ("xash", "fitted")
PLENTY = 1 << 30


def build(
    folder: Path, tables: list[Table], parameters: SuperKeyParameters, memory_bytes: int = PLENTY, cut: int = 5
) -> Segment:
    """A segment of tables; each column comes in pieces of `cut` rows."""
    writer = SegmentWriter(folder)
    scratch = folder / f"scratch-{writer.id}"
    scratch.mkdir()
    builders = [index.builder(scratch, memory_bytes) for index in (TOKENS, JOSIE, ROWS)]
    builders.append(MATE.builder(scratch, memory_bytes, parameters.to_json()))
    widths = [len(table[0]) if table else 0 for table in tables]
    first = 0
    for table, width in zip(tables, widths, strict=True):
        for column in range(width):
            for start in range(0, len(table), cut):
                cells = [row[column] for row in table[start : start + cut]]
                values = sorted({cell for cell in cells if cell is not None})
                codes = np.array([-1 if cell is None else values.index(cell) for cell in cells], np.int32)
                counts = np.bincount(codes[codes >= 0], minlength=len(values))
                for builder in builders:
                    builder.add(ColumnChunk(first + column, pa.array(values, pa.large_string()), counts, codes))
        first += width
    counts: dict[str, int] = {"tables": len(tables)}
    for builder in builders:
        counts |= builder.finish(writer, widths)
    return Segment(folder, writer.finish(counts))


def ask(
    reader: MateReader, query: list[tuple[str, ...]], search=MateReader.search, **options
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Table, overlap and columns (numbered within the table) of every hit."""
    columns = [sorted({row[j] for row in query}) for j in range(len(query[0]))]
    tuples = np.array([[columns[j].index(value) for j, value in enumerate(row)] for row in sorted(set(query))])
    found = search(reader, [pa.array(column, pa.large_string()) for column in columns], tuples, **options)
    first = reader.store.first_columns
    return [
        (int(t), int(o), tuple((c - first[t]).tolist()))
        for t, o, c in zip(found.tables, found.overlaps, found.columns, strict=True)
    ]


def brute_force(tables: list[Table], query: list[tuple[str, ...]], k: int, floor: int):
    """The k best tables, each with the first of its best mappings."""
    mine, width = set(query), len(query[0])
    found = []
    for number, table in enumerate(tables):
        best = (0, ())
        for mapping in itertools.permutations(range(len(table[0]) if table else 0), width):
            overlap = len(mine & {tuple(row[c] for c in mapping) for row in table})
            if overlap > best[0]:
                best = (overlap, mapping)
        if best[0] >= floor:
            found.append((number, *best))
    found.sort(key=lambda hit: (-hit[1], hit[0]))
    return found[:k]


values = st.sampled_from(["a", "b", "c", "ä", "иван", "北京", "القاهرة", "2024-01-31", "2024-01-13", "x y", ""])
few = st.sampled_from(["0", "1"])
cells = st.none() | values
tables = st.integers(1, 5).flatmap(
    lambda width: (
        st.lists(st.tuples(*[cells] * width), max_size=12)
        | st.lists(st.tuples(*[st.none() | few] * width), max_size=12)
    )
)
keys = st.integers(1, 4).flatmap(
    lambda width: (
        st.lists(st.tuples(*[values] * width), min_size=1, max_size=10)
        | st.lists(st.tuples(*[few] * width), min_size=1, max_size=10)
    )
)
parameters = st.builds(
    SuperKeyParameters,
    st.sampled_from(FAMILIES),
    st.sampled_from(SIZES),
    st.integers(2, 7),
    st.sampled_from(["", "a 01-"]),
)


@settings(max_examples=80)
@given(
    lake=st.lists(tables, min_size=1, max_size=6), query=keys, k=st.integers(1, 4), floor=st.integers(1, 3),
    parameters=parameters, memory_bytes=st.sampled_from([1, PLENTY]), data=st.data(),
)  # fmt: skip
def test_equals_brute_force_over_all_mappings(tmp_path_factory, lake, query, k, floor, parameters, memory_bytes, data):
    segment = build(tmp_path_factory.mktemp("mate"), lake, parameters, memory_bytes)
    assert list(MATE.check(segment)) == []
    reader = MateReader(segment)
    for many, most_mappings in ((0, MOST_MAPPINGS), (8, MOST_MAPPINGS), (8, 0)):
        found = ask(reader, query, k=k, floor=floor, many=many, most_mappings=most_mappings)
        assert found == brute_force(lake, query, k, floor)
    for published in ({}, {"super_keys": False}, *({"start": column} for column in range(len(query[0])))):
        assert ask(reader, query, mate.search, k=k, floor=floor, **published) == brute_force(lake, query, k, floor)
    allowed = np.array([data.draw(st.booleans()) for _ in lake])
    dead = [table if alive else [] for table, alive in zip(lake, allowed, strict=True)]
    for search in (MateReader.search, mate.search):
        assert ask(reader, query, search, k=k, floor=floor, allowed=allowed) == brute_force(dead, query, k, floor)


@settings(max_examples=40)
@given(lake=st.lists(tables, max_size=5), cut=st.integers(1, 20), memory_bytes=st.sampled_from([1, 200, PLENTY]))
def test_rows_come_back(tmp_path_factory, lake, cut, memory_bytes):
    segment = build(tmp_path_factory.mktemp("rows"), lake, SuperKeyParameters(), memory_bytes, cut)
    reader = RowReader(segment)
    column = 0
    for number, table in enumerate(lake):
        assert reader.rows_of(number) == len(table)
        for place in range(len(table[0]) if table else 0):
            names = reader.tokens.tokens(reader.tokens.set_of(column)[0]).to_pylist()
            back = [names[code] if code >= 0 else None for code in reader.codes(column).tolist()]
            assert back == [row[place] for row in table]
            column += 1


def bits_of(words: np.ndarray) -> int:
    return sum(int(word).bit_count() for word in words)


def hashed(parameters: SuperKeyParameters, strings: list[str], ones: int) -> np.ndarray:
    tokens = pa.array(strings, pa.large_string())
    keys = np.empty((len(strings), parameters.words), np.uint64)
    hashing = Hashing.of(parameters, hash_tokens(tokens), *as_buffers(tokens))
    hash_into(keys, np.arange(len(strings)), hashing, ones)
    return keys


@settings(max_examples=150)
@given(
    row=st.lists(st.text(max_size=30), min_size=1, max_size=8), data=st.data(), parameters=parameters,
    ones=st.integers(1, 12),
)  # fmt: skip
def test_a_row_covers_every_key_of_its_values(row, data, parameters, ones):
    """No false negatives, whatever the characters: the bits of a value depend on nothing else."""
    assume(parameters.bits)
    key = data.draw(st.lists(st.sampled_from(row), min_size=1))
    row_bits = np.bitwise_or.reduce(hashed(parameters, row, ones), axis=0)
    key_bits = np.bitwise_or.reduce(hashed(parameters, key, ones), axis=0)
    assert not (key_bits & ~row_bits).any()
    for words in hashed(parameters, row, ones):
        assert 1 <= bits_of(words) <= ones


def plain_xash(value: str, bits: int, ones: int, characters: str) -> int:
    """Section 5.3 as it is written, with slots for all characters."""
    rank = {character: place for place, character in enumerate(characters)}
    areas = (bits - 1) // 37
    length_bits = bits - 37 * areas
    rarest = sorted(set(value), key=lambda c: (-rank.get(c, len(characters)), c))[: ones - 1]
    key = 1 << (len(value) % length_bits)
    for character in rarest:
        places = [place for place, other in enumerate(value, 1) if other == character]
        area = math.ceil(sum(places) * areas / (len(places) * len(value))) - 1
        slot = rank.get(character, 37)
        if slot >= 37:
            slot = mixed(ord(character)) % 37
        key |= 1 << (length_bits + (slot * areas + area - len(value)) % (37 * areas))
    return key


def mixed(value: int) -> int:
    mask = (1 << 64) - 1
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


@settings(max_examples=200)
@given(value=st.text(max_size=40), bits=st.sampled_from(SIZES[1:]), ones=st.integers(2, 8))
def test_xash_is_the_papers(value, bits, ones):
    characters = " eainorstlud0123456789cmpghbyfvkwzxjqéжя北"
    (words,) = hashed(SuperKeyParameters("xash", bits, ones, characters), [value], ones)
    assert sum(int(word) << (64 * i) for i, word in enumerate(words)) == plain_xash(value, bits, ones, characters)


def test_alpha_is_that_of_the_paper():
    assert alpha(128, 700_000_000) == 6
    assert alpha(128, 100) == 2
    assert alpha(512, 700_000_000) == 4


@settings(max_examples=100)
@given(
    tuples=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(*[st.integers(0, 9)] * width), min_size=1, max_size=12)
    ),
    weights=st.lists(st.integers(1, 100), min_size=10, max_size=10),
)
def test_starts_cover_every_tuple_and_are_never_dearer_than_the_best_column(tuples, weights):
    local, prices = np.array(tuples, np.int64), np.array(weights, np.int64)
    chosen = cheapest_cover(local, prices)
    assert all(value in row for value, row in zip(chosen.tolist(), tuples, strict=True))
    assert prices[np.unique(chosen)].sum() <= column_items(local, prices).min()


def test_effort_has_an_end(tmp_path):
    """Ten columns of zeros and ones: what is found is true, and it is said that more may be missing."""
    random = np.random.default_rng(0)
    lake = [[tuple(map(str, row)) for row in random.integers(0, 2, (40, 14)).tolist()] for _ in range(3)]
    query = [tuple(map(str, row)) for row in random.integers(0, 2, (30, 10)).tolist()]
    reader = MateReader(build(tmp_path, lake, SuperKeyParameters()))
    columns = [pa.array(["0", "1"], pa.large_string())] * 10
    tuples = np.unique(np.array([[int(value) for value in row] for row in query]), axis=0)
    found = reader.search(columns, tuples, k=3, effort=2_000_000)
    assert found.work.cut > 0
    for table, overlap, mapping in zip(found.tables, found.overlaps, found.columns, strict=True):
        places = mapping - reader.store.first_columns[table]
        assert overlap == len(set(query) & {tuple(row[place] for place in places) for row in lake[table]}) > 0
    assert reader.search(columns[:2], tuples[:, :2][:1], k=3).work.cut == 0


@pytest.mark.parametrize(("width", "columns", "effort"), [(2, 24, 1_000_000), (3, 9, 200_000)])
def test_small_numbers_in_wide_tables_take_little_effort(tmp_path, width, columns, effort):
    """Every row holds dozens of the tuples, each in many ways; still a row is looked up once, not once for each."""
    random = np.random.default_rng(width)
    lake = [[tuple(map(str, row)) for row in random.integers(0, 12, (80, columns)).tolist()] for _ in range(4)]
    query = [tuple(map(str, row)) for row in random.integers(0, 12, (150, width)).tolist()]
    reader = MateReader(build(tmp_path, lake, SuperKeyParameters()))
    assert ask(reader, query, k=3) == brute_force(lake, query, 3, 1)
    names = sorted(map(str, range(12)))
    tuples = np.array(sorted({tuple(names.index(value) for value in row) for row in query}))
    found = reader.search([pa.array(names, pa.large_string())] * width, tuples, k=3, effort=effort)
    assert found.work.cut == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pruned_search_reads_no_more_items_than_the_starts_have(tmp_path, family):
    lake = [[(f"k{i}", f"v{i % 7}", "x") for i in range(50)], [(f"k{i}", f"v{i % 5}", "x") for i in range(50)]]
    reader = MateReader(build(tmp_path, lake, SuperKeyParameters(family)))
    query = [(f"k{i}", f"v{i % 7}") for i in range(40)]
    columns = [sorted({row[j] for row in query}) for j in range(2)]
    tuples = np.array([[columns[j].index(value) for j, value in enumerate(row)] for row in query])
    found = reader.search([pa.array(column, pa.large_string()) for column in columns], tuples, k=1)
    assert found.tables.tolist() == [0]
    assert found.overlaps.tolist() == [40]
    assert found.work.items <= 80
    assert found.work.matched <= found.work.passed <= found.work.checked
