"""The verbs `join` and `predicates` for Python: files and frames, no index."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import SECONDS, Predicates, named_predicates
from dovetail.join.joined import MOST_ROWS
from dovetail.join.many_tables import ManyTables, join_many
from dovetail.join.two_tables import Asked, TwoTables, join_two
from dovetail.tables.column_names import Names
from dovetail.tables.side import Side, side
from dovetail.transform.transformation import Transformation


def join(
    left: Any,
    right: Any,
    *more: Any,
    by: str | Transformation | None = None,
    equal: str | tuple[str, str] | None = None,
    prefer: str | None = None,
    how: str = "inner",
    on: Names | None = None,
    seconds: float = SECONDS,
    most_rows: int = MOST_ROWS,
) -> TwoTables | ManyTables:
    """Join tables (paths or frames) that need not say how.

    `on` names the columns, as `lake.join` takes them. Without it, the columns whose equal values join best are found,
    by the preference `prefer`; where these say too little, a transformation of one table's values into the other's key,
    or their likeness. `by` allows one way only: equal, transform or fuzzy; or it is a transformation that was learned
    before. With likeness alone, `equal` names a column (of both, or one of each) that must be equal beside it. More
    than two tables are joined on equal values. `seconds` bound the search for columns; a join of more than `most_rows`
    rows is refused before it is made.
    """
    begun = time.perf_counter()
    asked = Asked(on, how, by, prefer, seconds, most_rows, equal)
    asked.check()
    sides = _sides(left, right, *more)
    answer = join_many(sides, asked) if more else join_two(sides[0], sides[1], asked)
    return replace(answer, seconds=round(time.perf_counter() - begun, 3))


def predicates(*tables: Any, prefer: str | None = None, k: int = 5, seconds: float = SECONDS) -> Predicates:
    """The `k` best ways to join tables on equal values, with their scores, by a preference."""
    return named_predicates([each.query for each in _sides(*tables)], prefer, k, seconds)


def _sides(*tables: Any) -> list[Side]:
    if len(tables) < 2:
        raise InputError("A join needs two tables or more.")
    names = ["left_table", "right_table"] if len(tables) == 2 else [f"table_{n + 1}" for n in range(len(tables))]
    return [
        side(data, Path(data).name if isinstance(data, str | Path) else name)
        for data, name in zip(tables, names, strict=True)
    ]
