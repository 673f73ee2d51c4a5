"""Tables appended to mine: the rows of all, under my columns, and where each row comes from."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from dovetail._text import table_lines
from dovetail.errors import InputError
from dovetail.lake.layout import distinct_names
from dovetail.results import html_table
from dovetail.tables.frames import of_kind, to_arrow, typed
from dovetail.tables.input_table import InputTable
from dovetail.union.alignment import Alignment, align
from dovetail.union.summary import summaries

ORIGIN = "origin"
_SHOWN_ROWS, _SHOWN_COLUMNS = 10, 8


@dataclass(frozen=True, repr=False)
class UnionResult:
    """Tables appended to the first: `frame` and `table` have all rows, `report` says how the columns correspond."""

    tables: tuple[InputTable, ...]
    alignments: tuple[Alignment, ...]  # of each but the first with the first
    all_columns: bool  # also those that the first table does not have

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @cached_property
    def _layout(self) -> tuple[tuple[str, ...], list[dict[int, str]]]:
        """The names of the columns, and for each table which of its columns goes where."""
        mine = self.tables[0].names
        sources = [dict(enumerate(mine))]
        extra: dict[str, int] = {}
        for alignment in self.alignments:
            places = {mine.index(pair.mine): pair.theirs for pair in alignment.pairs}
            for name in alignment.only_theirs if self.all_columns else ():
                places[extra.setdefault(name.casefold(), len(mine) + len(extra))] = name
            sources.append(places)
        spelled = {place: name for source in reversed(sources) for place, name in source.items()}
        names = distinct_names([*(spelled[place] for place in range(len(mine) + len(extra))), ORIGIN])
        return names, sources

    @cached_property
    def table(self) -> pa.Table:
        """All rows as an Arrow table of text, as in the files."""
        return self._appended([table.text for table in self.tables])

    @cached_property
    def frame(self) -> Any:
        """All rows as the kind of frame that the first table is, with its types; an Arrow table for a file."""
        mine = self.tables[0]
        first = typed(mine.text) if mine.data is None else to_arrow(mine.data).rename_columns(mine.names)
        table = self._appended([first, *(typed(table.text) for table in self.tables[1:])])
        return table if mine.data is None else of_kind(mine.data, table)

    def _appended(self, contents: Sequence[pa.Table]) -> pa.Table:
        names, sources = self._layout
        columns = []
        for place in range(len(names) - 1):
            parts = [
                content[source[place]] if place in source else pa.nulls(content.num_rows)
                for content, source in zip(contents, sources, strict=True)
            ]
            columns.append(_concatenated(parts))
        origins = [pa.array([table.name] * table.rows, pa.string()) for table in self.tables]
        return pa.Table.from_arrays([*columns, pa.chunked_array(origins, pa.string())], list(names))

    @property
    def report(self) -> dict[str, Any]:
        """Everything about the union except its rows, as `dovetail union --json` prints it."""
        appended = zip(self.tables[1:], self.alignments, strict=True)
        return {
            "table": self.tables[0].name,
            "rows": self.rows,
            "columns": list(self._layout[0]),
            "appended": [
                {
                    "table": table.name,
                    "rows": table.rows,
                    "columns": [pair.to_dict() for pair in alignment.pairs],
                    "only_mine": list(alignment.only_mine),
                    "only_theirs": list(alignment.only_theirs),
                }
                for table, alignment in appended
            ],
        }

    @property
    def sentence(self) -> str:
        return f"{self.rows:,} rows of {len(self.tables)} tables under {len(self._layout[0]) - 1} columns."

    def __repr__(self) -> str:
        return "\n".join([f"<{self.sentence}>", *table_lines(*self.shown())])

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>" + html_table(*self.shown())

    def shown(self) -> tuple[list[str], list[list[str]]]:
        """The first rows and columns, and the origin."""
        names = list(dict.fromkeys([*self.table.column_names[:_SHOWN_COLUMNS], self.table.column_names[-1]]))
        rows = self.table.select(names).slice(0, _SHOWN_ROWS).to_pylist()
        return names, [[value or "" for value in row.values()] for row in rows]


def append_tables(mine: InputTable, others: Sequence[InputTable], all_columns: bool = False) -> UnionResult:
    """Append tables to mine, each with its columns aligned to mine."""
    known = summaries(mine)
    alignments = []
    for other in others:
        aligned = align(known, summaries(other))
        if not aligned.pairs:
            raise InputError(f"No column of {other.name} corresponds to a column of {mine.name}.")
        alignments.append(aligned)
    return UnionResult((mine, *others), tuple(alignments), all_columns)


def _concatenated(parts: Sequence[pa.Array | pa.ChunkedArray]) -> pa.ChunkedArray:
    """In the type of the first part that has one, if all values have it; or else as numbers or as text."""
    known = [part.type for part in parts if not pa.types.is_null(part.type)]
    wanted = known[0] if known else pa.string()
    if any(each != wanted for each in known) and not all(_fits(part, wanted) for part in parts):
        numbers = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in known)
        wanted = pa.float64() if numbers else pa.string()
    return pa.chunked_array([chunk for part in parts for chunk in _chunks(part.cast(wanted))], wanted)


def _fits(part: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> bool:
    try:
        part.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _chunks(values: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]
