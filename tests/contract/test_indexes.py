"""What every registered index keeps to, whatever it answers."""

from __future__ import annotations

import functools
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._storage.pack import Pack
from dovetail._storage.packing import pack_numbers
from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._types import Array
from dovetail.errors import FormatMismatch, IndexDamaged
from dovetail.indexes.protocol import ColumnChunk, Index
from dovetail.indexes.registry import INDEXES
from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.query import TokenReader
from dovetail.indexes.verify import verify_index
from dovetail.pipeline.maintain import compact
from support.catalog import write_catalog
from support.contents import contents_of
from support.pipeline import index as index_lake
from support.pipeline import without_spark

PLENTY = 1 << 30
MEASURED = ("costs",)
CODES = ("symbols", "token_codes", "token_starts")
OVER_ROWS = ("rows", "mate")  # the order of rows is theirs to keep
Column = list[list[str]]  # pieces, each of values; a value stands in as many rows as it is repeated
LAKES: dict[str, list[Column]] = {
    "no columns": [],
    "one empty column": [[]],
    "only empty columns": [[], [[]], []],
    "one value": [[["a"]]],
    "small": [[["a", "b", "a"]], [], [["b", "c"], ["c", "ä"]], [["zürich", "a"]]],
    "empty at the end": [[["x"]], [], []],
    "one huge column": [[[f"value {i}" for i in range(50_000)]], [["value 7"]]],
    "many small columns": [[[f"{i % 50}", "x"]] for i in range(400)],
    "long values": [[["x" * 100_000, "y" * 100_000 + "z", "x"]], [["x" * 100_000]]],
}

every_index = pytest.mark.parametrize("index", INDEXES, ids=lambda index: index.name)
every_lake = pytest.mark.parametrize("lake", LAKES)
columns = st.lists(
    st.lists(st.lists(st.text("abcä1 ", max_size=3) | st.text(max_size=5), max_size=8), max_size=3), max_size=6
)


def build(folder: Path, lake: list[Column], memory_bytes: int = PLENTY) -> Segment:
    """A segment with every index, built as the pipeline does. Every column is a table."""
    writer = SegmentWriter(folder / "segments")
    scratch = folder / f"scratch-{writer.id}"
    builders = []
    for index in INDEXES:
        (scratch / index.name).mkdir(parents=True)
        builders.append(index.builder(scratch / index.name, memory_bytes))
    for number, pieces in enumerate(lake):
        for values in pieces:
            counts = Counter(values)
            tokens = pa.array(list(counts), pa.large_string())
            places = {value: place for place, value in enumerate(counts)}
            codes = np.array([places[value] for value in values], np.int32)
            for builder in builders:
                builder.add(ColumnChunk(number, tokens, np.array(list(counts.values()), np.int64), codes))
    found: dict[str, int] = {"tables": 0}
    write_catalog(writer, len(lake))
    for builder in builders:
        found |= builder.finish(writer, [1] * len(lake))
    shutil.rmtree(scratch)
    return Segment(folder / "segments", writer.finish(found))


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Callable[[str, int], tuple[Path, Segment]]:
    """A lake by its name and the memory, as a folder with one segment: built once, and only to be read."""

    @functools.cache
    def make(lake: str, memory_bytes: int) -> tuple[Path, Segment]:
        folder = tmp_path_factory.mktemp("built")
        return folder, build(folder, LAKES[lake], memory_bytes)

    return make


def arrays_of(segment: Segment, index: Index) -> dict[str, tuple[str, bytes]]:
    """All but what was measured while building, of which no two are the same, and the codes of tokens, which are
    learned from the first bucket: their tokens are compared instead."""
    arrays = segment.pack(index.name)._arrays
    names = {*arrays} - {*MEASURED, *CODES}
    found = {name: (str(arrays[name].dtype), arrays[name].tobytes()) for name in names}
    if index is TOKENS:
        reader = TokenReader(segment)
        found["tokens"] = ("text", reader.arrays.strings(np.arange(reader.arrays.tokens))[0].tobytes())
    return found


def test_names_are_distinct():
    assert len({index.name for index in INDEXES}) == len(INDEXES) > 0


@every_index
def test_says_what_it_is(index):
    assert re.fullmatch(r"[a-z_]+", index.name)
    assert index.version >= 1
    assert index.question.endswith("?")


@every_index
@every_lake
@pytest.mark.parametrize("memory_bytes", [1, 2_000_000, PLENTY])
def test_builds_opens_and_checks_clean(built, index, lake, memory_bytes):
    folder, segment = built(lake, memory_bytes)
    assert segment.parts[index.name]["version"] == index.version
    file = folder / "segments" / segment.ref.id / f"{index.name}.dvt"
    assert segment.parts[index.name]["bytes"] == file.stat().st_size
    assert segment.damage() == []
    assert list(index.check(segment)) == []
    assert index.open(segment) is not None


