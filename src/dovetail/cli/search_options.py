"""The options of `dovetail search`, checked before anything is opened."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.cli.options import check_conf
from dovetail.errors import InputError


@dataclass(frozen=True)
class SearchOptions:
    """What was written on the command line, by the names that click gives it."""

    query: str | None
    index: str | None
    many: str | None
    on: str | None
    by: str
    threshold: str | None
    min_similarity: str | None
    mapping: Path | None
    k: int | None
    tables: tuple[str, ...]
    min_overlap: int
    include_self: bool
    copies: bool | None
    fast: bool
    target: str | None
    explain: int | None
    as_json: bool
    as_lines: bool
    output: Path | None
    master: str | None
    conf: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.mapping and self.by != "semantic":
            raise InputError("--mapping needs --by semantic.")
        if (self.query is None) == (self.many is None):
            raise InputError("Name one table to search with, or a folder of them with --many.")
        for name, given in (("--output", self.output), ("--master", self.master)):
            if given and not self.many:
                raise InputError(f"{name} needs --many.")
        check_conf(self.conf, self.master)
        if (self.many or self.as_lines) and (self.mapping or self.explain is not None or self.as_json):
            raise InputError("--many and --json-lines do not go with --json, --explain and --mapping.")
        if (self.many is not None or self.as_lines) and self.target:
            raise InputError("--target does not go with --many or --json-lines.")

    @property
    def request(self) -> dict[str, Any]:
        """The options of `lake.search`, except for the stage: `fast` or exact."""
        names = ("on", "k", "by", "min_similarity", "threshold", "tables", "min_overlap", "include_self", "copies")
        return {name: getattr(self, name) for name in names}

    @property
    def in_stages(self) -> bool:
        """Whether a person reads tables of hits, who may see approximate ones before the exact ones."""
        other = self.as_json or self.mapping or self.target or self.explain is not None
        return not other and (self.fast or sys.stdout.isatty())
