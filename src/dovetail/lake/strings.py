"""Typed Arrow columns as raw strings, faithfully: what a person would have written into a CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Column = tuple[str, Any]


def flattened(name: str, array: Any) -> Iterator[Column]:
    """The column, or for a struct its fields as `name.field`, at any depth; a null struct has null fields."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not pa.types.is_struct(array.type):
        yield name, array
        return
    for field, child in zip(array.type, array.flatten(), strict=True):
        yield from flattened(f"{name}.{field.name}", child)


def flat_names(schema: Any) -> list[str]:
    """The names that `flattened` gives the columns of a schema."""
    empty = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
    return [
        name for column, field in zip(empty.columns, schema, strict=True) for name, _ in flattened(field.name, column)
    ]


def as_strings(array: Any) -> Any:
    """A string array of the same length, null where null."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_strings(array.dictionary_decode())
    if pa.types.is_string(kind):
        return array
    if pa.types.is_floating(kind):
        return float_strings(array)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return clock_strings(array)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return binary_strings(array)
    if pa.types.is_duration(kind):
        return array.cast(pa.int64()).cast(pa.string())
    if pa.types.is_nested(kind) or pa.types.is_interval(kind):
        return pa.array([None if v is None else json_text(v) for v in array.to_pylist()], pa.string())
    return array.cast(pa.string())


def float_strings(array: Any) -> Any:
    """The shortest digits that read back the same; a whole number keeps its `.0`, as the writer's type said."""
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    text = array.cast(pa.string())
    bare = pc.match_substring_regex(text, r"^-?\d+$")
    return pc.if_else(bare, pc.binary_join_element_wise(text, ".0", ""), text)


def clock_strings(array: Any) -> Any:
    """ISO 8601, with a `T` and without a fraction of zeros."""
    text = pc.replace_substring_regex(array.cast(pa.string()), r"\.0+($|[Z+-])", r"\1")
    return pc.replace_substring(text, " ", "T", max_replacements=1)


def binary_strings(array: Any) -> Any:
    """Text where the whole column is UTF-8 text, else hexadecimal digits."""
    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if v is None else v.hex() for v in array.to_pylist()], pa.string())


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=json_other)


def json_other(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else value.isoformat() if hasattr(value, "isoformat") else str(value)


def string_batch(batch: Any, columns: tuple[str, ...]) -> Any:
    """The batch flattened, as strings, under the layout's names."""
    flat = [
        as_strings(child)
        for name, array in zip(batch.schema.names, batch.columns, strict=True)
        for _, child in flattened(name, array)
    ]
    return pa.RecordBatch.from_arrays(flat, names=list(columns))


BATCH_BYTES = 1 << 26


def bounded(batch: Any) -> Iterator[Any]:
    """The batch in slices of at most about 64 MB, dictionaries written out; a larger row stays whole."""
    if batch.num_rows < 2 or written_bytes(batch) <= BATCH_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from bounded(batch.slice(0, half))
    yield from bounded(batch.slice(half))


def written_bytes(batch: Any) -> int:
    """The size of the batch with every row's value written out."""
    return sum(map(_written_bytes, batch.columns))


def _written_bytes(array: Any) -> int:
    if not pa.types.is_dictionary(array.type):
        return int(array.nbytes)
    kind = array.type.value_type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)):
        return int(array.dictionary.nbytes + array.indices.nbytes)
    return pc.sum(pc.binary_length(array.dictionary).cast(pa.int64()).take(array.indices)).as_py() or 0
