"""How much a compressed file may unpack to: small files can be made that fill any disk."""

from __future__ import annotations

import io
from typing import IO, Any

from dovetail.errors import UnreadableTable

LARGEST_RATIO = 250
"""Of unpacked to packed bytes. Of 373 tables of 0.1 to 3 MB of Open Data, half packed to a quarter of their bytes or
less, one in a hundred to a 28th, and the best, of nearly equal lines, to a 125th; this is twice as much. A stream of
one byte reaches 1,030 with deflate and more with others."""
ALWAYS_UNPACKED = 1 << 30
"""Bytes that are unpacked whatever the ratio: reading a gigabyte takes seconds, and harms nobody."""


def refuse_bomb(unpacked: int, packed: int) -> None:
    """Raises where so many bytes come of so few that they are taken for an attack."""
    if unpacked > ALWAYS_UNPACKED and unpacked > LARGEST_RATIO * packed:
        raise UnreadableTable(
            f"unpacks to more than {LARGEST_RATIO} times its size and {ALWAYS_UNPACKED >> 30} GB: taken for an attack"
        )


class Unpacked(io.RawIOBase):
    """What comes out of a decompressor, counted against the bytes that were packed."""

    def __init__(self, stream: Any, packed: int) -> None:
        super().__init__()
        self._stream: IO[bytes] = stream
        self._packed = packed
        self._read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._read += len(content)
        refuse_bomb(self._read, self._packed)
        return content
