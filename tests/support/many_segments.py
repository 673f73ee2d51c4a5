"""Indexes of many segments, made cheaply: one segment under many ids."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from dovetail._storage.directory import newest_manifest
from dovetail._storage.sealed import seal


def multiply_segment(index: Path, number: int) -> None:
    """Let an index of one segment name it `number` times, as hard links under other ids."""
    manifest = newest_manifest(index)
    (first,) = manifest.segments
    folder = index / "segments" / first.id
    refs = [replace(first, id=f"{copy:016x}") for copy in range(number)]
    for ref in refs:
        (folder.parent / ref.id).mkdir()
        for file in folder.iterdir():
            os.link(file, folder.parent / ref.id / file.name)
    body = replace(manifest, segments=tuple(refs)).to_json()
    (index / f"manifest-{manifest.generation}.json").write_bytes(seal(body))
