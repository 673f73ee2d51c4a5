"""A transformation is a value: print it, save it, apply it to new rows, join two tables by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._output import whole_file
from dovetail.catalog.profile import count_values
from dovetail.errors import InputError, UnknownName, unknown
from dovetail.join.equi import equi_join
from dovetail.join.joined import Joined
from dovetail.lake.strings import string_batch
from dovetail.normalise import decide, normalise
from dovetail.tables.frames import to_arrow
from dovetail.tables.side import Side, as_side
from dovetail.transform.apply import made_by
from dovetail.transform.explain import in_words
from dovetail.transform.operators import Program

_SOURCE, _TARGET = "\0made by the program", "\0what it must equal"  # names that no table has
_VERSION = 1


@dataclass(frozen=True)
class Transformation:
    """How two tables join: programs, each for the rows that those before it leave, and the column that they reach."""

    programs: tuple[Program, ...]
    reversed: bool  # the right table is transformed, to meet a column of the left one
    target: str
    key: Program | None = None  # what is taken of the target, where it is composite

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the programs read, in the order of their first use."""
        return tuple(dict.fromkeys(name for program in self.programs for name in program.columns))

    def __str__(self) -> str:
        return "; or ".join(in_words(program) for program in self.programs)

    def apply(self, data: Any) -> list[str | None]:
        """What the first program that gives anything makes of each row of a frame or a dict of columns."""
        columns = text_columns(data, self.columns)
        made = [program.apply(columns) for program in self.programs]
        return [next((value for value in row if value is not None), None) for row in zip(*made, strict=True)]

    def to_json(self) -> dict[str, Any]:
        programs = [program.to_json() for program in self.programs]
        key = self.key.to_json() if self.key else None
        return {
            "version": _VERSION, "programs": programs, "reversed": self.reversed, "target": self.target, "key": key
        }  # fmt: skip

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Transformation:
        try:
            if document["version"] != _VERSION:
                raise InputError(f"This transformation is of version {document['version']}; {_VERSION} can be read.")
            programs = tuple(Program.from_json(steps) for steps in document["programs"])
            key = Program.from_json(document["key"]) if document["key"] else None
            return cls(programs, bool(document["reversed"]), str(document["target"]), key)
        except KeyError as error:
            raise InputError(f"This is no transformation that Dovetail has written: it has no {error}.") from None
        except (TypeError, ValueError) as error:
            raise InputError(f"This is no transformation that Dovetail has written: {error!r}.") from None

    def save(self, path: str | Path) -> None:
        with whole_file(Path(path)) as draft:
            draft.write_text(json.dumps(self.to_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Transformation:
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None
        except ValueError:
            raise InputError(f"{path} is no JSON file.") from None
        if not isinstance(document, dict):
            raise InputError(f"{path} is no transformation: it holds no JSON object.")
        return cls.from_json(document)

    def join(self, left: Any, right: Any, how: str, first: int | None = None) -> Joined:
        """Files, frames, or sides of a join."""
        left, right = as_side(left, "left_table"), as_side(right, "right_table")
        source, target = (right.table, left.table) if self.reversed else (left.table, right.table)
        _require(source, self.columns)
        _require(target, [self.target])
        keys = self._keys(target)
        tables = source.append_column(_SOURCE, self._made(source, keys)), target.append_column(_TARGET, keys)
        sides, on = (tables[::-1], (_TARGET, _SOURCE)) if self.reversed else (tables, (_SOURCE, _TARGET))
        joined = equi_join(Side(sides[0], left.name), Side(sides[1], right.name), [on], how, first)
        shown = tuple((self.target, name) if self.reversed else (name, self.target) for name in self.columns)
        reads = ((self.target,), self.columns) if self.reversed else (self.columns, (self.target,))
        return replace(joined, left=left, right=right, on=shown, reads=reads)

    def _keys(self, target: pa.Table) -> pa.ChunkedArray:
        column = target.column(self.target)
        if self.key is None:
            return column
        return pa.chunked_array([pa.array(self.key.apply({self.target: column.to_pylist()}), pa.string())])

    def _made(self, source: pa.Table, target: pa.ChunkedArray) -> pa.Array:
        column_type = decide(count_values(target).evidence)

        def normal(values: pa.Array) -> pa.Array:
            return normalise(values, column_type)

        wanted = pa.chunked_array([normal(chunk) for chunk in target.chunks], normal(pa.array([], pa.string())).type)
        columns = {name: source.column(name).to_pylist() for name in self.columns}
        return made_by(self.programs, columns, normal, wanted.cast(pa.large_string()).combine_chunks())


def text_columns(data: Any, names: Sequence[str]) -> dict[str, list[str | None]]:
    """Some columns of a frame or a dict as text."""
    table = to_arrow(data)
    _require(table, names)
    batches = table.select(list(names)).combine_chunks().to_batches()
    parts = [string_batch(batch, tuple(names)) for batch in batches]
    return {name: [text for part in parts for text in part.column(name).to_pylist()] for name in names}


def _require(table: pa.Table, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.column_names:
            raise UnknownName(unknown("There is no column", name, table.column_names))
