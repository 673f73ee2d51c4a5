"""Arrow string arrays as plain NumPy arrays and back, without copying and at a cost of microseconds.

A lake has hundreds of thousands of columns of a few values, so a column goes straight from its buffers to a
kernel instead of through a chain of Arrow compute calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NO_FLAGS: Flags = np.zeros(0, dtype=np.bool_)
NO_FLAGS.setflags(write=False)
_NO_BYTES: Bytes = np.zeros(0, dtype=np.uint8)
_NO_BYTES.setflags(write=False)
_STRING = pa.string()
_LARGE_STRING = pa.large_string()
_LARGEST_OFFSET = 2**31 - 1


class Strings(NamedTuple):
    """The values of an Arrow string array: value ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    ``valid`` is empty where no value is null. All arrays are read-only, so that each kernel is compiled once.
    """

    data: Bytes
    offsets: Offsets
    valid: Flags
    type: pa.DataType

    @property
    def length(self) -> int:
        """How many values there are, nulls included."""
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        """How many bytes the values have together."""
        return int(self.offsets[-1]) - int(self.offsets[0])


def read(array: pa.Array) -> Strings:
    """View the buffers of a string array; slices and nulls are understood."""
    kind = array.type
    if kind != _STRING and kind != _LARGE_STRING:
        array = _as_strings(array)
        kind = array.type
    width = np.dtype(np.int32) if kind == _STRING else np.dtype(np.int64)
    length = len(array)
    validity, offset_buffer, data_buffer = array.buffers()
    if length == 0:
        offsets = np.zeros(1, dtype=width)
    else:
        offsets = np.frombuffer(offset_buffer, width, length + 1, array.offset * width.itemsize)
    offsets.setflags(write=False)
    data = _NO_BYTES
    if data_buffer is not None and data_buffer.size:
        data = np.frombuffer(data_buffer, np.uint8)
        data.setflags(write=False)
    valid = _unpack(validity, array.offset, length) if array.null_count else NO_FLAGS
    return Strings(data, offsets, valid, kind)


def _as_strings(array: pa.Array) -> pa.Array:
    if pa.types.is_null(array.type):
        return array.cast(_STRING)
    raise TypeError(
        f"found an array of {array.type}; string or large_string is allowed. "
        "Write numbers and dates as text (array.cast('string')) before they are normalised."
    )


def _unpack(validity: pa.Buffer, offset: int, length: int) -> Flags:
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), count=offset + length, bitorder="little")
    flags = bits[offset:].view(np.bool_)
    flags.setflags(write=False)
    return flags


def write(kind: pa.DataType, data: Bytes, offsets: Offsets, valid: Flags) -> pa.Array:
    """Wrap what a kernel wrote as an array of ``kind``; ``valid`` is empty where no value is null."""
    buffers = [_pack(valid), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def with_validity(array: pa.Array, valid: Flags) -> pa.Array:
    """The same values with other nulls: offsets and data are shared with ``array``."""
    _, offsets, data = array.buffers()
    if array.offset:
        valid = np.concatenate((np.ones(array.offset, dtype=np.bool_), valid))
    return pa.Array.from_buffers(array.type, len(array), [_pack(valid), offsets, data], offset=array.offset)


def _pack(valid: Flags) -> Any:
    return pa.py_buffer(np.packbits(valid, bitorder="little")) if len(valid) else None


def room(strings: Strings, growth: int) -> tuple[Bytes, Offsets]:
    """Empty data and offsets for as many values, each at most ``growth`` bytes longer than it was."""
    size = strings.size + growth * strings.length
    check_size(strings.type, size)
    return np.empty(size, dtype=np.uint8), np.empty(strings.length + 1, dtype=strings.offsets.dtype)


def check_size(kind: pa.DataType, size: int) -> None:
    """Refuse what 32-bit offsets cannot address, before a kernel could wrap around."""
    if kind == _STRING and size > _LARGEST_OFFSET:
        raise pa.ArrowCapacityError(
            f"found {size} bytes of text in one array; a string array holds at most {_LARGEST_OFFSET}. "
            "Pass smaller pieces, or cast to large_string."
        )
