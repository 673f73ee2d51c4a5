"""How a file is read: found out once, before it is read or split, so that workers never guess again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from dovetail.lake.declared import NO_KEYS, DeclaredKeys
from dovetail.lake.object_path import TablePath, path_of

_MADE_UP = re.compile(r"column_\d+(_\d+)?")


@dataclass(frozen=True)
class Layout:
    """How to read one file. Fields that a format does not use keep their defaults."""

    format: str
    """`delimited`, `jsonl`, `parquet`, `arrow`, or `folder` of a table of many files."""
    columns: tuple[str, ...]
    """Distinct, in the file's order, without those that are left out."""
    compression: str = ""
    """Nothing, `gz` or `zst`."""
    encoding: str = ""
    """A Python codec's name; text formats only."""
    delimiter: str = ""
    quote: str = ""
    """Nothing where quotes are plain characters."""
    escape: str = ""
    comment: str = ""
    """Rows that start so and do not have the table's width are left out."""
    skip_space: bool = False
    """White space after a delimiter does not belong to the value (`a, "b, c"`)."""
    skip_lines: int = 0
    """Physical lines before the header: a preamble, comments or Excel's `sep=` hint."""
    header: bool = True
    body: int = 0
    """Where the first data record starts, in bytes of the file's text as UTF-8, after any byte order mark."""
    declared: DeclaredKeys = NO_KEYS
    """What the database says that holds the table; the catalog keeps it by itself."""

    excluded: tuple[tuple[int, str], ...] = ()
    """Columns that the user left out: their places among all columns of the file, and the glob that named each."""
    hashed: tuple[str, ...] = ()
    """Columns whose values are kept as keyed hashes only."""

    @property
    def whole(self) -> Layout:
        """The layout with all columns of the file, those that are left out under names of no meaning."""
        columns = list(self.columns)
        for place, _ in self.excluded:
            columns.insert(place, f"\0{place}")
        return replace(self, columns=tuple(columns), excluded=())

    @property
    def kept(self) -> list[int]:
        """The places of its columns among all columns of the file."""
        left_out = {place for place, _ in self.excluded}
        return [place for place in range(len(self.columns) + len(left_out)) if place not in left_out]

    def to_json(self) -> dict[str, Any]:
        found = asdict(replace(self, declared=NO_KEYS))
        del found["declared"]
        return found | ({"declared": self.declared.to_json()} if self.declared else {})

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Layout:
        declared = DeclaredKeys.from_json(data.get("declared", {}))
        excluded = tuple((place, pattern) for place, pattern in data.get("excluded", ()))
        read = {"columns": tuple(data["columns"]), "excluded": excluded, "hashed": tuple(data.get("hashed", ()))}
        return cls(**{**data, **read, "declared": declared})


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


@dataclass(frozen=True)
class Part:
    """A piece of a table: bytes of a text file, row groups of a Parquet file, batches of an Arrow file, or files.

    A `stop` of None means to the end. `Part()` is the whole file, whatever its format.
    """

    start: int = 0
    stop: int | None = None
    files: tuple[DataFile, ...] = ()
    """Of a table of many files, those of this part: who reads it need not list them again."""

    def to_json(self) -> dict[str, Any]:
        return {"start": self.start, "stop": self.stop, "files": [file.to_json() for file in self.files]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Part:
        return cls(values["start"], values["stop"], tuple(map(DataFile.from_json, values["files"])))


@dataclass
class RowCounter:
    """What `read` has seen so far; the driver adds the counters of a file's parts."""

    rows: int = 0
    short: int = 0
    """Rows with fewer cells than columns, filled with null."""
    long: int = 0
    """Rows with more cells than columns; the surplus cells are left out."""
    literal: int = 0
    """Rows whose quotes did not close and were taken as plain characters."""

    def __add__(self, other: RowCounter) -> RowCounter:
        return RowCounter(
            self.rows + other.rows, self.short + other.short, self.long + other.long, self.literal + other.literal
        )

    @property
    def ragged(self) -> int:
        return self.short + self.long


def is_made_up(name: str) -> bool:
    """Whether `distinct_names` has, or could have, given this name to a column without one."""
    return _MADE_UP.fullmatch(name) is not None


def distinct_names(cells: Iterable[str | None]) -> tuple[str, ...]:
    """Trimmed names; a blank one becomes `column_<position>`, a repeated one `name_2`, `name_3` …

    A name that the file itself uses is never given away: `a,a,a_2` becomes `a, a_3, a_2`.
    """
    wanted = [(cell or "").strip().strip("\ufeff\x00") for cell in cells]
    own = set(wanted)
    taken: set[str] = set()
    counts: dict[str, int] = {}  # where to go on, or many columns of one name would take the square of their number
    names = []
    for position, name in enumerate(wanted, start=1):
        base = name or f"column_{position}"
        candidate, count = base, counts.get(base, 1)
        if count > 1:
            candidate = f"{base}_{count}"
        while candidate in taken or (candidate != name and candidate in own):
            count += 1
            candidate = f"{base}_{count}"
        counts[base] = count
        taken.add(candidate)
        names.append(candidate)
    return tuple(names)
