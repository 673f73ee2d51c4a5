"""The pieces of values, for tables that join after a transformation (section 5.3.1 of Zhu's thesis)."""

from dovetail.indexes.pieces.index import PIECES
from dovetail.indexes.pieces.query import PieceReader

__all__ = ["PIECES", "PieceReader"]
