"""Keys that a database declares for a table: its primary key, what else is unique, and its foreign keys.

They are read with the table and travel with its layout; members of files carry them in the metadata of the Arrow file
that they are read from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

METADATA = b"dovetail.declared"

Names = tuple[str, ...]


@dataclass(frozen=True)
class DeclaredReference:
    """A foreign key: columns that refer to those of another table, or of the same, in their order."""

    columns: Names
    table: str  # as the database calls it; in the catalog, the table's id
    referenced: Names


@dataclass(frozen=True)
class DeclaredKeys:
    """What a database declares for one table."""

    primary: Names = ()
    unique: tuple[Names, ...] = ()
    foreign: tuple[DeclaredReference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.primary or self.unique or self.foreign)

    def of_column(self, column: str) -> DeclaredKeys:
        """Those that a column is part of."""
        return DeclaredKeys(
            self.primary if column in self.primary else (),
            tuple(key for key in self.unique if column in key),
            tuple(key for key in self.foreign if column in key.columns),
        )

    def among(self, columns: Iterable[str]) -> DeclaredKeys:
        """Those that have only these columns of the table."""
        known = set(columns)
        return DeclaredKeys(
            self.primary if known.issuperset(self.primary) else (),
            tuple(key for key in self.unique if known.issuperset(key)),
            tuple(key for key in self.foreign if known.issuperset(key.columns)),
        )

    def sentences(self) -> list[str]:
        """Each in a few words, as seen from one of its columns."""
        return [
            *(["primary key" + _together(self.primary)] if self.primary else []),
            *("unique" + _together(key) for key in self.unique),
            *(f"→ {key.table} ({', '.join(key.referenced)})" + _together(key.columns) for key in self.foreign),
        ]

    def to_dict(self) -> dict[str, Any]:
        """As lists, for JSON."""
        return {
            "primary": list(self.primary),
            "unique": [list(key) for key in self.unique],
            "foreign": [
                {"columns": list(key.columns), "table": key.table, "referenced": list(key.referenced)}
                for key in self.foreign
            ],
        }

    def with_tables(self, id_of: Callable[[str], str]) -> DeclaredKeys:
        """The same, with other names of the tables that are referred to."""
        return replace(self, foreign=tuple(replace(key, table=id_of(key.table)) for key in self.foreign))

    def to_json(self) -> dict[str, Any]:
        """As it is stored: without what there is nothing of."""
        return {name: value for name, value in self.to_dict().items() if value}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> DeclaredKeys:
        return cls(
            tuple(body.get("primary", ())),
            tuple(map(tuple, body.get("unique", ()))),
            tuple(
                DeclaredReference(tuple(key["columns"]), key["table"], tuple(key["referenced"]))
                for key in body.get("foreign", ())
            ),
        )

    def to_metadata(self) -> dict[bytes, bytes]:
        return {METADATA: json.dumps(self.to_json()).encode()} if self else {}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes] | None) -> DeclaredKeys:
        written = (metadata or {}).get(METADATA)
        return cls.from_json(json.loads(written)) if written else cls()


NO_KEYS = DeclaredKeys()


def _together(columns: Names) -> str:
    return f" of {', '.join(columns)}" if len(columns) > 1 else ""


def declared_keys(primary: Names, unique: Iterable[Names], foreign: Iterable[DeclaredReference]) -> DeclaredKeys:
    """The keys in an order of their own, so that equal declarations are equal; without those that name no columns.

    A unique constraint that only repeats the primary key says nothing.
    """
    alone = {each for each in unique if each} - {primary}
    kept = {each for each in foreign if each.columns and len(each.columns) == len(each.referenced)}
    return DeclaredKeys(primary, tuple(sorted(alone)), tuple(sorted(kept, key=lambda each: (each.columns, each.table))))
