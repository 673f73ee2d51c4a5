"""One of the files of a table that has many."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dovetail.lake.object_path import TablePath, path_of


@dataclass(frozen=True)
class DataFile:
    """One file of a table, with the values of the columns that its folders tell."""

    path: str
    bytes: int
    mark: str
    """Changes whenever the file does."""
    partition: tuple[tuple[str, str | None], ...] = ()
    is_final: bool = False
    """Whether its writer never changes it: it may only vanish."""

    @property
    def table_path(self) -> TablePath:
        return path_of(self.path)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DataFile:
        return cls(**{**values, "partition": tuple((name, value) for name, value in values["partition"])})