@every_index
@every_lake
def test_spilling_changes_nothing(built, index, lake):
    (_, in_memory), (_, spilled) = built(lake, PLENTY), built(lake, 1)
    assert arrays_of(in_memory, index) == arrays_of(spilled, index)


@settings(max_examples=25)
@given(lake=columns, data=st.data())
def test_pieces_and_their_order_change_nothing(tmp_path_factory, lake, data):
    """All indexes of one build are compared at once: builds take the time."""
    folder = tmp_path_factory.mktemp("pieces")
    whole = [[[value for piece in column for value in piece]] for column in lake]
    shuffled = [[data.draw(st.permutations(piece)) for piece in data.draw(st.permutations(column))] for column in lake]
    single = [[[value] for piece in column for value in piece] for column in lake]
    expected = build(folder, whole)
    for other, memory_bytes in ((lake, PLENTY), (single, PLENTY), (single, 100), (shuffled, PLENTY), (shuffled, 100)):
        found = build(folder, other, memory_bytes)
        for index in INDEXES:
            if other is not shuffled or index.name not in OVER_ROWS:
                assert arrays_of(found, index) == arrays_of(expected, index), index.name


@every_index
def test_damage_is_found(tmp_path, index):
    segment = build(tmp_path, LAKES["small"])
    folder = tmp_path / "segments" / segment.ref.id
    file = folder / f"{index.name}.dvt"
    data = bytearray(file.read_bytes())
    for place in range(0, len(data), 5):
        data[place] ^= 0x40
        file.write_bytes(data)
        try:
            found = Segment(tmp_path / "segments", segment.ref).damage()
        except (IndexDamaged, FormatMismatch) as damage:
            found = [str(damage)]
        assert any(index.name in problem for problem in found), place
        data[place] ^= 0x40


@every_index
def test_broken_references_are_found_though_checksums_are_right(tmp_path, index):
    """Whatever array is cleared or set high, `check` says so."""
    segment = build(tmp_path, LAKES["small"])
    pack = segment.pack(index.name)
    arrays, numbers = dict(pack._arrays), {name: pack.unpacked(name) for name in pack._packed}
    for name, array in (arrays | numbers).items():
        high = 1e300 if array.dtype.kind == "f" else 1 << 40 if name in numbers else np.iinfo(array.dtype).max
        for value in (0,) if name.endswith("_counts") else (0, high):  # how often, the catalog knows
            broken = np.full_like(array, value)
            replace_array(pack, name, broken)
            try:
                found = list(index.check(segment))
            except IndexDamaged as damage:
                found = [str(damage)]
            assert found or np.array_equal(broken, array), f"{name} filled with {value}"
        replace_array(pack, name, array)
    assert list(index.check(segment)) == []


def replace_array(pack: Pack, name: str, array: Array) -> None:
    pack._unpacked.clear()
    if name in pack._packed:
        pack._packed[name] = pack_numbers(array)
    else:
        pack._arrays[name] = array


@every_index
def test_another_version_is_refused_by_name(tmp_path, index, monkeypatch):
    folder = tmp_path / "segments"
    writer = SegmentWriter(folder)
    for other in INDEXES:
        version = other.version + 1 if other is index else other.version
        writer.write_part(other.name, version, lambda pack: None)
    with pytest.raises(FormatMismatch, match=rf"{index.name} version {index.version + 1}"):
        index.open(Segment(folder, writer.finish({"tables": 0})))


@pytest.fixture(scope="module")
def compacted(tmp_path_factory):
    """An index that grew table by table and was compacted, and one built at once."""
    folder = tmp_path_factory.mktemp("compacted")
    lake = folder / "lake"
    lake.mkdir()
    for number in range(5):
        rows = "".join(f"{i},name {i % 7},{'' if i % 5 else 'x'}\n" for i in range(number * 10))
        (lake / f"{number}.csv").write_text(f"id,name {number},flag\n" + rows)
        with without_spark():
            index_lake(lake, folder / "grown")
    with without_spark():
        index_lake(lake, folder / "fresh")
        done = compact(folder / "grown")
    assert (done.segments_before, done.segments_after) == (5, 1)
    return folder


@every_index
def test_compaction_equals_a_fresh_build(compacted, index):
    from dovetail._storage.directory import open_snapshot

    (grown,), (fresh,) = (open_snapshot(compacted / name).segments for name in ("grown", "fresh"))
    assert arrays_of(grown, index) == arrays_of(fresh, index)
    assert TokenReader(grown).arrays.columns == 15
    assert contents_of(compacted / "grown") == contents_of(compacted / "fresh")
    assert verify_index(compacted / "grown").problems == ()
