"""Dovetail finds, explains and makes joins in data lakes.

lake ──► catalog ──► indexes ──► search ──► join

>>> import dovetail
>>> lake = dovetail.open("idx")            # doctest: +SKIP
>>> lake.tables("geo/*")                   # doctest: +SKIP
>>> lake.table("geo/countries.csv").columns  # doctest: +SKIP
"""

from __future__ import annotations

from dovetail.api.index import compact, index, remove
from dovetail.api.join import join, predicates
from dovetail.api.lake import Lake, open, verify
from dovetail.errors import DovetailError
from dovetail.join.result import JoinResult
from dovetail.transform.transformation import Transformation

__version__ = "0.1.0"
__all__ = [
    "DovetailError", "JoinResult", "Lake", "Transformation", "compact", "index", "join", "open", "predicates", "remove", "verify",
]  # fmt: skip
