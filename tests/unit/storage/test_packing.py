"""Packed numbers come back as they were, one by one and run by run, by the kernels and by their plain form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage import packing_kernels
from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.packing import PackedRuns, pack_numbers, split_packed
from dovetail._storage.packing_kernels import (
    BLOCK,
    Packed,
    most_packed,
    packed_at,
    search_packed,
    sum_packed,
    take_packed,
    unpack,
)
from dovetail.errors import IndexDamaged

# Blocks of any width, also of none and of 63 bits, and lengths on both sides of a block's end.
runs = st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 62), st.integers(1, 3 * BLOCK)), max_size=6).map(
    lambda runs: np.concatenate([np.empty(0, np.int64), *(_run(*run) for run in runs)])
)


def _run(base: int, width: int, length: int) -> np.ndarray:
    return base + np.random.default_rng(width).integers(0, 1 << width, length)


@given(runs, st.data())
def test_round_trip(numbers, data):
    packed = pack_numbers(numbers)
    np.testing.assert_array_equal(unpack(packed, 0, len(numbers)), numbers)
    first = data.draw(st.integers(0, len(numbers)))
    last = data.draw(st.integers(first, len(numbers)))
    np.testing.assert_array_equal(unpack(packed, first, last), numbers[first:last])
    places = np.arange(first, last)[::-1]
    np.testing.assert_array_equal(take_packed(packed, places), numbers[places])
    offsets = np.array([0, first, last])
    small = pack_numbers(numbers % 1000)
    sums = [int((numbers % 1000)[a:b].sum()) for a, b in ((0, first), (first, last))]
    assert sum_packed(small, offsets).tolist() == sums


@given(runs, st.lists(st.integers(0, 500), max_size=5))
def test_run_by_run_is_the_same_as_at_once(numbers, cuts):
    parts = PackedRuns()
    for part in np.split(numbers, sorted(min(cut, len(numbers)) for cut in cuts)):
        parts.add(part)
    packed, whole = parts.finish(), pack_numbers(numbers)
    assert packed.length == len(numbers)
    np.testing.assert_array_equal(packed.heads, whole.heads)
    np.testing.assert_array_equal(packed.words, whole.words)


@given(runs, st.lists(st.integers(0, 2**63 - 1), max_size=5))
def test_search_and_greatest(numbers, others):
    ascending, values = np.sort(numbers), np.concatenate([numbers[:5], np.array(others, np.int64)])
    packed = pack_numbers(ascending)
    np.testing.assert_array_equal(search_packed(packed, values), np.searchsorted(ascending, values))
    assert most_packed(pack_numbers(numbers)) == (int(numbers.max()) if len(numbers) else -1)


def test_plain_forms_read_the_same():
    numbers = _run(5, 13, 300)
    packed = pack_numbers(numbers)
    with np.errstate(over="ignore"):
        assert packing_kernels.unpack.py_func(packed, 7, 290).tolist() == numbers[7:290].tolist()
        places = [0, 127, 128, 299]
        assert [packed_at.py_func(packed, place) for place in places] == numbers[places].tolist()


def test_equal_numbers_take_their_heads_alone():
    packed = pack_numbers(np.full(10 * BLOCK, 77))
    assert (len(packed.heads), len(packed.words)) == (20, 1)


def test_packs_hold_packed_numbers(tmp_path):
    numbers = _run(0, 20, 1000)
    with PackWriter(tmp_path / "p.dvt", "things", 1, "a-segment") as pack:
        pack.add_packed("numbers", pack_numbers(numbers))
        pack.add_packed("none", pack_numbers(numbers[:0]))
    opened = Pack(tmp_path / "p.dvt", "things", 1)
    assert opened.is_whole()
    packed = opened.packed("numbers")
    assert packed.length == 1000 and opened.packed("none").length == 0
    np.testing.assert_array_equal(unpack(packed, 0, 1000), numbers)
    assert opened.bytes_of("numbers") == packed.heads.nbytes + packed.words.nbytes < numbers.nbytes // 2


def test_heads_that_lie_about_the_words_are_damage(tmp_path):
    packed = pack_numbers(_run(0, 9, 200))
    content = np.concatenate([packed.heads.view(np.uint64), packed.words])
    assert split_packed(content, 200) is not None
    assert split_packed(content[:-1], 200) is None
    assert split_packed(content, 100) is None
    with PackWriter(tmp_path / "p.dvt", "things", 1, "a-segment") as pack:
        pack.add_packed("numbers", Packed(packed.heads, packed.words[:-1], 200))
    with pytest.raises(IndexDamaged, match="does not hold 200 numbers"):
        Pack(tmp_path / "p.dvt", "things", 1)
