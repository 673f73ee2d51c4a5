"""The options of a search, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dovetail.errors import InputError
from dovetail.methods.registry import EQUAL, SEARCH_METHODS, method_called

_MOST = 10  # hits, where nothing else is said


def as_globs(tables: str | Iterable[str]) -> tuple[str, ...]:
    """The globs of tables that a caller gives: one, or several."""
    return (tables,) if isinstance(tables, str) else tuple(tables)


@dataclass(frozen=True)
class SearchRequest:
    """What to search with, and what counts as a hit."""

    data: Any
    on: str | Sequence[str] | None = None
    k: int | None = None
    threshold: float | str | None = None
    tables: tuple[str, ...] = ()
    min_overlap: int = 1
    include_self: bool = False
    fast: bool = False  # from sketches, which may miss some
    by: str = EQUAL.name
    min_similarity: float | str | None = None  # semantic only
    copies: bool | None = None  # whether near-copies are hits of their own; None: with a threshold they are

    def __post_init__(self) -> None:
        if self.by == "similar":
            raise InputError("`by='similar'` is for joins; search an index with `by='semantic'`.")
        method_called(self.by, SEARCH_METHODS)
        if self.by == "semantic" and (self.fast or self.min_overlap > 1):
            raise InputError("`fast` and `min_overlap` do not go with `by='semantic'`; use `threshold`.")
        if self.by == "through" and (self.threshold is not None or self.min_overlap > 1):
            raise InputError("`threshold` and `min_overlap` do not go with `by='through'`.")
        if self.by != "semantic" and self.min_similarity is not None:
            raise InputError("`min_similarity` needs `by='semantic'`.")
        if self.fast and self.by != "equal":
            raise InputError(f"`fast` does not go with `by={self.by!r}`; drop one of them.")
        for name, value in (("k", self.k), ("min_overlap", self.min_overlap)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputError(f"`{name}` is {value!r}; it must be an integer of at least 1.")
        self.share  # noqa: B018 - checks the threshold

    @property
    def most(self) -> int | None:
        """The number of hits; None for all, which a threshold asks for. Semantic search has a threshold of its own."""
        if self.k is None and self.threshold is not None:
            return None
        return _MOST if self.k is None else self.k

    @property
    def folds_copies(self) -> bool:
        """Whether near-copies are part of a better hit's line: unless said otherwise, without a threshold, which asks
        for all."""
        return self.threshold is None if self.copies is None else not self.copies

    @property
    def share(self) -> Fraction | None:
        """The threshold, exactly."""
        if self.threshold is None:
            return None
        try:
            share = Fraction(str(self.threshold))
        except ValueError:
            raise InputError(f"`threshold` is {self.threshold!r}; it must be a share such as 0.7.") from None
        if not 0 < share <= 1:
            raise InputError(f"`threshold` is {self.threshold}; it must be above 0 and at most 1, e.g. 0.7.")
        return share
