"""Sealed JSON: what was written comes back, and nothing else passes for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage.sealed import seal, unseal, write_durably
from dovetail.errors import IndexDamaged

names = st.text(st.characters(codec="utf-8"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
bodies = st.dictionaries(names, values, max_size=5)


@given(bodies)
def test_round_trip(body):
    assert unseal(seal(body), "x.json") == body


@given(bodies)
def test_every_flipped_byte_is_found(body):
    data = bytearray(seal(body))
    for place in range(len(data)):
        for bit in (0, 5, 7):
            data[place] ^= 1 << bit
            with pytest.raises(IndexDamaged, match=r"x\.json is damaged"):
                unseal(bytes(data), "x.json")
            data[place] ^= 1 << bit
    assert unseal(bytes(data), "x.json") == body


@given(bodies, st.data())
def test_cut_off_and_longer_files_are_found(body, data):
    whole = seal(body)
    length = data.draw(st.integers(0, len(whole) - 1))
    for other in (whole[:length], whole + b"\n", whole + whole[:length]):
        if other != whole:
            with pytest.raises(IndexDamaged):
                unseal(other, "x.json")


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"body": 1}', '{"body": {}}', '{"body": {}, "checksum": 1}'])
def test_other_json_is_refused(text):
    with pytest.raises(IndexDamaged):
        unseal(text.encode(), "x.json")


def test_the_same_content_in_another_form_is_refused():
    body = {"b": 1, "a": [1, 2]}
    reordered = json.dumps(json.loads(seal(body)), indent=2).encode()
    with pytest.raises(IndexDamaged):
        unseal(reordered, "x.json")


def test_a_file_is_never_replaced(tmp_path):
    write_durably(tmp_path / "a", b"first")
    with pytest.raises(FileExistsError):
        write_durably(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"first"
