"""JOSIE: which columns share most values with mine? Exact top-k overlap, ties included."""

from __future__ import annotations

from dovetail.indexes.josie.core import Found, Work
from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.josie.query import JosieReader

__all__ = ["JOSIE", "Found", "JosieReader", "Work"]
