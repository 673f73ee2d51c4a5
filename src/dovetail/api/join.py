"""`dovetail.join` and `dovetail.predicates`: files and frames, no index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import Predicates, named_predicates
from dovetail.join.choose import join_tables
from dovetail.join.many import join_many
from dovetail.join.request import MAX_GROWTH, MAX_ROWS, SECONDS, SUFFIX, JoinRequest
from dovetail.join.result import JoinResult
from dovetail.tables.column_names import Names, paired
from dovetail.tables.input_table import InputTable, open_table
from dovetail.transform.transformation import Transformation


def join(
    left: Any,
    right: Any,
    *more: Any,
    on: Names | None = None,
    left_on: str | Sequence[str] | None = None,
    right_on: str | Sequence[str] | None = None,
    how: str = "inner",
    by: str | Transformation | None = None,
    prefer: str | None = None,
    equal: str | tuple[str, str] | None = None,
    min_similarity: float | None = None,
    one_to_one: bool = False,
    suffix: str = SUFFIX,
    validate: str | None = None,
    indicator: bool = False,
    seconds: float = SECONDS,
    max_rows: int = MAX_ROWS,
    max_growth: float = MAX_GROWTH,
) -> JoinResult:
    """Join tables (paths or frames) that need not say how.

    `on` names the columns: one name, a pair (mine, theirs), `"mine=theirs"`, or a list of these. Without it, the
    columns whose equal values join best are found, by the preference `prefer`; where these say too little, a
    transformation of one table's values into the other's key, or similar values. `by` allows one method only: equal,
    transform, similar or semantic; or it is a transformation that was learned before.

    With `by="similar"`, `equal` names columns that must be equal beside the similar ones, and several values may join
    one key unless `one_to_one`. With `min_similarity` (0 to 1), every value joins its most similar one that is at
    least so similar. More than two tables are joined on equal values.

    With `indicator`, the joined table has columns `similarity` and `origin` (equal, transformed or similar).

    `seconds` bounds the search for columns. A join of more than `max_rows` rows is refused before it is made, and so
    is one without `on` that gives more than `max_growth` rows for each row of the larger table.
    """
    request = JoinRequest(
        paired(on, left_on, right_on), how, by, prefer, equal, min_similarity, one_to_one, suffix, validate, indicator,
        seconds, max_rows, max_growth,
    )  # fmt: skip
    tables = _tables(left, right, *more)
    return join_many(tables, request) if more else join_tables(tables[0], tables[1], request)


def predicates(*tables: Any, prefer: str | None = None, k: int = 5, seconds: float = SECONDS) -> Predicates:
    """The `k` best ways to join tables on equal values, with their scores, by a preference."""
    return named_predicates(_tables(*tables), prefer, k, seconds)


def _tables(*tables: Any) -> list[InputTable]:
    if len(tables) < 2:
        raise InputError("A join needs at least two tables.")
    names = ["left_table", "right_table"] if len(tables) == 2 else [f"table_{n + 1}" for n in range(len(tables))]
    return [
        open_table(data, Path(data).name if isinstance(data, str | Path) else name)
        for data, name in zip(tables, names, strict=True)
    ]
