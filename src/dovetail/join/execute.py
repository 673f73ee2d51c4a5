"""Makes the rows of a join from the keys of both tables. Every method, kind and number of tables comes here."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.join.best_predicate.kernels import rows_by_code
from dovetail.join.kernels import matches
from dovetail.join.keys import JoinKeys
from dovetail.join.matches import Matches
from dovetail.join.request import VALIDATIONS, JoinRequest
from dovetail.join.result import JoinResult
from dovetail.tables.input_table import InputTable


def execute(
    left: InputTable,
    right: InputTable,
    keys: JoinKeys,
    request: JoinRequest,
    by: str,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    first: int | None = None,
) -> JoinResult:
    """Join the rows with the same key, which comes from `columns` of both tables.

    With `first`, only so many rows are made. Keys are counted before anything is joined: a join of more than `max_rows`
    rows is refused, and so is one on columns that were not named if it multiplies rows (`max_growth`).
    """
    mine, theirs = keys.left, keys.right
    counts = [np.bincount(codes[codes >= 0], minlength=keys.size) for codes in (mine, theirs)]
    has_partner = np.append(counts[1], 0)[mine] > 0  # the last place is for null, whose code is -1
    matched = int(has_partner.sum()), int(counts[1][counts[0] > 0].sum())
    _check_cardinality(counts, request.validate, (left.name, right.name))
    if first is not None:
        mine = np.where(np.cumsum(has_partner) <= first, mine, -1)
        counts[0] = np.bincount(mine[mine >= 0], minlength=keys.size)
    pairs = int(counts[0] @ counts[1])
    on = condition_of(columns)
    check_size(pairs, (left.rows, right.rows), matched, request, on)
    starts = np.concatenate([[0], np.cumsum(counts[1])])
    lefts, rights = matches(mine, starts, rows_by_code(theirs, keys.size), pairs)
    source = rights if keys.source else lefts
    found = Matches(
        lefts,
        rights,
        None if keys.origin is None else keys.origin[source],
        None if keys.similarity is None else keys.similarity[source],
    )
    return JoinResult(
        left,
        right,
        found,
        columns,
        request.how,
        by,
        matched,
        first=first,
        suffix=request.suffix,
        indicator=request.indicator,
        both_keys=request.both_keys,
    )


def condition_of(columns: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    if len(columns[0]) == len(columns[1]):
        return " and ".join(f"{mine} = {theirs}" for mine, theirs in zip(*columns, strict=True))
    return " = ".join(" and ".join(names) for names in columns)


def check_size(pairs: int, sizes: tuple[int, int], matched: tuple[int, int], request: JoinRequest, on: str) -> None:
    """Raises where a join of so many pairs of rows would be too large; `on` says on what."""
    if request.how in ("semi", "anti"):
        return
    rows = pairs
    rows += sizes[0] - matched[0] if request.how in ("left", "outer") else 0
    rows += sizes[1] - matched[1] if request.how in ("right", "outer") else 0
    if rows > request.max_rows:
        raise InputError(f"Stopped before joining: {on} would give {rows:,} rows; `max_rows` is {request.max_rows:,}.")
    larger = max(*sizes, 1)
    if request.on is None and pairs > request.max_growth * larger:
        raise InputError(
            f"Stopped before joining: {on} would give {pairs:,} rows, {pairs / larger:,.0f} for each row of the larger "
            "table. If that is intended, name the columns (`on`) or raise `max_growth`."
        )


def _check_cardinality(counts: list[Array], validate: str | None, names: tuple[str, str]) -> None:
    """As in pandas and polars: on a side called 1, keys must not repeat."""
    wanted = VALIDATIONS[validate].split(":") if validate else ("m", "m")
    for side, count, name in zip(wanted, counts, names, strict=True):
        repeated = int((count > 1).sum())
        if side == "1" and repeated:
            keys = "1 key repeats" if repeated == 1 else f"{repeated:,} keys repeat"
            raise InputError(f"This is not a {validate} join: {keys} in {name}.")
