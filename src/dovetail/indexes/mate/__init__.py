"""MATE: which tables join on several of my columns together, exactly."""

from dovetail.indexes.mate.core import Parameters
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.mate.query import MateReader

__all__ = ["MATE", "MateReader", "Parameters"]
