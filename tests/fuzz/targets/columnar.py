"""Arrow and Avro, whose decoders check what they read, or are made to.

Parquet and ORC are left to the fuzzers of Arrow itself (OSS-Fuzz), since coverage of C++ does not show here.
"""

from __future__ import annotations

import io

import fastavro
import pyarrow as pa

from targets.files import read_whole, seed, split

_SUFFIXES = (".arrow", ".avro")
_TABLE = pa.table({"id": [1, 2, None], "name": ["one", None, "three"], "list": [[1], [], None]})


def _arrow(stream: bool) -> bytes:
    made = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(made, _TABLE.schema) as writer:
        writer.write_table(_TABLE)
    return made.getvalue()


def _avro(codec: str) -> bytes:
    made = io.BytesIO()
    fields = [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}]
    fields.append({"name": "many", "type": {"type": "array", "items": "int"}})
    schema = {"type": "record", "name": "r", "fields": fields}
    rows = [{"id": 1, "name": "one", "many": [1, 2]}, {"id": 2, "name": None, "many": []}]
    fastavro.writer(made, schema, rows, codec=codec, sync_marker=b"s" * 16)
    return made.getvalue()


SEEDS = [seed(0, _arrow(True)), seed(0, _arrow(False)), seed(1, _avro("null")), seed(1, _avro("deflate"))]


def check(data: bytes) -> None:
    suffix, content = split(data, _SUFFIXES)
    read_whole(f"table{suffix}", content)
