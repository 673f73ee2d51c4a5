"""The exact row store: for every row of every table which of its column's tokens each cell holds."""

from dovetail.indexes.rows.format import RowArrays
from dovetail.indexes.rows.index import ROWS
from dovetail.indexes.rows.query import RowReader

__all__ = ["ROWS", "RowArrays", "RowReader"]
