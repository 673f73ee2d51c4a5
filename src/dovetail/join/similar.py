"""The keys of a join by similarity: which columns are compared, which table has the keys, and what each row means."""

from __future__ import annotations

from typing import NamedTuple

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.join.keys import JoinKeys, TextRows, equal_keys, similar_keys
from dovetail.join.request import JoinRequest
from dovetail.similar.columns import choose_columns, directed_way, together
from dovetail.similar.matching import FindBest
from dovetail.tables.input_table import InputTable

ColumnNames = tuple[tuple[str, ...], tuple[str, ...]]
"""Of the left table and of the right one."""


class SimilarJoin(NamedTuple):
    columns: ColumnNames
    keys: JoinKeys


def similar_join(
    left: InputTable,
    right: InputTable,
    names: ColumnNames | None,
    request: JoinRequest,
    deadline: Deadline | None,
    counts: tuple[Array | None, Array | None] = (None, None),
    find_best: FindBest | None = None,
) -> SimilarJoin | None:
    """The columns, found if none are named, and the keys; None if no text columns correspond.

    `counts` says how many rows each row of either table stands for, if not one; `find_best` is as in `similar_pairs`.
    """
    tables = left, right
    of_tables = names or (_texts(left), _texts(right))
    texts = [{name: table.values(name) for name in of} for table, of in zip(tables, of_tables, strict=True)]
    compared = (
        choose_columns(texts[0], texts[1], deadline)
        if names is None
        else directed_way(texts[0], names[0], texts[1], names[1], counts=counts)
    )
    if compared is None:
        return None
    source, target = texts[::-1] if compared.reversed else texts
    blocks = _blocks(left, right, request, compared.reversed)
    values = TextRows.of_rows(together(source, compared.source), blocks[0])
    keys = TextRows.of_rows(together(target, compared.target), blocks[1])
    columns = (compared.target, compared.source) if compared.reversed else (compared.source, compared.target)
    found = similar_keys(
        values, keys, int(compared.reversed), request.min_similarity, request.one_to_one, find_best=find_best
    )
    return SimilarJoin(columns, found)


def equal_pair(request: JoinRequest) -> tuple[str, str] | None:
    """The columns that must be equal as well."""
    return (request.equal, request.equal) if isinstance(request.equal, str) else request.equal


def _texts(table: InputTable) -> tuple[str, ...]:
    return tuple(name for name in table.names if table.column(name).is_text)


def _blocks(
    left: InputTable, right: InputTable, request: JoinRequest, turned: bool
) -> tuple[Array | None, Array | None]:
    """The number of the block of each row of the source and of the target: only rows of one block join."""
    pair = equal_pair(request)
    if pair is None:
        return None, None
    keys = equal_keys(left, right, [pair])
    return (keys.right, keys.left) if turned else (keys.left, keys.right)
