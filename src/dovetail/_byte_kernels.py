"""Kernels that read bytes of UTF-8: as characters, and as hashes."""

from __future__ import annotations

from dovetail._compile import compiled, int64
from dovetail._types import Array


@compiled
def decode_character(content: Array, at: int) -> tuple[int, int]:
    """The code point at a place of valid UTF-8 text, and its width in bytes."""
    first = int64(content[at])
    if first < 0x80:
        return first, 1
    width = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    point = first & (0x7F >> width)
    for byte in range(1, width):
        point = (point << 6) | (int64(content[at + byte]) & 0x3F)
    return point, width
