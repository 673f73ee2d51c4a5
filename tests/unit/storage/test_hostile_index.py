"""Files of an index that name others: no name leaves the index."""

from __future__ import annotations

import pytest

from dovetail._storage.manifest import Manifest
from dovetail._storage.sealed import checksum_of, seal, unseal
from dovetail._storage.segment import DESCRIPTION, SEGMENT_VERSION, Segment, SegmentRef
from dovetail.errors import IndexDamaged


@pytest.mark.parametrize("id", ["../../elsewhere", "/etc", "0123456789abcdef/../..", "", "0123456789ABCDEF", 7])
def test_a_manifest_names_segments_of_its_own_index_only(id):
    body = Manifest(1, (SegmentRef("0123456789abcdef", "x", 1),)).to_json()
    assert Manifest.from_json(body).segments[0].id == "0123456789abcdef"
    body["segments"][0]["id"] = id
    with pytest.raises(IndexDamaged, match="is no segment"):
        Manifest.from_json(body)


@pytest.mark.parametrize("part", ["../tokens", "/tokens", "a/b", ".."])
def test_a_segment_names_packs_of_its_own_folder_only(tmp_path, part):
    id = "0123456789abcdef"
    (tmp_path / id).mkdir()
    data = seal({"version": SEGMENT_VERSION, "id": id, "counts": {}, "parts": {part: {"version": 1}}, "without": []})
    (tmp_path / id / DESCRIPTION).write_bytes(data)
    with pytest.raises(IndexDamaged, match="names parts that are none"):
        Segment(tmp_path, SegmentRef(id, checksum_of(data), 1)).damage()


@pytest.mark.parametrize("text", [b"[1]", b"null", b"{", b"[" * 100_000])
def test_sealed_files_that_hold_no_object_are_damaged(text):
    sealed = b'{"checksum": "' + checksum_of(text).encode() + b'",\n"body": ' + text + b"}\n"
    with pytest.raises(IndexDamaged):
        unseal(sealed, "manifest-1.json")
