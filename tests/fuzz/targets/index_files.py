"""Files of an index whose checksums are right, so that what is in them is looked at: manifests, segments, packs."""

from __future__ import annotations

import json
import struct
import tempfile
import warnings
from pathlib import Path

import numpy as np
import xxhash

from dovetail._storage.manifest import Manifest
from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.sealed import checksum_of, seal, unseal
from dovetail._storage.segment import SegmentRef
from dovetail.errors import DovetailError
from targets.documents import changed

_FOLDER = Path(tempfile.mkdtemp(prefix="dovetail-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
_TAIL = 40  # bytes after the directory of a pack


def _pack() -> bytes:
    path = _FOLDER / "seed.dvt"
    path.unlink(missing_ok=True)
    with PackWriter(path, "tokens", 1, "0" * 16) as pack:
        pack.add("offsets", np.arange(9, dtype=np.uint64))
        pack.add("bytes", np.arange(20, dtype=np.uint8))
    return path.read_bytes()


_WHOLE = _pack()
_PLACE = struct.unpack("<Q", _WHOLE[-_TAIL:][:8])[0]
_MANIFEST = Manifest(3, (SegmentRef("0123456789abcdef", "x", 4, (1,)),), ({"path": "/lake"},), {"tables": 3})
SEEDS = [
    b"m" + json.dumps(_MANIFEST.to_json()).encode(),
    b"p" + _WHOLE[_PLACE:-_TAIL],
    b"s" + seal({"a": 1}),
    b"M\x03\x04",
    b"P\x03\x04",
]


def check(data: bytes) -> None:
    kind, content = data[:1], data[1:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == b"M":
                _check_manifest(changed(_MANIFEST.to_json(), content))
            elif kind == b"P":
                _check_pack(changed(json.loads(_WHOLE[_PLACE:-_TAIL]), content))
            else:
                {b"m": _check_manifest, b"p": _check_pack}.get(kind, _check_sealed)(content)
    except DovetailError as error:
        assert str(error)


def _check_sealed(content: bytes) -> None:
    assert isinstance(unseal(content, "file"), dict)


def _check_manifest(content: bytes) -> None:
    sealed = b'{"checksum": "' + checksum_of(content).encode() + b'",\n"body": ' + content + b"}\n"
    manifest = Manifest.from_json(unseal(sealed, "manifest"))
    assert all("/" not in each.id and "." not in each.id for each in manifest.segments)


def _check_pack(directory: bytes) -> None:
    place = struct.pack("<QQQ", _PLACE, len(directory), xxhash.xxh3_64_intdigest(directory))
    covered = _WHOLE[:_PLACE] + directory + place
    path = _FOLDER / "pack.dvt"
    path.write_bytes(covered + struct.pack("<Q8s", xxhash.xxh3_64_intdigest(covered), b"DOVETAIL"))
    pack = Pack(path, "tokens", 1)
    for name in pack.names():
        assert pack.bytes_of(name) <= pack.size
