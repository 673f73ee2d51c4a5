"""Packs: arrays come back as they were, and damage of any kind is refused or found."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dovetail._storage.pack import Pack, PackWriter
from dovetail.errors import FormatMismatch, IndexDamaged

DTYPES = ("uint8", "uint32", "uint64", "int64", "float64")
arrays = st.dictionaries(
    st.text("abc_", min_size=1, max_size=5),
    st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, st.integers(0, 40))),
    max_size=5,
)


def write(path: Path, content: dict[str, np.ndarray], name: str = "things", version: int = 3) -> PackWriter:
    with PackWriter(path, name, version, "a-segment") as pack:
        for key, array in content.items():
            pack.add(key, array)
    return pack


def small_pack(folder: Path) -> Path:
    path = folder / "small.dvt"
    write(path, {"a": np.arange(5, dtype=np.uint32), "b": np.array([0.5, -1.0]), "empty": np.empty(0, np.int64)})
    return path


@given(arrays)
def test_round_trip(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("packs") / "p.dvt"
    written = write(path, content)
    pack = Pack(path, "things", 3)
    assert pack.names() == sorted(content)
    assert pack.segment == "a-segment"
    assert pack.checksum == written.checksum
    assert pack.size == path.stat().st_size
    assert pack.is_whole()
    for key, array in content.items():
        np.testing.assert_array_equal(pack[key], array)
        assert pack[key].dtype == array.dtype
        assert pack.bytes_of(key) == array.nbytes


@given(st.lists(st.integers(0, 2**32 - 1), max_size=50), st.randoms(use_true_random=False))
def test_parts_may_come_in_any_order(tmp_path_factory, values, random):
    path = tmp_path_factory.mktemp("packs") / "p.dvt"
    array = np.array(values, np.uint32)
    places = list(range(0, len(array), 7))
    random.shuffle(places)
    with PackWriter(path, "things", 1, "s") as pack:
        slot = pack.reserve("a", "uint32", len(array))
        pack.add("after", np.arange(3))
        for place in places:
            slot.write(array[place : place + 7], place)
    np.testing.assert_array_equal(Pack(path, "things", 1)["a"], array)
    np.testing.assert_array_equal(Pack(path, "things", 1)["after"], [0, 1, 2])


def test_arrays_are_read_only_and_aligned(tmp_path):
    pack = Pack(small_pack(tmp_path), "things", 3)
    with pytest.raises(ValueError, match="read-only"):
        pack["a"][0] = 1
    assert all(pack[name].ctypes.data % 64 == 0 for name in ("a", "b"))


def test_writing_beyond_a_slot_is_refused(tmp_path):
    with PackWriter(tmp_path / "p.dvt", "things", 1, "s") as pack:
        slot = pack.reserve("a", "uint8", 4)
        with pytest.raises(ValueError, match="do not fit"):
            slot.write(np.zeros(3, np.uint8), at=2)
        for name, dtype in (("a", "uint8"), ("b", "object"), ("b", "int8")):
            with pytest.raises(ValueError, match="cannot reserve"):
                pack.reserve(name, dtype, 1)


def test_a_pack_is_never_replaced(tmp_path):
    path = small_pack(tmp_path)
    with pytest.raises(FileExistsError):
        PackWriter(path, "things", 3, "s")
    assert Pack(path, "things", 3).is_whole()


def test_a_writer_that_fails_leaves_no_pack(tmp_path):
    with pytest.raises(RuntimeError), PackWriter(tmp_path / "p.dvt", "things", 1, "s") as pack:
        pack.add("a", np.arange(100))
        raise RuntimeError
    with pytest.raises(IndexDamaged):
        Pack(tmp_path / "p.dvt", "things", 1)


def test_every_flipped_byte_is_found(tmp_path):
    path = small_pack(tmp_path)
    data = bytearray(path.read_bytes())
    for place in range(len(data)):
        for flip in (0x01, 0x80):
            data[place] ^= flip
            path.write_bytes(data)
            try:
                found = not Pack(path, "things", 3).is_whole()
            except (IndexDamaged, FormatMismatch):
                found = True
            assert found, f"byte {place} of {len(data)}"
            data[place] ^= flip


def test_every_cut_off_file_is_refused(tmp_path):
    path = small_pack(tmp_path)
    for length in range(path.stat().st_size - 1, -1, -1):
        os.truncate(path, length)
        with pytest.raises(IndexDamaged, match=r"small\.dvt"):
            Pack(path, "things", 3)


def test_another_container_is_refused_by_name(tmp_path):
    path = small_pack(tmp_path)
    data = bytearray(path.read_bytes())
    data[8:16] = struct.pack("<Q", 7)
    path.write_bytes(data)
    with pytest.raises(FormatMismatch, match=r"container version 7; this Dovetail reads version 2"):
        Pack(path, "things", 3)


@pytest.mark.parametrize(("name", "version"), [("things", 4), ("thongs", 3)])
def test_another_version_or_kind_is_refused_by_name(tmp_path, name, version):
    path = small_pack(tmp_path)
    with pytest.raises(FormatMismatch, match=rf"holds things version 3; this Dovetail reads {name} version {version}"):
        Pack(path, name, version)


def test_readers_refuse_a_version_that_they_do_not_know(tmp_path):
    pack = Pack(small_pack(tmp_path), "things", 3)
    pack.require("things", 3)
    with pytest.raises(FormatMismatch, match=r"holds things version 3; this Dovetail reads things version 2"):
        pack.require("things", 2)
    with pytest.raises(FormatMismatch, match=r"has no wings: another Dovetail has written it"):
        _ = pack["wings"]


def with_directory(path: Path, change: dict[str, object]) -> None:
    """Write the directory of a pack anew, with every checksum right, and array `a` changed."""
    data = path.read_bytes()
    offset, length, _ = struct.unpack("<QQQ", data[-40:-16])
    directory = json.loads(data[offset : offset + length])
    directory["arrays"]["a"] |= change
    text = json.dumps(directory, sort_keys=True).encode()
    body = data[:offset] + text + struct.pack("<QQQ", offset, len(text), xxhash.xxh3_64_intdigest(text))
    path.write_bytes(body + struct.pack("<Q8s", xxhash.xxh3_64_intdigest(body), b"DOVETAIL"))


@pytest.mark.parametrize(
    "change",
    [
        {"length": 10**6},
        {"length": 2**62},
        {"length": -1},
        {"offset": 1 << 20},
        {"offset": -64},
        {"offset": 65},
        {"dtype": "int16"},
        {"dtype": "object"},
    ],
    ids=str,
)
def test_a_directory_that_points_elsewhere_is_refused(tmp_path, change):
    path = small_pack(tmp_path)
    with_directory(path, {})
    assert Pack(path, "things", 3).is_whole(), "the forgery itself is sound"
    with_directory(path, change)
    with pytest.raises(IndexDamaged, match=r"a (lies outside the file|is of no known type)"):
        Pack(path, "things", 3)
