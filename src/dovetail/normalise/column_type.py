"""The type of a column: all that is needed, beside a value, to make its token."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dovetail.normalise.dates import BY_NAME

KINDS = ("text", "integer", "real", "date", "timestamp", "boolean", "mixed", "empty")


@dataclass(frozen=True)
class ColumnType:
    """What a column holds. Stored in the catalog as JSON, it reproduces the column's tokens exactly.

    ``date_format`` is one of ``dates.FORMATS`` by name, or empty where the column holds no dates or nothing
    shows which of their parts is the day. ``na_is_null`` and ``sentinels_are_null`` say what the column's
    other values say about ``na`` and about numbers such as 9999.
    """

    kind: str
    date_format: str = ""
    na_is_null: bool = False
    sentinels_are_null: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"found the kind {self.kind!r}; allowed are {', '.join(KINDS)}")
        if self.date_format and self.date_format not in BY_NAME:
            raise ValueError(f"found the date format {self.date_format!r}; allowed are {', '.join(BY_NAME)}")

    def to_json(self) -> dict[str, str | bool]:
        """The type as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> ColumnType:
        """The type that ``to_json`` gave."""
        return cls(**stored)
