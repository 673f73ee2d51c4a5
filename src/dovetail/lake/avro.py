"""Avro files: records to strings, block by block, nested records flattened with dots.

A block is unpacked whole, and a few bytes may claim to unpack to any number: so that is checked first.
"""

from __future__ import annotations

import bz2
import itertools
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.blocks import LARGEST_RECORD
from dovetail.lake.formats import refuse_empty
from dovetail.lake.layout import Layout, Part, RowCounter, distinct_names
from dovetail.lake.object_path import TablePath
from dovetail.lake.streams import broken, open_bytes
from dovetail.lake.strings import bounded, json_other, json_text, string_batch

FORMAT = "avro"
ROWS_AT_ONCE = 1 << 13
"""Arbitrary: of Python's objects, which a batch is made of, a row of ten values takes about a kilobyte."""
_TYPES = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "bytes": pa.binary(), "fixed": pa.binary(), "string": pa.string(), "enum": pa.string(),
}  # fmt: skip
_LOGICAL_TYPES = {
    "date": pa.date32(), "time-millis": pa.time32("ms"), "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"), "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"), "local-timestamp-micros": pa.timestamp("us"),
}  # fmt: skip
_DAMAGE = (
    ValueError, EOFError, LookupError, TypeError, ArithmeticError, AssertionError, struct.error,
    zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What the decoder raises about bytes that are none of its schema's."""
_DECIMAL, _WIDEST_DECIMAL = "decimal", 76  # digits of Arrow's
_DEFLATE_RATIO = 1032  # the highest that its format allows
_SYNC = 16  # bytes of the marker between blocks; whatever is read at once and is longer is a block
_MORE = LARGEST_RECORD + 1


class _Field(NamedTuple):
    """A column: where its values are in a record, and their type; None for what becomes text, or JSON text, here."""

    path: tuple[str, ...]
    type: pa.DataType | None

    def column(self, records: list[Any]) -> pa.Array:
        values = records
        for name in self.path:
            values = [None if value is None else value[name] for value in values]
        if self.type is None:
            return pa.array(map(_text, values), pa.string())
        return pa.array(values, self.type)


def detect_avro(path: TablePath) -> Layout:
    with open_bytes(path, "") as file:
        refuse_empty(file.read(4096))
    with _opened(path) as (_, fields):
        names = [".".join(field.path) for field in fields]
    if not names:
        raise UnreadableTable("no columns")
    return Layout(format=FORMAT, columns=distinct_names(names))


def read_avro(path: TablePath, layout: Layout, part: Part, counter: RowCounter) -> Iterator[pa.RecordBatch]:
    with _opened(path) as (records, fields):
        names = [".".join(field.path) for field in fields]
        while held := list(itertools.islice(records, ROWS_AT_ONCE)):
            batch = pa.RecordBatch.from_arrays([field.column(held) for field in fields], names=names)
            for piece in bounded(batch):
                counter.rows += piece.num_rows
                yield string_batch(piece, layout.columns)


def split_avro(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    """The whole: where blocks begin is known only by reading them."""
    return [Part()]


def _fields(schema: Any) -> list[_Field]:
    """The columns of a file of records."""
    if not _is_record(schema):
        raise UnreadableTable("not a table: Avro values that are not records")
    named = dict(_named(schema))
    require_bytes(schema, named)
    return list(_leaves((), schema, named, ()))


def _leaves(path: tuple[str, ...], schema: Any, named: Mapping[str, Any], around: tuple[str, ...]) -> Iterator[_Field]:
    """The columns of a field: several of a record. A record that holds itself is JSON text there."""
    schema = _without_null(schema, named)
    if not _is_record(schema) or schema["name"] in around:
        yield _Field(path, _arrow_type(schema))
        return
    for field in schema["fields"]:
        yield from _leaves((*path, field["name"]), field["type"], named, (*around, schema["name"]))


def _is_record(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema["type"] == "record"


def _named(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every type that is defined in a schema, by its full name, which the rest of the schema may use."""
    if isinstance(schema, list):
        for one in schema:
            yield from _named(one)
    elif isinstance(schema, Mapping):
        if "name" in schema:
            yield schema["name"], schema
        below = [field["type"] for field in schema.get("fields", ())]
        for one in (*below, schema.get("items"), schema.get("values")):
            yield from _named(one)


def _without_null(schema: Any, named: Mapping[str, Any]) -> Any:
    """The type of a field whose values may be missing."""
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        schema = others[0] if len(others) == 1 else schema
    return named.get(schema, schema) if isinstance(schema, str) else schema


def _arrow_type(schema: Any) -> pa.DataType | None:
    """The type whose text a value of Parquet would have, too."""
    about = schema if isinstance(schema, Mapping) else {"type": schema}
    logical = about.get("logicalType", "")
    if logical == _DECIMAL:
        precision, scale = about["precision"], about.get("scale", 0)
        return pa.decimal256(precision, scale) if precision <= _WIDEST_DECIMAL else None
    if logical == "uuid" or not isinstance(about["type"], str):
        return None
    return _LOGICAL_TYPES.get(logical) or _TYPES.get(about["type"])


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json_text(value) if isinstance(value, bool | list | dict) else json_other(value)


@contextmanager
def _opened(path: TablePath) -> Iterator[tuple[Iterator[Any], list[_Field]]]:
    """The file's records, and their columns."""
    try:
        import fastavro
        from fastavro.schema import SchemaParseException
    except ModuleNotFoundError as error:
        raise InputError("Avro files need the package fastavro. Run `pip install 'dovetail-lake[files]'`.") from error
    with path.open("rb") as file:
        guarded = GuardedFile(file)
        with broken("Avro file", *_DAMAGE, SchemaParseException):
            blocks = fastavro.block_reader(guarded)
            guarded.codec = blocks.codec
            fields = _fields(blocks.writer_schema)
        yield _records(blocks), fields


def _records(blocks: Any) -> Iterator[Any]:
    with broken("Avro file", *_DAMAGE):
        for block in blocks:
            yield from block


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
