"""The options of `dovetail join`, checked before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail._output import check_place
from dovetail.cli.files import STANDARD, check_output
from dovetail.cli.options import check_conf
from dovetail.errors import InputError
from dovetail.transform.transformation import Transformation


@dataclass(frozen=True)
class JoinOptions:
    """What was written on the command line, by the names that click gives it."""

    left: str
    right: str
    more: tuple[str, ...]
    index: str | None
    on: str | None
    left_on: str | None
    right_on: str | None
    how: str
    by: str | None
    prefer: str | None
    min_similarity: float | None
    one_to_one: bool
    equal: str | None
    suffix: str
    validate: str | None
    indicator: bool
    both_keys: bool
    seconds: float
    max_rows: int
    max_growth: float
    pairs: Path | None
    mapping: Path | None
    save: Path | None
    program: Path | None
    explain: bool
    master: str | None
    conf: tuple[str, ...]
    output: Path | None
    as_csv: bool
    as_lines: bool
    as_json: bool

    def __post_init__(self) -> None:
        if self.program and self.by:
            raise InputError("--program already has a transformation; drop --by.")
        check_conf(self.conf, self.master)
        for path in filter(None, (self.pairs, self.save)):
            check_place(path)
        if self.mapping and self.by != "through":
            raise InputError("--mapping needs --by through.")
        for path in filter(None, (self.output, self.mapping)):
            check_output(path, self.tables)

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.left, self.right, *self.more)

    @property
    def to_standard_output(self) -> bool:
        return self.as_csv or self.as_lines or (self.output is not None and str(self.output) == STANDARD)

    @property
    def request(self) -> dict[str, Any]:
        """The options of `dovetail.join`."""
        names = (
            "on", "how", "prefer", "min_similarity", "one_to_one", "suffix", "validate", "indicator", "both_keys",
            "seconds", "max_rows", "max_growth",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "by": Transformation.load(self.program) if self.program else self.by,
            "equal": _pair(self.equal),
            "left_on": _names(self.left_on),
            "right_on": _names(self.right_on),
        }


def _pair(written: str | None) -> tuple[str, str] | None:
    mine, sign, theirs = (written or "").partition("=")
    return (mine, theirs if sign else mine) if written else None


def _names(written: str | None) -> list[str] | None:
    return None if written is None else written.split(",")
