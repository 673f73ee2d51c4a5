"""Kernels that read bytes: little-endian numbers and UTF-8 characters."""

from __future__ import annotations

from dovetail._compile import compiled, inlined, int64
from dovetail._types import Array


@inlined
def read_number(content: Array, at: int, width: int) -> int:
    """The little-endian number in `width` bytes."""
    number = int64(0)
    for byte in range(width):
        number |= int64(content[at + byte]) << (8 * byte)
    return number


@inlined
def write_number(content: Array, at: int, width: int, number: int) -> None:
    """Write the number as `width` little-endian bytes."""
    for byte in range(width):
        content[at + byte] = (number >> (8 * byte)) & 255


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
