"""Rows of a graph to a file, batch by batch: `.parquet`, `.csv`, `.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from dovetail._output import check_place, whole_file
from dovetail.errors import InputError

SUFFIXES = (".json", ".csv", ".parquet")


def check_suffix(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Before work that may take long."""
    if path.suffix not in suffixes:
        raise InputError(f"Cannot write {path.suffix or 'a file without suffix'}: use {', '.join(suffixes)}.")
    check_place(path)


def write_batches(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Write all batches; returns the number of rows."""
    check_suffix(path)
    write = {".json": _write_json, ".csv": _write_csv, ".parquet": _write_parquet}[path.suffix]
    with whole_file(path) as draft:
        return write(draft, schema, batches)


def _write_parquet(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    rows = 0
    numbers = [field.name for field in schema if pa.types.is_floating(field.type)]
    # Least and greatest names of a part that has them all say nothing, and cost more than writing them.
    with pyarrow.parquet.ParquetWriter(path, schema, write_statistics=numbers) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += len(batch)
    return rows


def _write_csv(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Lists become text with a comma between their items."""
    rows = 0
    flat = pa.schema([(field.name, _flat(field.type)) for field in schema])
    with pyarrow.csv.CSVWriter(path, flat) as writer:
        for batch in batches:
            columns = [_text(column) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=flat))
            rows += len(batch)
    return rows


def _write_json(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """One list, a row a line."""
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for batch in batches:
            for row in batch.to_pylist():
                file.write(("\n" if rows == 0 else ",\n") + json.dumps(row, ensure_ascii=False))
                rows += 1
        file.write("\n]\n")
    return rows


def _flat(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_list(kind) or pa.types.is_dictionary(kind) else kind


def _text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    if pa.types.is_list(column.type):
        values = column.flatten()
        texts = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
        return pc.binary_join(pa.ListArray.from_arrays(column.offsets, texts), ",")
    return column
