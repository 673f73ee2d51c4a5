"""The marker: the file that makes a folder an index. It is written first, and states the version of the format.

Whatever lacks it is not ours: it is neither read as an index nor written to, and nothing in it is ever deleted.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from dovetail._storage.sealed import REBUILD, seal, unseal
from dovetail._storage.store import LocalStore, Store
from dovetail.errors import FormatMismatch, IndexDamaged, InputError, NotAnIndex

MARKER = "dovetail-index.json"
FORMAT = "dovetail-index"
FORMAT_VERSION = 3


def is_index(path: Path) -> bool:
    """Whether the folder is marked as an index, of whatever version."""
    try:
        return (path / MARKER).is_file()
    except PermissionError:  # a folder of the lake that we must not look into is none of ours
        return False


def index_around(path: Path) -> Path | None:
    """The index that `path` is, or lies in."""
    return next((folder for folder in (path, *path.parents) if is_index(folder)), None)


def require_index(store: Store) -> None:
    """Raises where the store does not hold an index of this version."""
    try:
        written = store.read(MARKER)
    except (FileNotFoundError, NotADirectoryError):
        _refuse_format_1(store)
        raise NotAnIndex(
            f"{store.address} is not an index. Make one with `dovetail index LAKE --to {store.address}`."
        ) from None
    body = unseal(written, MARKER)
    if body.get("format") != FORMAT:
        raise IndexDamaged(f"{MARKER} is damaged: it does not describe an index.")
    if body["version"] != FORMAT_VERSION:
        raise _other_version(store, body["version"])


def mark_as_index(store: Store) -> None:
    """Make an index of a place that is absent, empty or already one; raises for any other."""
    if isinstance(store, LocalStore) and store.path.is_file():
        raise InputError(f"{store.address} is a file; the index needs a folder.")
    with contextlib.suppress(NotAnIndex):
        require_index(store)
        return
    other = next((name for name in _names(store) if not is_draft(name)), None)
    if other is not None:
        raise InputError(
            f"{store.address} is not an index and not empty (it holds {other}); choose an empty or new folder."
        )
    if isinstance(store, LocalStore):
        store.path.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):  # another writer was faster; who commits decides between the two
        store.put_if_absent(MARKER, seal({"format": FORMAT, "version": FORMAT_VERSION}))


def _names(store: Store) -> Iterator[str]:
    """What is in the store: files, and folders, which an object store has only for what is in them."""
    if not isinstance(store, LocalStore):
        return (entry.name.partition("/")[0] for entry in store.entries())
    return (path.name for path in store.path.iterdir()) if store.path.exists() else iter(())


def is_draft(name: str) -> bool:
    """Whether this is what a process that was killed while it wrote the marker leaves behind."""
    return name.startswith(f"{MARKER}.")


def _refuse_format_1(store: Store) -> None:
    """Indexes of format 1 have no marker. Refused by name, so that nobody wonders where the index has gone."""
    if not isinstance(store, LocalStore) or not (store.path / "segments").is_dir():
        return
    for manifest in store.path.glob("manifest-*.json"):
        with contextlib.suppress(ValueError, KeyError, TypeError):  # somebody else's file that is only called so
            if json.loads(manifest.read_bytes())["body"]["format"] == 1:
                raise _other_version(store, 1)


def _other_version(store: Store, version: int) -> FormatMismatch:
    return FormatMismatch(
        f"{store.address} has index format {version}; this Dovetail reads format {FORMAT_VERSION}. {REBUILD}"
    )
