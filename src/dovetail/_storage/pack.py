"""A pack: one file that holds several named arrays, written once and memory-mapped ever after.

    magic, container version                      16 bytes
    arrays, each aligned to 64 bytes
    directory                                     JSON: what the pack is, and dtype, offset and length of each array
    directory offset, length, checksum; checksum of all before it; magic

An open pack holds no file descriptor, only the mapping, which outlives the file's name. The directory is checked when
a pack is opened, so that no kernel is ever handed an array beyond the file; the checksum of the whole is for `verify`.
Files are written with write(), never through a map: a full disk must be an error, not a bus error.
"""

from __future__ import annotations

import json
import os
import struct
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import xxhash

from dovetail._storage.packing import split_packed
from dovetail._storage.packing_kernels import Packed, unpack
from dovetail._storage.sealed import REBUILD
from dovetail._types import Array
from dovetail.errors import FormatMismatch, IndexDamaged

CONTAINER_VERSION = 2
SUFFIX = ".dvt"
_MAGIC = b"DOVETAIL"
_HEAD = struct.Struct("<8sQ")
_DIRECTORY_PLACE = struct.Struct("<QQQ")
_TAIL = struct.Struct("<Q8s")
_TAIL_SIZE = _DIRECTORY_PLACE.size + _TAIL.size
_ALIGNMENT = 64
_DTYPES = ("uint8", "uint16", "uint32", "uint64", "int64", "float32", "float64")
_PACKED = "packed"
_CHECK_BLOCK = 1 << 22


class Slot:
    """The place of one array in a pack that is being written. Parts may be written in any order."""

    def __init__(self, descriptor: int, dtype: np.dtype[Any], offset: int, length: int) -> None:
        self._descriptor = descriptor
        self.dtype = dtype
        self.offset = offset
        self.length = length

    def write(self, part: Array, at: int = 0) -> None:
        if at + len(part) > self.length:
            raise ValueError(f"{len(part)} items at {at} do not fit into {self.length}")
        items = np.ascontiguousarray(part, dtype=self.dtype)
        _write_all(self._descriptor, items.view(np.uint8).data, self.offset + at * self.dtype.itemsize)


class PackWriter:
    """Writes one pack. Use as a context manager; leaving it normally makes the file whole and durable."""

    def __init__(self, path: Path, name: str, version: int, segment: str) -> None:
        self.path = path
        self._about = {"name": name, "version": version, "segment": segment}
        self._slots: dict[str, Slot] = {}
        self._packed: dict[str, int] = {}
        self._end = _HEAD.size
        self.checksum = 0  # known once the pack is finished
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            os.close(self._descriptor)

    def reserve(self, name: str, dtype: str, length: int) -> Slot:
        """Room for `length` items, to be filled through the slot."""
        if name in self._slots or dtype not in _DTYPES:
            raise ValueError(f"cannot reserve {name} as {dtype}")
        offset = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        slot = Slot(self._descriptor, np.dtype(dtype), offset, length)
        self._slots[name] = slot
        self._end = offset + length * slot.dtype.itemsize
        return slot

    def add(self, name: str, array: Array) -> None:
        self.reserve(name, str(array.dtype), len(array)).write(array)

    def add_packed(self, name: str, packed: Packed) -> None:
        """Packed numbers: their heads, then their words."""
        self.reserve(name, "uint64", len(packed.heads) + len(packed.words))
        slot = self._slots[name]
        slot.write(packed.heads.view(np.uint64))
        slot.write(packed.words, len(packed.heads))
        self._packed[name] = packed.length

    def _finish(self) -> None:
        arrays = {n: {"dtype": str(s.dtype), "offset": s.offset, "length": s.length} for n, s in self._slots.items()}
        for name, numbers in self._packed.items():
            arrays[name] |= {"dtype": _PACKED, "numbers": numbers}
        directory = json.dumps({**self._about, "arrays": arrays}, sort_keys=True).encode()
        place = _DIRECTORY_PLACE.pack(self._end, len(directory), xxhash.xxh3_64_intdigest(directory))
        _write_all(self._descriptor, _HEAD.pack(_MAGIC, CONTAINER_VERSION), 0)
        _write_all(self._descriptor, directory + place, self._end)
        covered = self._end + len(directory) + len(place)
        self.checksum = _checksum(self._descriptor, covered)
        _write_all(self._descriptor, _TAIL.pack(self.checksum, _MAGIC), covered)
        os.fsync(self._descriptor)


_open: weakref.WeakSet[Pack] = weakref.WeakSet()


def damage_of_open_packs() -> str | None:
    """Which file that this process has open is damaged and what to do, as a sentence; None where all are whole.

    Readers do not check every byte: where one fails, damage may be the reason.
    """
    damaged = sorted(f"{pack.segment}/{pack.path.name}" for pack in tuple(_open) if not pack.is_whole())
    if not damaged:
        return None
    return (
        f"{damaged[0]} is damaged: its content does not match its checksum. `dovetail verify` names all damage. "
        "The lake itself is not touched: build the index again into a new folder with `dovetail index`."
    )


