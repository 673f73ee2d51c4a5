"""Ways: algorithms with the same answer, of which a question takes one.

`auto` takes the one that costs least; a name takes that one, so that a paper's own algorithm can be run and timed. A
way may have parameters, given as settings beside it. Answers do not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dovetail.errors import InputError
from dovetail.settings import Setting, check_setting

AUTO = "auto"


class Way(NamedTuple):
    name: str
    help: str
    parameters: tuple[Setting, ...] = ()


_SUPER_KEYS = Setting("super_keys", "on", 0, "whether rows are filtered by their super keys", ("on", "off"))

WAYS = {
    "inds": (
        Way("lists", "posting lists of the rarest values; what auto takes"),
        Way(
            "signatures",
            "MANY as published, Bloom signatures",
            (
                Setting("bits", 650, 1, "bits of a signature, the paper's m"),
                Setting("hashes", 6, 1, "hash functions, k"),
                Setting("passes", 2, 1, "signatures of a set, p"),
                Setting("strategy", "dep2refs", 0, "which side is fixed", ("dep2refs", "ref2deps")),
                Setting("vectors", "indexed", 0, "whether empty words are skipped", ("indexed", "plain")),
            ),
        ),
    ),
    "overlap": (
        Way("josie", "Algorithm 2 as published", (Setting("batch", 20, 1, "posting lists read at once, its λ"),)),
        Way("merge_list", "MergeList-D, all posting lists"),
        Way("probe_set", "ProbeSet-D, all sets of the prefix"),
    ),
    "keys": (
        Way("cover", "values of all columns with the fewest rows to read; what auto takes", (_SUPER_KEYS,)),
        Way(
            "mate",
            "Algorithm 1 as published",
            (
                Setting("start", "", 0, "the column of the key to start from; without it, that with the fewest values"),
                _SUPER_KEYS,
            ),
        ),
    ),
    "semantic": (
        Way("vectors", "lists of dimensions or clusters of vectors"),
        Way(
            "pexeso",
            "block and verify as published, then the same",
            (
                Setting("pivots", 0, 0, "the paper's |P|; 0: by its cost model", tuple(range(10))),
                Setting("levels", 0, 0, "of the grids, m; 0: by its cost model", tuple(range(7))),
                Setting("partitions", 0, 0, "of the columns, on disk, one at a time in memory; 0: one grid in memory"),
                Setting("clustering", "divergence", 0, "which columns share a partition", ("divergence", "random")),
            ),
        ),
    ),
}
"""The ways of each question, besides `auto`."""


@dataclass(frozen=True)
class ChosenWay:
    """A way and the parameters that were given for it."""

    name: str = AUTO
    parameters: Mapping[str, Any] = field(default_factory=dict)


DEFAULT = ChosenWay()


def choose_way(question: str, name: str = AUTO, settings: Mapping[str, Any] | None = None) -> ChosenWay:
    """The way of a question with this name; its parameters have their defaults where `settings` leaves them out."""
    ways = {way.name: way for way in WAYS[question]}
    if name != AUTO and name not in ways:
        raise InputError(f"There is no way {name!r} of {question}. The ways are: {', '.join((AUTO, *ways))}.")
    parameters = {one.name: one for one in ways[name].parameters} if name in ways else {}
    for given, value in (settings or {}).items():
        if given not in parameters:
            known = f"Its settings are: {', '.join(parameters)}." if parameters else "It has none."
            raise InputError(f"The way {name!r} of {question} has no setting {given!r}. {known}")
        check_setting(parameters[given], value)
    defaults = {one.name: one.default for one in parameters.values()}
    return ChosenWay(name, defaults | dict(settings or {}))


def every_way(question: str) -> list[ChosenWay]:
    """All ways of a question with their defaults, `auto` first."""
    return [DEFAULT, *(choose_way(question, way.name) for way in WAYS[question])]
