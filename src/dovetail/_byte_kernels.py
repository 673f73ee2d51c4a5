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


_HASH_LENGTH = 29  # `hash:` and 24 letters and digits, as `normalise.keyed` writes them


@compiled
def is_hash(content: Array, start: int, stop: int) -> bool:
    """Whether a token is the keyed hash of a hidden value: it has no spelling and no parts."""
    if stop - start != _HASH_LENGTH:
        return False
    return bool(
        content[start] == 0x68  # h
        and content[start + 1] == 0x61  # a
        and content[start + 2] == 0x73  # s
        and content[start + 3] == 0x68  # h
        and content[start + 4] == 0x3A  # :
    )
