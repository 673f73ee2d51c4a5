"""A hit: a table that joins with mine, on which columns, how well and why."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Protocol

from dovetail._text import first_names

_SEVERAL = 1.05  # rows per match that are worth a warning
_EXPLAINED_COLUMNS = 12
SHOWN_COLUMNS = 3  # in a line of a table
_PREVIEW = 5
HEADINGS = ("#", "table", "on", "covers", "join", "brings", "")
"""Of the cells of a hit."""


class Joiner(Protocol):
    """Joins a hit's table to some data; an open lake gives one to its hits."""

    def __call__(self, hit: Hit, data: Any, how: str, first: int | None = None) -> Any: ...


@dataclass(frozen=True)
class Source:
    """Where a hit comes from: what joins it, and what was searched with."""

    join: Joiner
    data: Any


@dataclass(frozen=True)
class ColumnGain:
    """What a column adds to predicting a column of mine: the share of its variance that it explains beyond mine."""

    column: str
    gain: float

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.column, "gain": round(self.gain, 6)}


@dataclass(frozen=True, repr=False)
class Hit:
    """A table that joins with mine, with the evidence. All numbers are exact."""

    rank: int
    table: str
    on: tuple[str, ...]  # my columns
    columns: tuple[str, ...]  # the table's columns that correspond to them
    score: float
    overlap: int  # distinct values that both have
    containment: float  # the share of my distinct values
    jaccard: float
    query_size: int  # my distinct values
    column_size: int  # the table's distinct values
    exact: bool
    cardinality: str  # of the join, from mine to theirs: 1:1, N:1, 1:N, N:M
    query_rows: int
    matched_rows: int  # of mine
    table_rows: int
    matched_table_rows: int
    joined_rows: int  # of the inner join
    matched: tuple[str, ...]  # samples, the most frequent first
    unmatched: tuple[str, ...]
    only_there: tuple[str, ...]
    brings: tuple[str, ...]  # the table's other columns, which the join adds
    reasons: tuple[str, ...] = ()  # what speaks for the join, the strongest first, where no column was named
    objections: tuple[str, ...] = ()  # … and against it
    copies: tuple[str, ...] = ()  # tables that are near-copies of this one and match as well, or nearly
    decided: str | None = None  # when a person decided that these columns join; the only reason is then the decision
    declared: bool = False  # whether a database declares that these columns join
    gain: float | None = None  # with a target: the share of its variance that the columns explain beyond mine
    helps: tuple[ColumnGain, ...] = ()  # with a target: the columns that do, the most helpful first
    union: float | None = None  # the probability that a person would append the table; None if it was not judged
    source: Source | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Sent to another process, a hit leaves its source behind."""
        return {**vars(self), "source": None}

    @property
    def by(self) -> str:
        """The method that found it, and that joins it."""
        return "equal"

    @property
    def probability(self) -> float | None:
        """That a person would accept the join; None where columns were named, as then nothing is judged."""
        return self.score if self.reasons or self.objections or self.is_decided else None

    @property
    def is_decided(self) -> bool:
        """Whether a person decided, or a database declares, that these columns join: then nothing is estimated."""
        return self.decided is not None or self.declared

    @property
    def rather(self) -> str:
        """What a person would rather do with the table: `join` it, or append it (`union`)."""
        return "union" if self.union is not None and self.union > (self.probability or 0.0) else "join"

    @property
    def rows_per_match(self) -> float:
        """Joined rows for each row of mine that matches; above 1, the join repeats rows of mine."""
        return self.joined_rows / self.matched_rows if self.matched_rows else 0.0

    @property
    def order(self) -> tuple[float, float, int, str]:
        """Best first. Of hits with the same score: fewer rows per match, then more columns brought, then the name."""
        return -self.score, self.rows_per_match, -len(self.brings), self.table

    @property
    def warning(self) -> str:
        """What to know before joining; empty if nothing."""
        if self.rows_per_match < _SEVERAL:
            return ""
        rows = f"{self.joined_rows:,} rows from {self.matched_rows:,} of yours"
        return f"{self.rows_per_match:,.1f} rows per match: {rows}"

    def join(self, data: Any = None, how: str = "inner") -> Any:
        """The rows of the join with `data` (by default what was searched with), as the same kind of frame."""
        return self._join(data, how).frame

    def preview(self, rows: int = _PREVIEW) -> Any:
        """The first joined rows, as the same kind of frame."""
        return self._join(None, "inner", rows).frame

    def _join(self, data: Any, how: str, first: int | None = None) -> Any:
        if self.source is None:
            raise ValueError("This hit does not belong to an open lake; use Lake.search.")
        return self.source.join(self, self.source.data if data is None else data, how, first)

    @property
    def likes(self) -> str:
        """How many near-copies there are; empty if none."""
        return f"and {len(self.copies):,} like it" if self.copies else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """My columns and theirs."""
        return list(zip(self.on, self.columns, strict=True))

    def to_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "source"}
        lists = {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}
        shares = {name: round(fields[name], 6) for name in ("score", "containment", "jaccard")}
        likely = {
            "probability": None if self.probability is None else round(self.probability, 6),
            "union": None if self.union is None else round(self.union, 6),
            "rather": self.rather,
        }
        helps = {
            "gain": None if self.gain is None else round(self.gain, 6),
            "helps": [column.to_dict() for column in self.helps],
        }
        several = {"rows_per_match": round(self.rows_per_match, 3), "warning": self.warning or None}
        return {**fields, "by": self.by, **lists, **shares, **likely, **helps, **several}

    def __repr__(self) -> str:
        return f"<Hit {self.rank}: {self.explain()}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.explain())}</pre>"

    def explain(self) -> str:
        """Why this is a hit, in a few lines of text."""
        mine, theirs = ", ".join(self.on), ", ".join(self.columns)
        share = (
            f"all {self.query_size:,}"
            if self.overlap == self.query_size
            else f"{self.overlap:,} of the {self.query_size:,}"
        )
        things = "values" if len(self.on) == 1 else "tuples"
        key = " (a key)" if self.column_size == self.table_rows else ""
        each = f"each once{key}" if self.cardinality.endswith(":1") else "some in several rows"
        lines = [
            f"{self.table}, {theirs}: {share} {things} of {mine} are among its {self.column_size:,}, "
            f"{each}: {self.cardinality}.",
            f"  {self.matched_rows:,} of your {self.query_rows:,} rows match; the join has {self.joined_rows:,} rows"
            + (f" ({self.warning.split(':')[0]})." if self.warning else "."),
            *([f"  {self._judgement}"] if self.reasons or self.objections else []),
            *(
                [f"  It is rather a union: its rows could be appended ({self.union:.0%})."]
                if self.rather == "union"
                else []
            ),
            f"  matched: {_listed(self.matched)}   not matched: {_listed(self.unmatched)}   "
            f"only there: {_listed(self.only_there)}",
            f"  brings: {first_names(self.brings, _EXPLAINED_COLUMNS)}",
            *([f"  {self.likes}: {first_names(self.copies, _EXPLAINED_COLUMNS)}"] if self.copies else []),
            *([f"  {self._help}"] if self.gain is not None else []),
            f"  in SQL, without normalisation: … LEFT JOIN {_quoted(self.table)} AS theirs "
            f"ON {_equal(self.on, self.columns)}",
        ]
        return "\n".join(lines)

    @property
    def _judgement(self) -> str:
        if self.is_decided:
            but = f" But {'; '.join(self.objections)}." if self.objections else ""
            return f"{self.reasons[0]}: these columns join.{but}"
        sides = (("for it", self.reasons), ("against it", self.objections))
        why = "; ".join(f"{side}: {', '.join(clauses)}" for side, clauses in sides if clauses)
        return f"probability of a join that makes sense: {self.score:.0%} ({why})."

    @property
    def _help(self) -> str:
        columns = ", ".join(f"{column.column} {column.gain:.1%}" for column in self.helps)
        return f"explains {self.gain:.1%} more of the target's variance ({columns or 'no column helps'})."

    def cells(self) -> tuple[Any, ...]:
        """The hit as a line of a table, under HEADINGS."""
        brings = first_names(tuple(column.column for column in self.helps) or self.brings, SHOWN_COLUMNS)
        on = f"{', '.join(self.on)} → {', '.join(self.columns)}"
        covers = f"{self.overlap:,} of {self.query_size:,}"
        union = "rather a union" if self.rather == "union" else ""
        status = "decided" if self.decided else "declared" if self.declared else union
        helps = "" if self.gain is None else f"explains {self.gain:.1%} more"
        remarks = "; ".join(filter(None, (self.likes, helps, status, self.warning.split(":")[0])))
        return (self.rank, self.table, on, covers, self.cardinality, brings, remarks)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _equal(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    pairs = zip(mine, theirs, strict=True)
    return " AND ".join(f"mine.{_quoted(left)} = theirs.{_quoted(right)}" for left, right in pairs)


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(values) if values else "–"