class Pack:
    """An open pack: its arrays are read-only views of the memory-mapped file."""

    def __init__(self, path: Path, name: str, version: int) -> None:
        self.path = path
        self._map = _map_file(path)
        self.size = len(self._map)
        try:
            self._open(self._directory(), name, version)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
            raise IndexDamaged(f"{path.name} is damaged: its directory does not describe a pack.") from error

    def _open(self, directory: dict[str, Any], name: str, version: int) -> None:
        self.name, self.version = directory["name"], directory["version"]
        self.segment = str(directory["segment"])
        self.require(name, version)
        _open.add(self)
        self._arrays = {key: self._view(key, place) for key, place in directory["arrays"].items()}
        self._unpacked: dict[str, Array] = {}
        self._packed = {
            key: self._unite(key, place["numbers"])
            for key, place in directory["arrays"].items()
            if place["dtype"] == _PACKED
        }

    def __getitem__(self, name: str) -> Array:
        if name not in self._arrays or name in self._packed:
            raise self._missing(name)
        return self._arrays[name]

    def packed(self, name: str) -> Packed:
        if name not in self._packed:
            raise self._missing(name)
        return self._packed[name]

    def unpacked(self, name: str) -> Array:
        """Packed numbers as an array in memory, for offsets that are read all the time. Unpacked once."""
        if name not in self._unpacked:
            packed = self.packed(name)
            numbers = unpack(packed, 0, packed.length)
            numbers.setflags(write=False)
            self._unpacked[name] = numbers
        return self._unpacked[name]

    def _missing(self, name: str) -> FormatMismatch:
        return FormatMismatch(
            f"{self.segment}/{self.path.name} has no {name}: another Dovetail has written it. {REBUILD}"
        )

    def require(self, name: str, version: int) -> None:
        """Raises where this is not the pack that a reader knows how to read."""
        if (self.name, self.version) != (name, version):
            raise FormatMismatch(
                f"{self.path.name} holds {self.name} version {self.version}; this Dovetail reads {name} version "
                f"{version}. {REBUILD}"
            )

    def names(self) -> list[str]:
        return sorted(self._arrays)

    def bytes_of(self, name: str) -> int:
        return int(self._arrays[name].nbytes)

    @property
    def checksum(self) -> int:
        """The checksum that the file states of itself."""
        return int(_TAIL.unpack(self._map[-_TAIL.size :])[0])

    def is_whole(self) -> bool:
        """Whether every byte of the file is the one that was written."""
        covered = self.size - _TAIL.size
        (stored, magic) = _TAIL.unpack(self._map[covered:])
        hasher = xxhash.xxh3_64()
        for start in range(0, covered, _CHECK_BLOCK):
            hasher.update(self._map[start : min(start + _CHECK_BLOCK, covered)])
        return bool(hasher.intdigest() == stored and magic == _MAGIC)

    def _directory(self) -> dict[str, Any]:
        magic, container = _HEAD.unpack(self._map[: _HEAD.size])
        if magic != _MAGIC:
            raise IndexDamaged(f"{self.path.name} is not a file of Dovetail, or its beginning is damaged.")
        if container != CONTAINER_VERSION:
            raise FormatMismatch(
                f"{self.path.name} is written in container version {container}; this Dovetail reads version "
                f"{CONTAINER_VERSION}. {REBUILD}"
            )
        start = self.size - _TAIL_SIZE
        offset, length, checksum = _DIRECTORY_PLACE.unpack(self._map[start : start + _DIRECTORY_PLACE.size])
        data = self._map[offset : offset + length] if offset + length == start else b""
        if not data or xxhash.xxh3_64_intdigest(data) != checksum:
            raise IndexDamaged(f"{self.path.name} is damaged: its directory does not match its checksum.")
        directory: dict[str, Any] = json.loads(bytes(data))
        return directory

    def _view(self, name: str, place: dict[str, Any]) -> Array:
        name_of_type = "uint64" if place["dtype"] == _PACKED else place["dtype"]
        if name_of_type not in _DTYPES:  # numpy evaluates what it does not know
            raise IndexDamaged(f"{self.path.name} is damaged: {name} is of no known type.")
        dtype, offset, length = np.dtype(name_of_type), place["offset"], place["length"]
        known = offset % _ALIGNMENT == 0 and offset >= 0 and length >= 0
        if not known or offset + length * dtype.itemsize > self.size:
            raise IndexDamaged(f"{self.path.name} is damaged: {name} lies outside the file.")
        if not length:
            empty = np.empty(0, dtype)
            empty.setflags(write=False)  # as mapped ones are, or kernels would be compiled for both
            return empty
        return np.frombuffer(self._map, dtype, length, offset)

    def _unite(self, name: str, numbers: int) -> Packed:
        """The heads and words of packed numbers, checked against each other by the last head."""
        content = self._arrays[name]
        packed = split_packed(content, numbers)
        if packed is None:
            raise IndexDamaged(f"{self.path.name} is damaged: {name} does not hold {numbers} numbers.")
        return packed


def _map_file(path: Path) -> memoryview:
    """The content of a file, mapped and read-only.

    Python's own mmap keeps a descriptor for as long as the mapping lives. Arrow's buffer keeps the mapping alone once
    the file is closed, and unmaps it with the last array that is made of it.
    """
    size = path.stat().st_size
    if size < _HEAD.size + _TAIL_SIZE:
        raise IndexDamaged(f"{path.name} is damaged: {size} bytes are too few for any pack.")
    with pa.memory_map(os.fspath(path)) as file:
        return memoryview(file.read_buffer())


def _write_all(descriptor: int, data: bytes | memoryview, position: int) -> None:
    """os.pwrite may write less than it was given: near a full disk, and above 2 GB."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest[: 1 << 30], position)
        rest = rest[written:]
        position += written


def _checksum(descriptor: int, length: int) -> int:
    hasher = xxhash.xxh3_64()
    for start in range(0, length, _CHECK_BLOCK):
        hasher.update(os.pread(descriptor, min(_CHECK_BLOCK, length - start), start))
    return int(hasher.intdigest())
