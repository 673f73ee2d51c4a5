"""Where an index is kept: a folder of this machine, or an object store. Nothing else knows where its bytes are."""

from __future__ import annotations

from pathlib import Path

from dovetail._objects import is_remote
from dovetail._storage.local_store import LocalStore
from dovetail._storage.object_store import ObjectStore
from dovetail._storage.protocol import Store

__all__ = ["Address", "LocalStore", "ObjectStore", "Store", "open_store"]

Address = str | Path | Store


def open_store(address: Address) -> Store:
    """The store at an address, which need not exist yet."""
    if isinstance(address, LocalStore | ObjectStore):
        return address
    if is_remote(str(address)):
        return ObjectStore(str(address))
    return LocalStore(Path(str(address)))
