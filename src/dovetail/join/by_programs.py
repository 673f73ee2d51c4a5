"""The join of two tables by programs that are known: what one side's rows are made into equals a column of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dovetail.catalog.profile import count_values
from dovetail.errors import UnknownName, unknown
from dovetail.join.equi import Joined, equi_join
from dovetail.join.transform.apply import made_by
from dovetail.join.transform.operators import Program
from dovetail.normalise import decide, normalise

_MADE = "made by the program"


@dataclass(frozen=True)
class ByPrograms:
    """How to join: the programs, each for the rows that those before it leave, and the column that they reach."""

    programs: tuple[Program, ...]
    reversed: bool  # the right table is transformed, to meet a column of the left one
    target: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the programs read, in the order of their first use."""
        return tuple(dict.fromkeys(name for program in self.programs for name in program.columns))

    def join(self, left: pa.Table, right: pa.Table, how: str, data: Any = None, first: int | None = None) -> Joined:
        source, target = (right, left) if self.reversed else (left, right)
        _require(source, self.columns)
        _require(target, [self.target])
        made = _free(_MADE, source.column_names)
        transformed = source.append_column(made, self._made(source, target.column(self.target)))
        sides = (left, transformed) if self.reversed else (transformed, right)
        on = [(self.target, made)] if self.reversed else [(made, self.target)]
        joined = equi_join(*sides, on, how, data, first)
        shown = tuple((self.target, name) if self.reversed else (name, self.target) for name in self.columns)
        return replace(joined, left=left, right=right, on=shown)

    def _made(self, source: pa.Table, target: pa.ChunkedArray) -> pa.Array:
        column_type = decide(count_values(target).evidence)

        def normal(values: pa.Array) -> pa.Array:
            return normalise(values, column_type)

        wanted = pa.chunked_array([normal(chunk) for chunk in target.chunks], normal(pa.array([], pa.string())).type)
        columns = {name: source.column(name).to_pylist() for name in self.columns}
        return made_by(self.programs, columns, normal, wanted.cast(pa.large_string()).combine_chunks())


def _require(table: pa.Table, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.column_names:
            raise UnknownName(unknown("There is no column", name, table.column_names))


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
