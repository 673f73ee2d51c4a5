"""More than two tables, one after the other, on the best predicate that connects them all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import NamedPredicate, named_predicates
from dovetail.join.execute import execute
from dovetail.join.keys import equal_keys, no_keys
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.join.sql import result_names
from dovetail.tables.input_table import InputTable


def join_many(tables: Sequence[InputTable], request: JoinRequest) -> JoinResult:
    """Join the tables step by step. Returns the result of the last step, with all steps."""
    begun = time.perf_counter()
    if request.how in ("semi", "anti"):
        raise InputError(f"A {request.how} join takes two tables.")
    if request.on is not None or request.by not in (None, "equal"):
        raise InputError("More than two tables are joined on columns that Dovetail finds; drop `on` and `by`.")
    found = named_predicates(tables, request.prefer, 1, request.seconds)
    if not len(found):
        why = "No columns with equal values connect all tables."
        if not found.complete:
            why = f"No columns with equal values that connect all tables were found in {request.seconds:g} seconds."
        keys = no_keys(tables[0], tables[1])
        return replace(execute(tables[0], tables[1], keys, request, "equal", ((), ())), why=why)
    order, steps = _steps(tables, found[0], request)
    why = f"Of the columns that connect all tables, these score best by {found.prefer}: {found[0].score:g}."
    if not found.complete:
        why = f"The best by {found.prefer} that was found within {request.seconds:g} seconds: {found[0].score:g}."
    return replace(
        steps[-1],
        steps=steps,
        order=order,
        why=why,
        prefer=found.prefer,
        score=found[0].score,
        complete=found.complete,
        seconds=round(time.perf_counter() - begun, 3),
    )


def _steps(
    tables: Sequence[InputTable], predicate: NamedPredicate, request: JoinRequest
) -> tuple[tuple[int, ...], tuple[JoinResult, ...]]:
    """Each table is joined as soon as it connects to those before, on all pairs with them."""
    order = [0]
    whole = tables[0]
    name_of = {(0, name): name for name in tables[0].names}
    steps: list[JoinResult] = []
    while len(order) < len(tables):
        for table in (table for table in range(len(tables)) if table not in order):
            on = [(name_of[other], column) for other, column in _pairs_with(predicate, table) if other[0] in order]
            if on:
                break
        columns = tuple(a for a, _ in on), tuple(b for _, b in on)
        step = execute(whole, tables[table], equal_keys(whole, tables[table], on), request, "equal", columns)
        names = [name for name in tables[table].names if name not in step.common_keys]
        renamed = result_names(whole.names, names, request.suffix)
        name_of |= {(table, name): name for name in step.common_keys}
        name_of |= {(table, name): new for name, new in zip(names, renamed, strict=True)}
        whole = InputTable.of_text(step.table, "joined", step.frame)
        order.append(table)
        steps.append(step)
    return tuple(order), tuple(steps)


def _pairs_with(predicate: NamedPredicate, table: int) -> list[tuple[tuple[int, str], str]]:
    """The pairs of a table: the other table with its column, and the own column."""
    forth = [((pair.left_table, pair.left), pair.right) for pair in predicate.pairs if pair.right_table == table]
    back = [((pair.right_table, pair.right), pair.left) for pair in predicate.pairs if pair.left_table == table]
    return forth + back
