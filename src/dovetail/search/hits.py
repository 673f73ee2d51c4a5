"""The hits of a search: a list that shows as a table, and what comes with it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dovetail._text import first_names, table_lines
from dovetail.results import Rows
from dovetail.search.hit import HEADINGS, SHOWN_COLUMNS, Hit, Source

LIKELY = "likely"  # the heading of the probability, where hits have one
NUMBERS = ("#", "covers", LIKELY)
LOOSE = {"table": 30, "on": 24, "brings": 16}
_MANY = 0.5  # of my values: so many need an explanation why it is not a hit


@dataclass(frozen=True)
class TableToAppend:
    """A table that is no hit, but whose rows could be appended to mine, and how likely a person would."""

    table: str
    probability: float

    def to_dict(self) -> dict[str, Any]:
        return {"table": self.table, "probability": round(self.probability, 6)}


@dataclass(frozen=True)
class Change:
    """A hit and what has become of it: new, moved to another rank, the same, or gone."""

    change: str
    hit: Hit
    earlier_rank: int | None = None  # None if it is new

    def to_dict(self) -> dict[str, Any]:
        return {"change": self.change, "earlier_rank": self.earlier_rank, **self.hit.to_dict()}


def _change(hit: Hit, earlier: Hit | None) -> Change:
    if earlier is None:
        return Change("new", hit)
    return Change("same" if earlier.rank == hit.rank else "moved", hit, earlier.rank)


class Hits(Rows[Hit]):
    """The hits of one search, best first. Shows as a table, or as a sentence if there are none."""

    def __init__(
        self, rows: Any, query: str, by: str, question: str, exact: bool, seconds: float, nothing: str = "",
        nearest: Any = (), note: str = "", before: Hits | None = None, to_append: tuple[TableToAppend, ...] = (),
    ) -> None:  # fmt: skip
        super().__init__(rows)
        self.query = query
        self.by = by  # the method: equal, transform or semantic
        self.question = question  # overlap, containment, keys, transform or semantic
        self.exact = exact  # whether no hit can be missing; the numbers of each hit are exact in any case
        self.seconds = seconds
        self.nothing = nothing  # without hits: the sentence that says so
        self.nearest: list[Hit] = list(nearest)  # without hits: the best of those that were not good enough
        self.note = note  # what the search left out; empty if nothing
        self.before = before  # the approximate answer that this one refines, if there was one
        self.to_append = to_append  # other tables, where no column was named

    @property
    def changes(self) -> list[Change]:
        """The hits, and those that are gone, with what has changed since the approximate answer."""
        earlier = {(hit.table, hit.columns): hit for hit in self.before or ()}
        found = [_change(hit, earlier.pop((hit.table, hit.columns), None)) for hit in self]
        return [*found, *(Change("gone", hit, hit.rank) for hit in earlier.values())]

    @property
    def recall(self) -> float | None:
        """The share of the hits that the approximate answer had; None if there was none, or there are no hits."""
        if self.before is None or not self:
            return None
        return sum(change.earlier_rank is not None for change in self.changes[: len(self)]) / len(self)

    def of(self, source: Source) -> Hits:
        """The same hits, which can be joined."""
        bound = [[replace(hit, source=source) for hit in hits] for hits in (self, self.nearest)]
        return self.with_rows(*bound)

    def with_rows(self, rows: Sequence[Hit], nearest: Sequence[Hit] | None = None) -> Hits:
        """The same search with other hits."""
        others = self.nearest if nearest is None else nearest
        return Hits(
            rows, self.query, self.by, self.question, self.exact, self.seconds, self.nothing, others, self.note,
            self.before, self.to_append,
        )  # fmt: skip

    @property
    def append_sentence(self) -> str:
        """Which other tables could be appended; empty if none."""
        named = tuple(f"{each.table} ({each.probability:.0%})" for each in self.to_append)
        return f"To append rather than join: {first_names(named, SHOWN_COLUMNS)}." if named else ""

    @property
    def sentence(self) -> str:
        """Without hits: what was looked for, and what comes nearest."""
        return f"{self.nothing} {_nearest(self.nearest)}".strip()

    def shown(self) -> tuple[tuple[str, ...], list[Any]]:
        rows = [hit.cells() for hit in self]
        chances = [hit.probability for hit in self]
        if None in chances:
            return HEADINGS, rows
        place = HEADINGS.index("covers")
        return (*HEADINGS[:place], LIKELY, *HEADINGS[place:]), [
            (*cells[:place], f"{chance:.0%}", *cells[place:]) for cells, chance in zip(rows, chances, strict=True)
        ]

    def __repr__(self) -> str:
        headings, rows = self.shown()
        lines = table_lines(headings, rows, NUMBERS, LOOSE) if rows else [self.sentence]
        return "\n".join([*lines, *filter(None, [self.append_sentence])])

    def _repr_html_(self) -> str:
        shown = super()._repr_html_() + self._copies_in_html() if self else f"<p>{html.escape(self.sentence)}</p>"
        return shown + (f"<p>{html.escape(self.append_sentence)}</p>" if self.to_append else "")

    def _copies_in_html(self) -> str:
        """The near-copies of each hit, to be opened."""
        return "".join(
            f"<details><summary>{hit.rank}: {html.escape(hit.table)} {hit.likes}</summary>"
            f"<ul>{''.join(f'<li>{html.escape(table)}</li>' for table in hit.copies)}</ul></details>"
            for hit in self
            if hit.copies
        )

    def to_json(self) -> dict[str, Any]:
        """What `dovetail search --json` prints."""
        return {
            "query": self.query,
            "by": self.by,
            "question": self.question,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
            "note": self.note or None,
            "hits": self.to_dicts(),
            "to_append": [table.to_dict() for table in self.to_append],
        }


def _nearest(hits: list[Hit]) -> str:
    """Columns that share some values, but too few, or only common ones."""
    if not hits:
        return ""
    least, most = min(hit.overlap for hit in hits), max(hit.overlap for hit in hits)
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    columns = list(dict.fromkeys(hit.on for hit in hits))
    of = f"of the {hits[0].query_size:,} values of {hits[0].on[0]}" if len(columns) == 1 else "of your values"
    share = "1 column shares" if len(hits) == 1 else f"{len(hits)} columns share"
    such = list(dict.fromkeys(value for hit in hits for value in hit.matched[:SHOWN_COLUMNS]))
    names = "; ".join(f"{hit.table}, {hit.columns[0]}" for hit in hits)
    why = (
        " These values are too few or too common to be evidence."
        if min(hit.containment for hit in hits) >= _MANY
        else ""
    )
    return f"The nearest: {share} {number} {of} ({', '.join(such[:SHOWN_COLUMNS])}): {names}.{why}"
