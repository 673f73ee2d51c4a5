"""Answers with many rows: Arrow batches, best first, to a frame or a file, never one object per row."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._output import check_place, csv_text, whole_file
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.indexes.tokens.format import running_sum
from dovetail.results import html_table

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".json", ".csv", ".parquet")
_SHOWN = 20  # rows in a notebook
_REPR_ROWS = 5
_NAME = pa.dictionary(pa.int32(), pa.string())
DEPENDENCY_SCHEMA = pa.schema(
    [
        ("dependent_table", _NAME),
        ("dependent_columns", pa.list_(_NAME)),
        ("referenced_table", _NAME),
        ("referenced_columns", pa.list_(_NAME)),
        ("containment", pa.float64()),
        ("coverage", pa.float64()),
        ("score", pa.float64()),
        ("decided", pa.string()),
    ]
)


class ArrowAnswer(ABC):
    """An answer of ranked rows. Subclasses provide their number and their batches."""

    schema: pa.Schema = DEPENDENCY_SCHEMA
    rows_are = "rows"
    """What `repr` calls the rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows, best first; with `limit`, at least so many of them."""

    def to_arrow(self, limit: int | None = None) -> pa.Table:
        """All rows, or the best `limit`."""
        batches, rows = [], 0
        for batch in self.batches(limit):
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
        """Write all rows to a .json, .csv or .parquet file, batch by batch; returns the number of rows."""
        return _write_batches(Path(path), self.schema, self.batches())

    def __repr__(self) -> str:
        lines = [f"<{len(self):,} {self.rows_are}>"]
        lines += [f"  {_one_line(row)}" for row in self.to_dicts(_REPR_ROWS)]
        if len(self) > _REPR_ROWS:
            lines.append(f"  … and {len(self) - _REPR_ROWS:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[_cell(value) for value in row.values()] for row in self.to_dicts(_SHOWN)]
        shown = f"the first {len(rows)} of " if len(rows) < len(self) else ""
        return f"{html_table(self.schema.names, rows)}<p>{shown}{len(self):,} {self.rows_are}</p>"


def check_suffix(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Refuse a file that cannot be written, before the work that leads to it."""
    if path.suffix not in suffixes:
        raise InputError(f"Cannot write {path.suffix or 'a file without suffix'}: use {', '.join(suffixes)}.")
    check_place(path)


def named_columns(columns: LakeColumns, tables: Array, names: Array) -> tuple[pa.Array, pa.Array]:
    """Tables by their numbers, and lists of one column each, by the numbers of their names."""
    return _named(columns, tables, names, np.arange(len(names) + 1, dtype=np.int32))


def named_lists(columns: LakeColumns, numbers: Array, offsets: Array) -> tuple[pa.Array, pa.Array]:
    """The tables of lists of columns, none of them empty, and the lists."""
    tables = columns.table_of[numbers[offsets[:-1]]].astype(np.int32)
    return _named(columns, tables, columns.name_of[numbers], offsets.astype(np.int32))


def list_members(offsets: Array, places: Array) -> tuple[Array, Array]:
    """The offsets of the lists at these places, and where their members are."""
    lengths = np.diff(offsets)[places]
    chosen = running_sum(lengths)
    return chosen, np.repeat(offsets[places] - chosen[:-1], lengths) + np.arange(chosen[-1])


def _named(columns: LakeColumns, tables: Array, names: Array, offsets: Array) -> tuple[pa.Array, pa.Array]:
    lists = pa.DictionaryArray.from_arrays(pa.array(names), columns.distinct_names)
    return (
        pa.DictionaryArray.from_arrays(pa.array(tables), columns.table_names),
        pa.ListArray.from_arrays(pa.array(offsets), lists),
    )


def _one_line(row: dict[str, Any]) -> str:
    """A row of an answer as one readable line."""
    if "dependent_table" in row:
        sides = (f"{row[f'{s}_table']} ({', '.join(row[f'{s}_columns'])})" for s in ("dependent", "referenced"))
        return f"{row['score']:.2f}  {' → '.join(sides)}"
    return f"{row['score']:.2f}  {row['table']} ({', '.join(row['columns'])})"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "; ".join(value) if isinstance(value, list) else str(value)


def _write_batches(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Write all batches; returns the number of rows."""
    check_suffix(path)
    write = {".json": _write_json, ".csv": _write_csv, ".parquet": _write_parquet}[path.suffix]
    with whole_file(path) as draft:
        return write(draft, schema, batches)


def _write_parquet(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    import pyarrow.parquet

    rows = 0
    numbers = [field.name for field in schema if pa.types.is_floating(field.type)]
    # Statistics of names would say nothing, as every row group has nearly all, and cost more than writing them.
    with pyarrow.parquet.ParquetWriter(path, schema, write_statistics=numbers) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += len(batch)
    return rows


def _write_csv(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Lists become text, separated by commas."""
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_text(schema.empty_table()))
        for batch in batches:
            columns = {name: _text(column) for name, column in zip(schema.names, batch.columns, strict=True)}
            file.writelines(itertools.islice(csv_text(pa.table(columns)), 1, None))  # without the header
            rows += len(batch)
    return rows


def _write_json(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """One array, one row per line."""
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for batch in batches:
            for row in batch.to_pylist():
                file.write(("\n" if rows == 0 else ",\n") + json.dumps(row, ensure_ascii=False))
                rows += 1
        file.write("\n]\n")
    return rows


def _text(column: pa.Array) -> pa.Array:
    if not pa.types.is_list(column.type):
        return column
    return pc.binary_join(pa.ListArray.from_arrays(column.offsets, column.values.cast(pa.string())), ",")
