"""Dovetail finds, explains and makes joins in data lakes.

lake ──► catalog ──► indexes ──► search ──► join

>>> import dovetail
>>> lake = dovetail.open("idx")            # doctest: +SKIP
>>> hits = lake.search("sales.csv")        # doctest: +SKIP
>>> hits[0].explain()                      # doctest: +SKIP
>>> wide = hits[0].join()                  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.api.index import clean, compact, index, remove
    from dovetail.api.join import join, join_on_spark, predicates
    from dovetail.api.lake import Lake, open, verify
    from dovetail.api.union import union
    from dovetail.errors import DovetailError
    from dovetail.join.best_predicate.scores import Joined, Preference
    from dovetail.join.result import JoinResult
    from dovetail.transform.transformation import Transformation
    from dovetail.union.append import UnionResult

__version__ = "0.2.0"
__all__ = [
    "DovetailError", "JoinResult", "Joined", "Lake", "Preference", "Transformation", "UnionResult", "clean", "compact",
    "index", "join", "join_on_spark", "open", "predicates", "remove", "union", "verify",
]  # fmt: skip

_MODULE_OF = {
    "DovetailError": "errors",
    "JoinResult": "join.result",
    "Joined": "join.best_predicate.scores",
    "Lake": "api.lake",
    "Preference": "join.best_predicate.scores",
    "Transformation": "transform.transformation",
    "UnionResult": "union.append",
    "clean": "api.index",
    "compact": "api.index",
    "index": "api.index",
    "join": "api.join",
    "join_on_spark": "api.join",
    "open": "api.lake",
    "predicates": "api.join",
    "remove": "api.index",
    "union": "api.union",
    "verify": "api.lake",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562): no command needs all of them."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"dovetail.{_MODULE_OF[name]}"), name)
    return found


class _Package(ModuleType):
    """Keeps the functions `join` and `union` from being replaced by the packages of these names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _MODULE_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
