"""Sources beside files and objects, by the schemes of their addresses: our own, and those that other packages bring.

A package adds one by an entry point of the group `dovetail.sources`, whose name is the scheme and whose value a class
with the methods of `files.Source`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re

from dovetail.errors import InputError
from dovetail.lake.containers.registry import SEPARATOR

GROUP = "dovetail.sources"
_OURS = dict.fromkeys(("postgresql", "postgres"), "dovetail.lake.postgres:PostgresTables")

# `scheme://user:password@host` (a port is followed by a slash), or a parameter of that name.
_PASSWORD = re.compile(r"://[^@/]*:(?!\d+/)[^@]*@|[?&;][^=&]*(?:password|secret)[^=&]*=", re.IGNORECASE)


def refuse_password(address: str) -> None:
    """Raises where an address holds a password: it would be kept with the index, and shown with the table's name."""
    if _PASSWORD.search(address):
        raise InputError(
            "An address must not hold a password: give it by PGPASSWORD, a file of passwords or the credentials of "
            "this machine."
        )


def source_class(address: str) -> str | None:
    """The class of the source that knows addresses of this scheme, as `module:name`; None for files and objects."""
    scheme, found, _ = address.partition("://")
    return (_OURS.get(scheme) or _theirs().get(scheme)) if found else None


def split_table(address: str) -> tuple[str, str]:
    """The address of a place, and the name of a table there, empty where none is named: `postgresql://host/db::a.b`.

    A host may have two colons in its name as well.
    """
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    place, _, table = path.partition(SEPARATOR)
    return f"{scheme}://{host}{slash}{place}", table


@functools.cache
def _theirs() -> dict[str, str]:
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}
