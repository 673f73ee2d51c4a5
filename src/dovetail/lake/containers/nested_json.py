"""JSON documents: objects in a list are rows, and lists inside of rows are tables of their own.

A document is a list of rows, an object of lists (each of them a table), an object of rows of one kind by their keys, or
has an object in each line. One object alone, such as a configuration, is no table. A list inside of rows becomes a
table with a key to its parent: a column of the parent whose values are distinct, or else the number of the row, which
the parent gets as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from dovetail.errors import UnreadableTable
from dovetail.lake.containers.registry import Member, gone
from dovetail.lake.encoding import STRAYS, encoding_of
from dovetail.lake.jsonl import Written, parsed
from dovetail.lake.strings import json_text

LARGEST_DOCUMENT = 1 << 28  # bytes. A document is held in memory, in some five times as many
_HEAD = 1 << 16
_ROW = "_row"
Row = dict[str, Any]


class Table(NamedTuple):
    name: str
    rows: list[Row]


class JsonDocument:
    in_place = False

    def members(self, path: Path) -> list[Member]:
        tables = tables_of(_document(path))
        total = sum(len(table.rows) for table in tables)
        return [Member(table.name, path.stat().st_size * len(table.rows) // total) for table in tables]

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        for table in tables_of(_document(path)):
            if table.name == name:
                made = folder / "member.jsonl"
                with made.open("w", encoding="utf-8") as file:
                    file.writelines(f"{_line(row)}\n" for row in table.rows)
                return made
        raise gone(name)


def tables_of(document: Any) -> list[Table]:
    """The tables of a document that have rows."""
    found: list[Table] = []
    for name, rows in _roots(document):
        found += _with_children(name, rows)
    if not found:
        raise UnreadableTable("JSON without rows")
    return found


def _roots(document: Any) -> list[tuple[str, list[Row]]]:
    if isinstance(document, list):
        return [("", _as_rows(document))] if document else []
    if not isinstance(document, dict):
        raise UnreadableTable("JSON without rows")
    lists = {key: value for key, value in document.items() if isinstance(value, list) and value}
    if any(isinstance(item, dict) for value in lists.values() for item in value):
        return [(key, _as_rows(value)) for key, value in lists.items()]
    if len(document) > 1 and _are_alike(list(document.values())):
        return [("", [{"key": key, **value} for key, value in document.items()])]
    return []


def _are_alike(values: list[Any]) -> bool:
    """Whether all are objects, and each has most of the keys that any has, on average."""
    if not all(isinstance(value, dict) and value for value in values):
        return False
    return 2 * sum(map(len, values)) > len(values) * len({key for value in values for key in value})


def _as_rows(items: list[Any]) -> list[Row]:
    return [item if isinstance(item, dict) else {"value": item} for item in items]


def _with_children(name: str, rows: list[Row]) -> list[Table]:
    names = dict.fromkeys(key for row in rows for key, value in row.items() if isinstance(value, list) and value)
    if not names:
        return [Table(name, rows)]
    key = _key(rows)
    if key is None:
        key, rows = _ROW, [{_ROW: number, **row} for number, row in enumerate(rows, start=1)]
    to_parent = f"{name.rpartition('.')[2]}.{key}" if name else key
    plain = [{field: value for field, value in row.items() if field not in names} for row in rows]
    tables = [Table(name, plain)]
    for child in names:
        inside = [
            {(to_parent if to_parent not in item else f"parent.{to_parent}"): row[key], **item}
            for row in rows
            for item in _as_rows(_listed(row.get(child)))
        ]
        tables += _with_children(f"{name}.{child}" if name else child, inside)
    return tables


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _key(rows: list[Row]) -> str | None:
    """A column that identifies the rows: the first whose values are plain, there in each row, and distinct."""
    for name in rows[0]:
        values = [row.get(name) for row in rows]
        plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if plain and len(set(values)) == len(rows):
            return name
    return None


def _document(path: Path) -> Any:
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise UnreadableTable(f"JSON document of more than {LARGEST_DOCUMENT >> 20} MB; JSON lines may be of any size")
    content = path.read_bytes()
    text = content.decode(encoding_of(content[:_HEAD], len(content) <= _HEAD), errors=STRAYS)
    text = text.removeprefix("\ufeff")
    try:
        return json.loads(text, parse_float=Written)
    except (ValueError, RecursionError) as error:
        if "Extra data" in str(error):  # after the first value
            return [parsed(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        raise UnreadableTable(f"broken JSON: {error}") from error


def _line(row: Row) -> str:
    """A row in one line; numbers as they were written."""
    return json_text({name: value.text if isinstance(value, Written) else value for name, value in row.items()})
