"""Pieces of values: what is indexed, what is asked for, and which columns they lead to."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._storage.packing_kernels import unpack
from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.indexes.pieces.core import keys_of
from dovetail.indexes.pieces.index import PIECES
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.normalise import plain
from support.catalog import write_catalog

MASK = (1 << 64) - 1
texts = st.text("abzä09 .-@é中", max_size=12) | st.text(max_size=8) | st.text("01234567.- ", max_size=8)


def key(text: str) -> int:
    """32 bits of FNV-1a over the characters, mixed: written anew, with Python's integers."""
    value = 14695981039346656037
    for character in text:
        value = ((value ^ ord(character)) * 1099511628211) & MASK
    value = ((value ^ (value >> 32)) * 11400714785074694791) & MASK
    return value >> 32


def pieces(value: str) -> list[str]:
    """Runs of letters or of digits; of what has no letter, long numbers and longer runs only."""
    if len(value.encode()) > 200:
        return []
    runs, last = [], ""
    for character in value:
        kind = "" if not character.isalnum() else "digit" if character.isdigit() else "letter"
        kind = kind if ord(character) < 1 << 16 else "letter"  # beyond, all are
        if kind and kind == last:
            runs[-1] += character
        elif kind:
            runs.append(character)
        last = kind
    folded = ["".join(plain(c) if ord(c) < 1 << 16 else c for c in run) for run in runs]
    found = [run for run in folded if len(run) > 1]
    if any(not run[0].isdigit() or ord(run[0]) >= 1 << 16 for run in runs):
        return found
    signs = [c for c in value[1:] if not c.isalnum() and c != "." and ord(c) < 1 << 16]
    if signs:
        return [run for run in found if len(run) > 2]
    return found if "." not in value and len(found) == 1 and len(found[0]) > 4 else []


def build(folder: Path, columns: list[list[str]], memory_bytes: int = 1 << 30) -> Segment:
    writer = SegmentWriter(folder / "segments")
    builders = []
    for index in (TOKENS, PIECES):
        scratch = folder / f"{writer.id}-{index.name}"
        scratch.mkdir()
        builders.append(index.builder(scratch, memory_bytes))
    for number, values in enumerate(columns):
        distinct = list(dict.fromkeys(values))
        for builder in builders:
            builder.add(ColumnChunk(number, pa.array(distinct, pa.large_string()), np.ones(len(distinct), np.int64)))
    write_catalog(writer, len(columns))
    for builder in builders:
        builder.finish(writer, [1] * len(columns))
    return Segment(folder / "segments", writer.finish({"tables": len(columns)}))


@settings(max_examples=40)
@given(columns=st.lists(st.lists(texts, max_size=6), max_size=5), asked=st.lists(texts, max_size=5))
def test_columns_are_those_that_hold_a_piece(tmp_path_factory, columns, asked):
    columns = [[value for value in column if value] for column in columns]
    reader = PIECES.open(build(tmp_path_factory.mktemp("pieces"), columns))
    held = [{key(piece) for value in column for piece in pieces(value)} for column in columns]
    assert set(unpack(reader.arrays.hashes, 0, reader.arrays.hashes.length).tolist()) == set().union(*held)
    keys = np.unique(np.array([key(piece) for value in asked for piece in pieces(value)], np.uint32))
    alive = np.array([number % 3 != 1 for number in range(len(columns))], bool)
    holders = [sum(k in held[c] for c in range(len(columns)) if alive[c]) for k in keys.tolist()]
    assert reader.holders(keys, alive).tolist() == holders
    weights = np.arange(1.0, len(keys) + 1)
    sums = [sum(w for k, w in zip(keys.tolist(), weights, strict=True) if k in column) for column in held]
    assert reader.weigh(keys, weights).tolist() == sums
    for number, column in enumerate(columns):
        wanted = set(keys.tolist())
        sharing = {value for value in column if wanted & {key(piece) for piece in pieces(value)}}
        assert set(reader.sharing(number, keys, 1 << 20).to_pylist()) == sharing


def test_parts_on_disk_change_nothing(tmp_path):
    columns = [[f"name{i} of {i * 7919}@host" for i in range(2_000)], ["name7 of x"]]
    whole, parted = (build(tmp_path, columns, memory) for memory in (1 << 30, 1))
    for name in ("piece_hashes", "piece_groups"):
        assert np.array_equal(whole.pack("pieces").unpacked(name), parted.pack("pieces").unpacked(name))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("Ada Lovelace", "ada.lovelace@lab.org"),
        ("Ada Lovelace", "alovelace"),
        ("Ada Lovelace", "lovelacea"),
        ("Lovelace, Ada", "alovelace"),
        ("Ada King Lovelace", "alovelace"),
        ("Ada Lovelace", "adalovelace42"),
        ("alovelace", "Lovelace, Ada"),
        ("José Núñez", "NUNEZ, JOSE"),
        ("(555) 123-4567", "555-123-4567"),
        ("businessid_42", "businessref_42"),
    ],
)
def test_a_value_asks_for_what_may_be_made_of_it(mine, theirs):
    asked, _ = keys_of(pa.array([mine]))
    assert {key(piece) for piece in pieces(theirs.lower())} & set(asked.tolist())


@given(st.lists(texts, max_size=8))
def test_keys_hold_all_pieces_of_their_value(values):
    keys, starts = keys_of(pa.array(values, pa.string()))
    for value, (first, last) in zip(values, itertools.pairwise(starts.tolist()), strict=True):
        assert {key(piece) for piece in pieces(value)[:12]} <= set(keys[first:last].tolist())


def test_numbers_and_prose_have_no_pieces(tmp_path):
    columns = [["12", "1999", "3.14159265", "-17.25"], ["so many words " * 20]]
    assert PIECES.open(build(tmp_path, columns)).arrays.hashes.length == 0
