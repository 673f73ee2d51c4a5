"""An object of a store, read in place: what a reader needs of a path, by requests for ranges of bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from dovetail._objects import Objects, StoredObject, is_remote, split_address

# Of one request. Columns of Parquet are read in turns, a page of each, so that more would be fetched for nothing.
_REQUEST_BYTES = 1 << 20
# The end of an object is kept once it was fetched: who finds out how a file of Parquet is read needs it, and again who
# reads it. As much as Arrow asks for there; of 256 objects, 16 MB.
_TAIL_BYTES, _TAILS = 1 << 16, 256


@dataclass(frozen=True)
class ObjectPath:
    """As much of a `Path` as readers of tables use."""

    address: str

    @property
    def name(self) -> str:
        return split_address(self.address)[1]

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    def stat(self) -> _Status:
        return _Status(self._found.bytes)

    def open(self, mode: str = "rb") -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_Ranges(self.address, self._found), _REQUEST_BYTES))

    @cached_property
    def _found(self) -> StoredObject:
        folder, name = split_address(self.address)
        return Objects(folder).head(name)


TablePath = Path | ObjectPath


def path_of(table: str) -> TablePath:
    """What readers open, without fetching all of it."""
    return ObjectPath(table) if is_remote(table) else Path(table)


@dataclass(frozen=True)
class _Status:
    st_size: int


@lru_cache(_TAILS)
def _tail(address: str, found: StoredObject, start: int) -> bytes:
    """The end of an object as it was when it was `found`."""
    folder, name = split_address(address)
    return Objects(folder).read(name, start, found.bytes - start)


class _Ranges(io.RawIOBase):
    """A file whose every read is a request, except at its end."""

    def __init__(self, address: str, found: StoredObject) -> None:
        folder, self._name = split_address(address)
        self._objects, self._address, self._found = Objects(folder), address, found
        self._length, self._at = found.bytes, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._length - self._at)
        if wanted <= 0:
            return 0
        found = self._read(self._at, wanted)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def _read(self, start: int, length: int) -> bytes:
        """Up to the part that is kept, or from there."""
        kept = max(0, self._length - _TAIL_BYTES)
        if start < kept:
            return self._objects.read(self._name, start, min(length, kept - start))
        return _tail(self._address, self._found, kept)[start - kept :][:length]
