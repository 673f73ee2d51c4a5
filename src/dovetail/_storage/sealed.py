"""JSON files that know whether they are whole: the marker, the manifest, each segment's description, the decisions.

A sealed file is `{"checksum": …, "body": …}`, where the checksum is that of the body's text, and all around the body is
always the same: any flipped byte shows, in the values, in the names or in the white space.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import xxhash

from dovetail.errors import IndexDamaged

# How every refusal of another version ends.
REBUILD = "Build the index again in a new folder: `dovetail index LAKE --to FOLDER`."


_BEFORE, _BETWEEN, _AFTER = b'{"checksum": "', b'",\n"body": ', b"}\n"
_DIGITS = 16  # of a checksum, hexadecimal


def checksum_of(data: bytes) -> str:
    return str(xxhash.xxh3_64_hexdigest(data))


def seal(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, indent=1).encode()
    return _BEFORE + checksum_of(text).encode() + _BETWEEN + text + _AFTER


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The body of a sealed file; `name` is for the message when it is damaged."""
    start = len(_BEFORE) + _DIGITS + len(_BETWEEN)
    text = data[start : -len(_AFTER)]
    if data != _BEFORE + checksum_of(text).encode() + _BETWEEN + text + _AFTER:
        raise IndexDamaged(f"{name} is damaged: its content does not match its checksum.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IndexDamaged(f"{name} is damaged: {error}.") from error
    if not isinstance(body, dict):
        raise IndexDamaged(f"{name} is damaged: it holds no object.")
    return body


def write_durably(path: Path, data: bytes) -> None:
    """Create `path` with `data`, on disk before this returns."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def create_whole(path: Path, data: bytes) -> None:
    """Create `path` with `data`, wholly or not at all; FileExistsError where it exists already."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        write_durably(draft, data)
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def replace_whole(path: Path, data: bytes) -> None:
    """Give `path` the content `data`, wholly or not at all, whether it exists or not. The caller holds a lock."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        write_durably(draft, data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, as fsync of the files alone does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
