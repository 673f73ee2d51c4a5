"""Lists of answers that show as a table in a notebook and convert to Arrow or pandas."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pyarrow as pa

from dovetail._text import table_lines

if TYPE_CHECKING:
    import pandas as pd


_SHOWN = 20  # rows that show at the prompt or in a notebook


class Row(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


T = TypeVar("T", bound=Row)


class Rows(list[T], Generic[T]):
    """A list of answers of one kind: `to_dicts()`, `to_arrow()`, `to_pandas()`; shows as a table."""

    def __init__(self, rows: Iterable[T] = ()) -> None:
        super().__init__(rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self]

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.to_dicts())

    def to_pandas(self) -> pd.DataFrame:
        return self.to_arrow().to_pandas()

    def shown(self) -> tuple[Sequence[str], list[Sequence[Any]]]:
        """What a person sees of them: headings, and a row of cells for each."""
        rows = self.to_dicts()
        return list(rows[0]) if rows else [], [list(row.values()) for row in rows]

    def __repr__(self) -> str:
        headings, rows = self.shown()
        lines = table_lines(headings, rows[:_SHOWN]) if rows else ["nothing"]
        return "\n".join([*lines, *_rest(len(rows))])

    def _repr_html_(self) -> str:
        headings, rows = self.shown()
        return html_table(headings, rows[:_SHOWN]) + "".join(f"<p>{line}</p>" for line in _rest(len(rows)))


def html_table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return "<p>nothing</p>"
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _rest(rows: int) -> list[str]:
    return [f"… and {rows - _SHOWN:,} more"] if rows > _SHOWN else []
