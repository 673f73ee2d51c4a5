"""The marker: the file that makes a folder an index. It is written first, and states the version of the format.

Whatever lacks it is not ours: it is neither read as an index nor written to, and nothing in it is ever deleted.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from dovetail._storage.sealed import REBUILD, create_whole, seal, unseal
from dovetail.errors import FormatMismatch, IndexDamaged, InputError, NotAnIndex

MARKER = "dovetail-index.json"
FORMAT = "dovetail-index"
FORMAT_VERSION = 2


def is_index(path: Path) -> bool:
    """Whether the folder is marked as an index, of whatever version."""
    try:
        return (path / MARKER).is_file()
    except PermissionError:  # a folder of the lake that we must not look into is none of ours
        return False


def index_around(path: Path) -> Path | None:
    """The index that `path` is, or lies in."""
    return next((folder for folder in (path, *path.parents) if is_index(folder)), None)


def require_index(path: Path) -> None:
    """Raises where `path` is not an index of this version."""
    try:
        written = (path / MARKER).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        _refuse_format_1(path)
        raise NotAnIndex(f"{path} is not an index. Make one with `dovetail index LAKE --to {path}`.") from None
    body = unseal(written, MARKER)
    if body.get("format") != FORMAT:
        raise IndexDamaged(f"{MARKER} is damaged: it does not describe an index.")
    if body["version"] != FORMAT_VERSION:
        raise _other_version(path, body["version"])


def mark_as_index(path: Path) -> None:
    """Make an index of a folder that is absent, empty or already one; raises for any other."""
    if path.is_file():
        raise InputError(f"{path} is a file; the index needs a folder.")
    if is_index(path):
        require_index(path)
        return
    if path.is_dir():
        _refuse_format_1(path)
        for entry in path.iterdir():
            if not is_draft(entry.name):
                raise InputError(
                    f"{path} is not an index and not empty (it holds {entry.name}); choose an empty or new folder."
                )
    path.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another writer was faster; the lock decides between the two
        create_whole(path / MARKER, seal({"format": FORMAT, "version": FORMAT_VERSION}))


def is_draft(name: str) -> bool:
    """Whether this is what a process that was killed while it wrote the marker leaves behind."""
    return name.startswith(f"{MARKER}.")


def _refuse_format_1(path: Path) -> None:
    """Indexes of format 1 have no marker. Refused by name, so that nobody wonders where the index has gone."""
    for manifest in path.glob("manifest-*.json") if (path / "segments").is_dir() else ():
        with contextlib.suppress(ValueError, KeyError, TypeError):  # somebody else's file that is only called so
            if json.loads(manifest.read_bytes())["body"]["format"] == 1:
                raise _other_version(path, 1)


def _other_version(path: Path, version: int) -> FormatMismatch:
    return FormatMismatch(f"{path} has index format {version}; this Dovetail reads format {FORMAT_VERSION}. {REBUILD}")
