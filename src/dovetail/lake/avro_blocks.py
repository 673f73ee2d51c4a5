"""What a block of an Avro file may unpack to: it is unpacked whole, and a few bytes may claim to be any number."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from dovetail.errors import UnreadableTable
from dovetail.lake.blocks import LARGEST_RECORD

_DEFLATE_RATIO = 1032  # the highest that its format allows
_SYNC = 16  # bytes of the marker between blocks; whatever is read at once and is longer is a block
_MORE = LARGEST_RECORD + 1


def _snappy(data: bytes) -> int:
    """The length that a block of Snappy states first, which its decoder keeps to."""
    length = 0
    for place, byte in enumerate(data[:5]):
        length |= (byte & 127) << (7 * place)
        if byte < 128:
            break
    return length


_UNPACKED: dict[str, Callable[[bytes], int]] = {
    "deflate": lambda data: len(zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, _MORE)),
    "bzip2": lambda data: len(bz2.BZ2Decompressor().decompress(data, _MORE)),
    "xz": lambda data: len(lzma.LZMADecompressor().decompress(data, _MORE)),
    "zstandard": lambda data: len(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(_MORE)),
    "snappy": _snappy,
    "lz4": lambda data: int.from_bytes(data[:4], "little"),
}
"""By codec: how many bytes a block unpacks to, or one more than are allowed."""


class GuardedFile:
    """A file that an Avro decoder reads from. Raises before what is read at once, or unpacked of it, is too large."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.codec = "null"
        """To be set when the header has told it."""

    def tell(self) -> int:
        return int(self._file.tell())

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST_RECORD:
            raise _too_large()
        data: bytes = self._file.read(size)
        unpacked = _UNPACKED.get(self.codec)
        small = self.codec == "deflate" and _DEFLATE_RATIO * size <= LARGEST_RECORD
        if unpacked is not None and size > _SYNC and not small and unpacked(data) > LARGEST_RECORD:
            raise _too_large()
        return data


def _too_large() -> UnreadableTable:
    return UnreadableTable(f"broken Avro file: a block of more than {LARGEST_RECORD >> 20} MB")


def require_bytes(schema: Any, named: dict[str, Any]) -> None:
    """Raises for lists of, and files of, values that take no bytes: a few bytes may claim any number of them."""
    if _is_empty(schema, named, ()):
        raise UnreadableTable("not a table: Avro records without content")
    for one in (schema, *named.values(), *_below(schema)):
        if isinstance(one, dict) and one.get("type") == "array" and _is_empty(one["items"], named, ()):
            raise UnreadableTable("broken Avro file: lists of values without content")


def _below(schema: Any) -> list[Any]:
    """Every type that is written out inside of a schema."""
    if isinstance(schema, list):
        return [*schema, *(each for one in schema for each in _below(one))]
    if not isinstance(schema, dict):
        return []
    inside = [field["type"] for field in schema.get("fields", ())]
    inside += [schema[key] for key in ("items", "values", "type") if isinstance(schema.get(key), dict | list | str)]
    return [*inside, *(each for one in inside for each in _below(one))]


def _is_empty(schema: Any, named: dict[str, Any], around: tuple[str, ...]) -> bool:
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if not isinstance(schema, dict):
        return bool(schema == "null")
    if schema.get("name", "") in around:
        return True  # a record that must hold itself never ends
    if schema["type"] in ("record", "error"):
        inner = (*around, schema["name"])
        return all(_is_empty(field["type"], named, inner) for field in schema["fields"])
    return bool(schema["type"] == "null" or (schema["type"] == "fixed" and schema["size"] == 0))
