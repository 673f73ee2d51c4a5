"""Embedders by name: those that come with Dovetail, those of installed packages, and any that can be imported.

A name means the same in every process, so that workers and later searches find the embedder of an index.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from dovetail._names import unknown
from dovetail.embedders.meaning import Sentences, Words
from dovetail.embedders.ngrams import NGrams
from dovetail.embedders.protocol import Embedder
from dovetail.errors import InputError, UnknownName

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"ngrams": NGrams, "words": Words, "sentences": Sentences}
DEFAULT = "ngrams"
GROUP = "dovetail.embedders"
"""The entry points by which packages register embedders of their own."""
_MEMBERS = ("name", "version", "dimension", "metric", "embed")


@cache
def embedder_of(name: str) -> Embedder:
    """The embedder of this name, of an entry point, or at `module:attribute`: a class without parameters, or an object.

    Those that need a model are imported when first used.
    """
    if name in EMBEDDERS:
        return EMBEDDERS[name]()
    if ":" in name:
        return _checked(name, _attribute(name))
    registered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in registered:
        raise UnknownName(unknown("There is no embedder", name, sorted({*EMBEDDERS, *registered})))
    return _checked(name, _attribute(registered[name].value))


def name_of(embedder: object) -> str:
    """The name that a user gives, which must be a text: an object of this process says nothing to others."""
    if isinstance(embedder, str):
        return embedder
    kind = embedder if isinstance(embedder, type) else type(embedder)
    raise InputError(
        f"`embedder` is a {kind.__name__}, which other processes cannot find; give the name by which they import it: "
        f'"{kind.__module__}:{kind.__qualname__}".'
    )


def _attribute(name: str) -> Any:
    """What is called `module:attribute`."""
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"The embedder {name} cannot be imported: {error}. Workers need its module, too.") from error
    return found


def _checked(name: str, found: Any) -> Embedder:
    embedder = found() if isinstance(found, type) else found
    missing = [member for member in _MEMBERS if not hasattr(embedder, member)]
    if missing:
        raise InputError(f"{name} is not an embedder: it has no {', no '.join(missing)}.")
    checked: Embedder = embedder
    return checked
