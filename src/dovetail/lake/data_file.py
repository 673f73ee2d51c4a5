"""One of the files of a table that has many."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.lake.object_path import TablePath, path_of


@dataclass(frozen=True)
class DataFile:
    """One file of a table, with the values of the columns that its folders tell."""

    path: str
    bytes: int
    mark: str
    """Changes whenever the file does."""
    partition: tuple[tuple[str, str | None], ...] = ()

    @property
    def table_path(self) -> TablePath:
        return path_of(self.path)
