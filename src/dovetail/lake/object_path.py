"""An object of a store, read in place: what a reader needs of a path, by requests for ranges of bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

from dovetail._objects import Objects, is_remote, split_address

# Of one request. Columns of Parquet are read in turns, a page of each, so that more would be fetched for nothing.
_REQUEST_BYTES = 1 << 20


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
        return _Status(self._length)

    def open(self, mode: str = "rb") -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_Ranges(self.address, self._length), _REQUEST_BYTES))

    @cached_property
    def _length(self) -> int:
        folder, name = split_address(self.address)
        return Objects(folder).head(name).bytes


TablePath = Path | ObjectPath


def path_of(table: str) -> TablePath:
    """What readers open, without fetching all of it."""
    return ObjectPath(table) if is_remote(table) else Path(table)


@dataclass(frozen=True)
class _Status:
    st_size: int


class _Ranges(io.RawIOBase):
    """A file whose every read is a request."""

    def __init__(self, address: str, length: int) -> None:
        folder, self._name = split_address(address)
        self._objects, self._length, self._at = Objects(folder), length, 0

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
        found = self._objects.read(self._name, self._at, wanted)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
