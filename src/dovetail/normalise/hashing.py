"""What building and asking share: the hash of a token, and Arrow strings as plain arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.normalise.hash_kernels import hash_strings


def as_buffers(strings: pa.Array) -> tuple[Array, Array]:
    """The bytes and the len + 1 offsets of a string array without nulls."""
    if not pa.types.is_large_string(strings.type):  # a cast that changes nothing takes longer than a small query
        strings = strings.cast(pa.large_string())
    _, offsets, data = strings.buffers()
    begin = strings.offset
    starts = (
        np.frombuffer(offsets, np.int64)[begin : begin + len(strings) + 1] if len(strings) else np.zeros(1, np.int64)
    )
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return content, starts


def as_strings(content: Array, offsets: Array) -> pa.LargeStringArray:
    """The string array of these bytes and len + 1 offsets."""
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(content)
    )


def hash_tokens(tokens: pa.Array) -> Array:
    """XXH64 (seed 0) of each token's UTF-8 bytes."""
    return hash_strings(*as_buffers(tokens))
