"""The join graph as an entity-relationship diagram, in the languages of Mermaid and DBML."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from dovetail.graph.join_paths import JoinEdge

_WORD = re.compile(r"\W+", re.ASCII)


def mermaid(edges: Sequence[JoinEdge]) -> str:
    """Tables with the columns that join, and a line for each likely foreign key."""
    names = _identifiers(table for edge in edges for table in (edge.table, edge.other))
    lines = ["erDiagram"]
    for table, columns in _columns(edges).items():
        lines.append(f'    {names[table]}["{_plain(table)}"] {{')
        known = _identifiers(columns)
        lines += [f'        column {known[name]} "{_plain(name)}"' for name in columns]
        lines.append("    }")
    for edge in edges:
        label = f"{', '.join(edge.columns)} → {', '.join(edge.other_columns)}"
        lines.append(f'    {names[edge.table]} }}o--|| {names[edge.other]} : "{_plain(label)}"')
    return "\n".join(lines) + "\n"


def dbml(edges: Sequence[JoinEdge]) -> str:
    """Tables with the columns that join, and a reference for each likely foreign key."""
    lines = []
    for table, columns in _columns(edges).items():
        lines += [f"Table {_quoted(table)} {{", *(f"  {_quoted(name)} varchar" for name in columns), "}", ""]
    for edge in edges:
        lines.append(f"Ref: {_reference(edge.table, edge.columns)} > {_reference(edge.other, edge.other_columns)}")
    return "\n".join(lines) + "\n"


def _columns(edges: Sequence[JoinEdge]) -> dict[str, list[str]]:
    """Of each table the columns that join, each once, in the order of the edges."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for edge in edges:
        found[edge.table].update(dict.fromkeys(edge.columns))
        found[edge.other].update(dict.fromkeys(edge.other_columns))
    return {table: list(columns) for table, columns in sorted(found.items())}


def _identifiers(names: Iterable[str]) -> dict[str, str]:
    """Words that Mermaid takes, one for each name."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        word = next(each for each in _candidates(name) if each not in taken)
        taken.add(word)
        given[name] = word
    return given


def _candidates(name: str) -> Iterator[str]:
    word = _WORD.sub("_", name).strip("_") or "t"
    word = word if word[0].isalpha() else f"t_{word}"
    yield word
    number = 2
    while True:
        yield f"{word}_{number}"
        number += 1


def _plain(text: str) -> str:
    """Mermaid's strings have no escapes."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", text).replace('"', "'")


def _quoted(name: str) -> str:
    plain = re.sub(r"[\x00-\x1f\x7f]", " ", name).replace('"', "'")
    return f'"{plain}"'


def _reference(table: str, columns: Sequence[str]) -> str:
    names = ", ".join(map(_quoted, columns))
    return f"{_quoted(table)}.({names})" if len(columns) > 1 else f"{_quoted(table)}.{names}"
