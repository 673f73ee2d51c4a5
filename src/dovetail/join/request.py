"""The options of a join, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail.errors import InputError
from dovetail.methods.registry import method_called
from dovetail.tables.column_names import Names, is_one_to_several, paired

if TYPE_CHECKING:
    from dovetail.join.best_predicate.scores import Preferred
    from dovetail.transform.transformation import Transformation

KINDS = ("inner", "left", "right", "outer", "semi", "anti")
ALIASES = {"full": "outer"}
VALIDATIONS = {
    "1:1": "1:1", "1:m": "1:m", "m:1": "m:1", "m:m": "m:m",
    "one_to_one": "1:1", "one_to_many": "1:m", "many_to_one": "m:1", "many_to_many": "m:m",
}  # fmt: skip
MAX_ROWS = 50_000_000  # arbitrary: what a laptop of 16 GB can hold of a table of a dozen columns
MAX_GROWTH = 10.0  # arbitrary: a key or a lookup gives about one row for each row of the larger table
SECONDS = 10.0  # arbitrary: as long as a person waits
SUFFIX = "_right"  # as in polars


@dataclass(frozen=True)
class JoinRequest:
    """How to join. Without `on` and `by`, the values decide on the columns and the method."""

    on: Names | None = None
    how: str = "inner"
    by: str | Transformation | None = None
    prefer: Preferred | None = None
    equal: str | tuple[str, str] | None = None  # columns that must be equal as well, by similarity
    min_similarity: float | None = None
    one_to_one: bool = False
    suffix: str = SUFFIX
    validate: str | None = None
    indicator: bool = False  # columns with the similarity and the origin of each joined row
    both_keys: bool = False  # keep equal key columns of the same name of both tables
    seconds: float = SECONDS
    max_rows: int = MAX_ROWS
    max_growth: float = MAX_GROWTH

    def __post_init__(self) -> None:
        object.__setattr__(self, "how", kind_of_join(self.how))
        self._check_numbers()
        if isinstance(self.by, str):
            method_called(self.by)
        if self.validate is not None and self.validate not in VALIDATIONS:
            raise InputError(f"`validate` is {self.validate!r}; it must be one of {', '.join(VALIDATIONS)}.")
        if self.on is not None and self.prefer:
            raise InputError("`on` already names the columns; drop `prefer`.")
        if self.on is not None and self.by is not None and not isinstance(self.by, str):
            raise InputError("The transformation already names the columns; drop `on`.")
        if self.prefer is not None and self.by not in (None, "equal"):
            raise InputError(f"`prefer` ranks joins on equal values; drop it or `by={self.by!s}`.")
        if self.equal is not None and self.by != "similar":
            raise InputError("`equal` needs `by='similar'`.")
        if self.min_similarity is not None and self.by not in ("similar", "semantic"):
            raise InputError("`min_similarity` needs `by='similar'` or `by='semantic'`.")
        if self.one_to_one and self.by not in (None, "similar", "transform"):
            raise InputError("`one_to_one` needs `by='similar'`.")

    def _check_numbers(self) -> None:
        for name in ("seconds", "max_rows", "max_growth"):
            if getattr(self, name) <= 0:
                raise InputError(f"`{name}` is {getattr(self, name)}; it must be more than 0.")
        if self.min_similarity is not None and not 0 < self.min_similarity <= 1:
            raise InputError(f"`min_similarity` is {self.min_similarity}; it must be above 0 and at most 1.")


def columns_and_method(
    on: Names | None,
    left_on: str | Sequence[str] | None,
    right_on: str | Sequence[str] | None,
    by: str | Transformation | None,
) -> tuple[Names | None, str | Transformation | None]:
    """The columns that are named, and the method: one column joins with several by a transformation."""
    if by is None and is_one_to_several(left_on, right_on):
        by = "transform"
    return paired(on, left_on, right_on, uneven=by == "transform"), by


def kind_of_join(how: str) -> str:
    found = ALIASES.get(how, how)
    if found not in KINDS:
        raise InputError(f"`how` is {how!r}; it must be one of {', '.join([*KINDS, *ALIASES])}.")
    return found
