"""A transformation that joins two tables: print it, save it, apply it to new rows, join other tables by it."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail._names import unknown
from dovetail._output import whole_file
from dovetail.errors import InputError, UnknownName
from dovetail.lake.strings import string_batch
from dovetail.tables.frames import to_arrow
from dovetail.transform.program import Program

_VERSIONS = (1, 2)
"""The second is written for programs with forms only, which readers of the first would apply without them."""


@dataclass(frozen=True, repr=False)
class Transformation:
    """How the values of one table become keys of another: programs, and the column whose values they make.

    Each program is for the rows that those before it leave. `dovetail.join(left, right, by=…)` joins by it.
    """

    programs: tuple[Program, ...]
    reversed: bool  # the programs read the right table and make values of the left one
    target: str
    key: Program | None = None  # the part of the target that is used, if it is composite

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the programs read, in the order of their first use."""
        return tuple(dict.fromkeys(name for program in self.programs for name in program.columns))

    @property
    def is_identity(self) -> bool:
        """Whether the programs change nothing, so that equal values join."""
        return all(program.is_identity for program in self.programs) and self.key is None

    def __repr__(self) -> str:
        return f"<Transformation of the {self._side} table into {self.target}: {self}>"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(program.words)}</li>" for program in self.programs)
        return f"<p>Each row of the {self._side} table by the first that applies:</p><ol>{items}</ol>"

    @property
    def _side(self) -> str:
        return "right" if self.reversed else "left"

    def __str__(self) -> str:
        return "; or ".join(program.words for program in self.programs)

    def apply(self, data: Any) -> list[str | None]:
        """The key of each row of a frame or dict of columns, by the first program that makes one; None without one."""
        columns = text_columns(data, self.columns)
        made = [program.apply(columns) for program in self.programs]
        return [next((value for value in row if value is not None), None) for row in zip(*made, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """The transformation as a JSON document."""
        programs = [program.to_json() for program in self.programs]
        key = self.key.to_json() if self.key else None
        version = _VERSIONS[any(program.has_forms for program in self.programs)]
        return {
            "version": version, "programs": programs, "reversed": self.reversed, "target": self.target, "key": key
        }  # fmt: skip

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Transformation:
        """The transformation that `to_json` wrote."""
        try:
            if document["version"] not in _VERSIONS:
                known = " and ".join(map(str, _VERSIONS))
                raise InputError(
                    f"This transformation has version {document['version']}; this Dovetail reads versions {known}."
                )
            _require_characters(document)
            programs = tuple(Program.from_json(steps) for steps in document["programs"])
            if not programs:
                raise ValueError("it has no program")
            key = Program.from_json(document["key"]) if document["key"] else None
            return cls(programs, bool(document["reversed"]), str(document["target"]), key)
        except KeyError as error:
            raise InputError(f"This is not a transformation that Dovetail wrote: it has no {error}.") from None
        except (TypeError, ValueError) as error:
            raise InputError(f"This is not a transformation that Dovetail wrote: {error!r}.") from None

    def save(self, path: str | Path) -> None:
        """Write it as a JSON file."""
        with whole_file(Path(path)) as draft:
            draft.write_text(json.dumps(self.to_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Transformation:
        """Read what `save` wrote."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise InputError(f"{path} is not a JSON file.") from None
        if not isinstance(document, dict):
            raise InputError(f"{path} is not a transformation: it holds no JSON object.")
        return cls.from_json(document)


def _require_characters(document: Mapping[str, Any]) -> None:
    """JSON can escape half of a character, which no table holds, no file and no answer of a server."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text in it is not Unicode") from None


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
