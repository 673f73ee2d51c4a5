"""Frames of other libraries: to Arrow, and back to the kind that went in.

A library is imported only if one of its frames was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.catalog.profile import count_values
from dovetail.errors import InputError
from dovetail.normalise import decide, normalise

_LISTS = Sequence | set | frozenset | np.ndarray | pa.Array | pa.ChunkedArray
_TYPES = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def to_arrow(data: Any) -> pa.Table:
    """A frame (pandas, polars, Spark, DuckDB, whatever has an Arrow stream), a dict of columns, or some values."""
    data = _with_columns(data)
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, dict):
        arrays = {str(name): _values(values) for name, values in data.items()}
        if len({len(array) for array in arrays.values()}) > 1:
            raise InputError("The columns of a table must have the same length.")
        return pa.table(arrays)
    if _library(data) == "pandas":
        # By position: a frame may have two columns of one name.
        columns = [_values(data.iloc[:, place]) for place in range(len(data.columns))]
        return pa.Table.from_arrays(columns, [str(name) for name in data.columns])
    if _library(data) == "polars":
        return data.to_arrow()
    if _library(data) == "pyspark":
        return _of_spark(data)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    raise InputError(
        f"A {type(data).__name__} is not a table: give a path, a table of the lake by name, a pandas, polars, Spark "
        "or Arrow table, or a list of values."
    )


def _of_spark(frame: Any) -> pa.Table:
    """All rows of a Spark DataFrame; moments in UTC, as files have them."""
    table = frame.toArrow() if hasattr(frame, "toArrow") else pa.Table.from_pandas(frame.toPandas())
    for place, column in enumerate(table.columns):
        if pa.types.is_timestamp(column.type) and column.type.tz:
            table = table.set_column(place, table.field(place).name, column.cast(pa.timestamp("us", "UTC")))
    return table


def like(data: Any, rows: pa.Array, others: pa.Table, keys: pa.Table | None = None) -> Any:
    """My `rows` (null: none of mine) beside the columns of `others`, as the kind of frame that `data` is.

    My columns keep their types. A dict, a list and the like become an Arrow table. `keys` has values for columns of
    mine in rows that are none of mine.
    """
    data = _with_columns(data)
    keys = keys if keys is not None and rows.null_count else pa.table({})
    if _library(data) == "pandas":
        import pandas as pd

        if rows.null_count:
            data = _nullable(data)
        # No row has the number -1: pandas fills those.
        mine = data.set_axis(range(len(data))).reindex(rows.fill_null(-1).to_numpy(zero_copy_only=False))
        mine = mine.reset_index(drop=True)
        missing = pc.is_null(rows).to_numpy(zero_copy_only=False)
        for name, column in _to_pandas(keys).items():
            mine[name] = mine[name].where(~missing, column)
        return pd.concat([mine, _to_pandas(others)], axis=1)
    table = to_arrow(data).take(rows)
    for name in keys.column_names:
        table = table.set_column(table.column_names.index(name), name, _filled(table[name], rows, keys[name]))
    for name, column in zip(others.column_names, others.columns, strict=True):
        table = table.append_column(name, column)
    return of_kind(data, table)


def _filled(mine: pa.ChunkedArray, rows: pa.Array, theirs: pa.ChunkedArray) -> pa.ChunkedArray:
    """My values, and theirs where a row is none of mine; as text where no type holds both."""
    try:
        kinds = [pa.schema([("", column.type)]) for column in (mine, theirs)]
        kind = pa.unify_schemas(kinds, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        kind = pa.string()
    return pc.if_else(pc.is_null(rows), theirs.cast(kind), mine.cast(kind))


def of_kind(data: Any, table: pa.Table) -> Any:
    """A table as the kind of frame that `data` is."""
    library = _library(data)
    if library == "pandas":
        return _to_pandas(table)
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    return table


def dates_of_midnights(table: pa.Table) -> pa.Table:
    """The table with dates for timestamps that are all at midnight, as which pandas and polars have dates."""
    for place, column in enumerate(table.columns):
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            dates = column.cast(pa.date32(), safe=False)
            if pc.all(pc.equal(dates.cast(column.type), column)).as_py() is not False:
                table = table.set_column(place, table.column_names[place], dates)
    return table


def _to_pandas(table: pa.Table) -> Any:
    """As pandas; whole numbers and booleans keep their types if some are missing."""
    import pandas as pd

    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame = table.to_pandas()
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if column.null_count and column.type in kinds:
            frame.isetitem(place, pd.Series(column.to_pandas(types_mapper=kinds.get), name=name))
    return frame


def _nullable(frame: Any) -> Any:
    """The frame with types that can have missing values, because rows of it will be missing."""
    kinds = {"i": "Int64", "u": "UInt64", "b": "boolean"}
    wanted = {place: kinds.get(getattr(dtype, "kind", "")) for place, dtype in enumerate(frame.dtypes)}
    changed = frame.copy(deep=False)
    for place, kind in wanted.items():
        if kind and isinstance(frame.dtypes.iloc[place], np.dtype):
            changed.isetitem(place, frame.iloc[:, place].astype(kind))
    return changed


def typed(table: pa.Table) -> pa.Table:
    """The table with numbers, dates and booleans for columns that have nothing else. Codes like 007 stay text."""
    return pa.table({name: _typed(column) for name, column in zip(table.column_names, table.columns, strict=True)})


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    column_type = decide(count_values(column).evidence)
    wanted = _TYPES.get(column_type.kind)
    if wanted is None or (column_type.kind == "date" and not column_type.date_format):
        return column
    tokens = [normalise(chunk, column_type) for chunk in column.chunks]
    if column_type.kind == "timestamp":  # tokens are in lower case; moments with a zone stay text, as written
        tokens = [pc.utf8_upper(chunk) for chunk in tokens]
    try:
        return pa.chunked_array([chunk.cast(wanted) for chunk in tokens], wanted)
    except pa.ArrowInvalid:  # such as a number of twenty digits
        return column


def is_list(data: Any) -> bool:
    """Whether this is values without columns: a list, set, array or series."""
    return isinstance(data, _LISTS) or _is_series(data)


def _is_series(data: Any) -> bool:
    return hasattr(data, "to_frame") and _library(data) in ("pandas", "polars")


def _with_columns(data: Any) -> Any:
    """A series, list or array as a table of one column, of the same library or of Arrow."""
    if _is_series(data):
        return data.to_frame(name=str(data.name or "values"))
    if hasattr(data, "collect") and _library(data) == "polars":  # a lazy frame
        return data.collect()
    if isinstance(data, _LISTS):
        return pa.table({"values": _values(data)})
    return data


def _library(data: Any) -> str:
    """The library of a frame; subclasses count as their parents."""
    modules = {parent.__module__.partition(".")[0].lstrip("_") for parent in type(data).__mro__}
    return next((name for name in ("pandas", "polars", "duckdb", "pyspark") if name in modules), "")


def _values(values: Any) -> Any:
    """An Arrow array; values of several types in one column become text, as a file would have them."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    listed = values if hasattr(values, "dtype") else list(values)
    try:
        return pa.array(listed, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None or value != value else str(value) for value in listed], pa.string())
