"""`dovetail.union`: append files, frames and tables of a lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.tables.input_table import open_table
from dovetail.union.append import UnionResult, append_tables


def union(data: Any, *tables: Any, all_columns: bool = False, index: str | Path | None = None) -> UnionResult:
    """Append `tables` to `data`: paths, frames, dicts of columns, or with `index` tables of the lake.

    Each column of `data` gets the values of the column that most likely holds the same attribute, by values, names,
    types and spelling; null where there is none. Columns that `data` does not have are left out, unless `all_columns`
    is set. Returns a `UnionResult`: `.frame` has all rows as the kind of frame that `data` is, with a column `origin`
    that names the table of each row; `.report` says which columns correspond.
    """
    if not tables:
        raise InputError("A union needs at least two tables; `lake.union(data)` finds them.")
    segments = None
    if index is not None:
        from dovetail.api.lake import Lake

        segments = Lake(index).segments
    mine, *others = (open_table(table, f"table_{n + 1}", segments) for n, table in enumerate((data, *tables)))
    return append_tables(mine, others, all_columns)
