"""Rows of a graph as an answer: in Arrow batches, to a file or to a frame, never an object each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.graph.columns import LakeColumns
from dovetail.graph.output import write_batches

if TYPE_CHECKING:
    import pandas as pd


_NAME = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("dependent_table", _NAME),
        ("dependent_columns", pa.list_(_NAME)),
        ("referenced_table", _NAME),
        ("referenced_columns", pa.list_(_NAME)),
        ("containment", pa.float64()),
        ("coverage", pa.float64()),
        ("score", pa.float64()),
    ]
)


class Answer(ABC):
    """Best first. What a subclass has to give: its number of rows, and their batches."""

    schema: pa.Schema = SCHEMA

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]: ...

    def to_arrow(self, limit: int | None = None) -> pa.Table:
        """All rows, or the best."""
        batches, rows = [], 0
        for batch in self.batches():
            batches.append(batch if limit is None else batch.slice(0, limit - rows))
            rows += len(batches[-1])
            if limit is not None and rows >= limit:
                break
        return pa.Table.from_batches(batches, self.schema)

    def to_dicts(self, limit: int | None = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.to_arrow(limit).to_pylist()
        return rows

    def to_pandas(self) -> pd.DataFrame:
        return self.to_arrow().to_pandas()

    def write(self, path: str | Path) -> int:
        """Write all rows to a .json, .csv or .parquet file, batch by batch; returns how many."""
        return write_batches(Path(path), self.schema, self.batches())

    def _repr_html_(self) -> str:
        return str(self.to_arrow(_SHOWN).to_pandas().to_html(index=False)) + f"<p>{len(self):,} in all</p>"


_SHOWN = 20


def named(columns: LakeColumns, tables: Array, names: Array) -> tuple[pa.Array, pa.Array]:
    """Tables by their numbers, and lists of one column each, by the numbers of their names."""
    return _spelled(columns, tables, names, np.arange(len(names) + 1, dtype=np.int32))


def named_lists(columns: LakeColumns, numbers: Array, offsets: Array) -> tuple[pa.Array, pa.Array]:
    """The tables of lists of columns, none of them empty, and the lists."""
    tables = columns.table_of[numbers[offsets[:-1]]].astype(np.int32)
    return _spelled(columns, tables, columns.name_of[numbers], offsets.astype(np.int32))


def _spelled(columns: LakeColumns, tables: Array, names: Array, offsets: Array) -> tuple[pa.Array, pa.Array]:
    lists = pa.DictionaryArray.from_arrays(pa.array(names), columns.distinct_names)
    return (
        pa.DictionaryArray.from_arrays(pa.array(tables), columns.table_names),
        pa.ListArray.from_arrays(pa.array(offsets), lists),
    )
