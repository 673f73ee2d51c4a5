"""Sources by the scheme of their addresses: our own, and those that other packages bring.

A package adds one by an entry point of the group `dovetail.sources`, whose name is the scheme and whose value a class
with the methods of `files.Source`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import TYPE_CHECKING, cast

from dovetail.lake.containers.registry import SEPARATOR

if TYPE_CHECKING:
    from dovetail.lake.files import Source

GROUP = "dovetail.sources"
_OURS = dict.fromkeys(("postgresql", "postgres"), "dovetail.lake.postgres:PostgresTables")


def other_source(path: str) -> Source | None:
    """The source that knows addresses of this scheme; None for files and objects."""
    scheme, found, _ = path.partition("://")
    return _source(scheme) if found and is_other_scheme(scheme) else None


def split_table(address: str) -> tuple[str, str]:
    """The address of a place, and the name of a table there, empty where none is named: `postgresql://host/db::a.b`.

    A host may have two colons in its name as well.
    """
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    place, _, table = path.partition(SEPARATOR)
    return f"{scheme}://{host}{slash}{place}", table


def is_other_scheme(scheme: str) -> bool:
    return scheme in _OURS or scheme in _theirs()


@functools.cache
def _source(scheme: str) -> Source:
    module, _, name = (_OURS.get(scheme) or _theirs()[scheme]).partition(":")
    return cast("Source", getattr(importlib.import_module(module), name)())


@functools.cache
def _theirs() -> dict[str, str]:
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}
