"""The preferences: the score of a join, and an upper bound for joins on further columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dovetail.errors import InputError

Rank = tuple[float, int, int]
"""Best first: the score, then rows of the tables that have a match (both negative), then joined rows."""

_MOST_MATCH = 0.9  # of the rows of a table that refers to a key
_SOME_KEYS = 20  # that one refers to say as much as half of all keys
_ENOUGH_USED = 1 / 3  # of the keys, or ten of many: no chance
_DIGITS = 9  # sums of logarithms come in different orders; what differs by less is equal


@dataclass(frozen=True)
class Joined:
    """The counts of a join. A joining group is a key with all rows that have it, on every side."""

    matched: tuple[int, ...]  # rows of each table with a match
    rows: int  # of the inner join
    groups: int
    spread: float  # the sum of n log2 n over the groups, n the joined rows of each
    most_groups: int  # that further columns could split these into
    sizes: tuple[int, ...]  # all rows of each table
    connected: bool = True  # every table is connected to the others

    @property
    def covered(self) -> int:
        return sum(self.matched)

    @property
    def all_rows(self) -> int:
        return sum(self.sizes)

    @property
    def keyness(self) -> float:
        """How likely one side is a key: 0 if a row has several matches, or many rows have none.

        Otherwise up to 1, by the share and the number of the keys that are referred to: a number that occurs once among
        thousands is by chance a key for a column of little else.
        """
        return self._keyness(_MOST_MATCH, self.rows, self.groups)

    @property
    def most_keyness(self) -> float:
        """The most that further columns could give."""
        return self._keyness(_MOST_MATCH, 0, self.most_groups)

    def _keyness(self, least: float, rows: int, keys: int) -> float:
        found = 0.0
        for table, (mine, size) in enumerate(zip(self.matched, self.sizes, strict=True)):
            if mine >= max(rows, least * size):
                found = max(found, self._used(table, keys))
        return found

    def _used(self, table: int, keys: int) -> float:
        """How much of the other tables' keys a table uses that refers to so many."""
        share = min(
            mine / size
            for place, (mine, size) in enumerate(zip(self.matched, self.sizes, strict=True))
            if place != table
        )
        used = share + (1 - share) * keys / (keys + _SOME_KEYS)
        return round(min(1.0, (used / _ENOUGH_USED) ** 2), _DIGITS)

    @property
    def least_rows(self) -> int:
        """The fewest rows of a join that keeps every row with a match."""
        return self.covered - self.most_groups if len(self.matched) == 2 else max(self.matched)


@dataclass(frozen=True)
class Preference:
    """A way to score joins by their counts.

    `bound` is at least the score of every join that matches no more rows of any table, and has no more rows and groups
    (`most_groups`) than the counts that it is given: those of a predicate with fewer columns, or of more than two
    tables the least of several. Without it, nothing is ruled out, and all closed predicates are counted.
    """

    name: str
    score: Callable[[Joined], float]
    bound: Callable[[Joined], float] = lambda _: math.inf
    symbol: str = ""  # in the paper
    wants: str = ""  # in words

    def rank(self, joined: Joined) -> Rank:
        score = self.score(joined)
        if math.isnan(score):
            raise InputError(f"The preference {self.name} gave no number for {joined}.")
        return -score, -joined.covered, joined.rows

    def best_rank(self, joined: Joined) -> Rank:
        """A bound for predicates with more columns, which cover no more rows, and if as many, in no fewer."""
        return -self.bound(joined), -joined.covered, joined.least_rows


def _entropy(joined: Joined) -> float:
    return round(math.log2(joined.rows) - joined.spread / joined.rows, _DIGITS)


def _compactness(joined: Joined) -> float:
    """Rows of the tables minus rows of their full outer join."""
    return joined.covered - joined.rows


def _strength(joined: Joined) -> float:
    """The harmonic mean of coverage and strength."""
    return round(2 * joined.covered / (len(joined.matched) * joined.rows + joined.all_rows), _DIGITS)


def _strongest(joined: Joined) -> float:
    """With as few joined rows as the rows with a match allow; of more than two tables, some may lose their match."""
    tables = len(joined.matched)
    if tables == 2:
        return round(2 * joined.covered / (2 * joined.least_rows + joined.all_rows), _DIGITS)
    kept = ((rows, sum(min(mine, rows) for mine in joined.matched)) for rows in joined.matched)
    return round(max(2 * covered / (tables * rows + joined.all_rows) for rows, covered in kept), _DIGITS)


def _compactest(joined: Joined) -> float:
    """Of two tables a group adds 1 - (r - 1)(s - 1), at most 1; of more, rows may be in several groups."""
    return joined.most_groups if len(joined.matched) == 2 else joined.covered - max(joined.matched)


_LIST = (
    Preference(
        "key",
        lambda joined: joined.keyness + _strength(joined), lambda joined: joined.most_keyness + _strongest(joined),
        "", "one side is a key, and 90 % of the rows of the other refer to it; then strength",
    ),
    Preference(
        "coverage", lambda joined: joined.covered, lambda joined: joined.covered,
        "h1", "as many rows as possible have a match",
    ),
    Preference(
        "groups", lambda joined: joined.groups, lambda joined: joined.most_groups,
        "h2", "as many distinct keys as possible join",
    ),
    Preference("compact", _compactness, _compactest, "h3", "the full outer join has as few rows as possible"),
    Preference(
        "balance", _entropy, lambda joined: round(math.log2(joined.most_groups), _DIGITS),
        "h4", "joined rows are spread evenly over many keys (entropy)",
    ),
    Preference("strength", _strength, _strongest, "h5", "many rows have a match, and few have several (harmonic mean)"),
)  # fmt: skip
PREFERENCES = {preference.name: preference for preference in _LIST}
DEFAULT = "key"
"""Measured best on average: docs/algorithms/schemaless.md."""


Preferred = str | Preference | Callable[[Joined], float]
"""What `prefer` takes: a name, a function of the counts of a join, or one with a bound."""


def preference_of(prefer: Preferred) -> Preference:
    if isinstance(prefer, Preference):
        return prefer
    if callable(prefer):
        return Preference(getattr(prefer, "__name__", "preference"), prefer)
    if prefer not in PREFERENCES:
        raise InputError(f"`prefer` is {prefer!r}; it must be one of {', '.join(PREFERENCES)}, or a function.")
    return PREFERENCES[prefer]
