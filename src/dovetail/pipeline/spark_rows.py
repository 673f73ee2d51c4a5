"""Typed rows, from Spark or from its files, as staged slices of text: the same for both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from dovetail._storage.store import open_store
from dovetail.catalog.profile import count_columns
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.strings import bounded, string_batch
from dovetail.pipeline.staging import write_slice
from dovetail.pipeline.work import SLICES


def stage_rows(batches: Iterable[pa.RecordBatch], layout: Layout, shared: str, slice_bytes: int) -> dict[str, Any]:
    """Stage the rows; returns the slices and how many rows they have."""
    counter = RowCounter()
    with open_store(shared).publish(SLICES) as folder:
        portions = _portions(batches, layout, counter, slice_bytes)
        slices = [write_slice(count_columns(table, layout.hashed), folder) for table in portions]
    return {"slices": [vars(piece) for piece in slices], "counter": vars(counter)}


def _portions(
    batches: Iterable[pa.RecordBatch], layout: Layout, counter: RowCounter, portion_bytes: int
) -> Iterator[pa.Table]:
    """The rows as text, a table for about every `portion_bytes`."""
    columns, kept = layout.whole.columns, layout.kept
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        for piece in bounded(_in_utc(batch)):
            held.append(string_batch(piece, columns).select(kept))
            counter.rows += piece.num_rows
            size += held[-1].nbytes
            if size >= portion_bytes:
                yield pa.Table.from_batches(held)
                held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Moments as files have them, whatever the session's time zone is."""
    types = [_utc_type(field.type) for field in batch.schema]
    if types == batch.schema.types:
        return batch
    columns = [column.cast(type_) for column, type_ in zip(batch.columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _utc_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp(type_.unit, "UTC")
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_utc_type(field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_utc_type(type_.value_type)))
    return type_
