"""JSON files that know whether they are whole: the manifest and each segment's description.

A sealed file is `{"body": …, "checksum": …}` in one canonical form, so that reading it back and writing it again
gives the same bytes: any flipped byte shows, in the values, in the names or in the white space.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import xxhash

from dovetail.errors import IndexDamaged


def checksum_of(data: bytes) -> str:
    return str(xxhash.xxh3_64_hexdigest(data))


def seal(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, indent=1)
    checksum = checksum_of(text.encode())
    return json.dumps({"checksum": checksum, "body": body}, sort_keys=True, ensure_ascii=False, indent=1).encode()


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The body of a sealed file; `name` is for the message when it is damaged."""
    try:
        document = json.loads(data)
        body = document["body"]
        whole = isinstance(body, dict) and seal(body) == data
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise IndexDamaged(f"{name} is damaged: its content does not match its checksum.")
    return dict(body)


def write_durably(path: Path, data: bytes) -> None:
    """Create `path` with `data`, on disk before this returns."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, as fsync of the files alone does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
