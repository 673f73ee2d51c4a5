"""Values that a segment keeps as hashes only, which have no spelling: those that occur in hashed columns alone."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.records import CatalogReader
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.normalise.keyed import HASHED


def hidden_groups(segment: Segment | SegmentWriter, tokens: TokenArrays) -> Array:
    """Which groups of tokens only columns of hashes hold, by the types that the segment's catalog has."""
    kinds = CatalogReader(segment.pack(records.NAME)).columns["kind"]
    hashed = pc.equal(kinds, HASHED.kind).to_numpy()
    if not hashed.any():
        return np.zeros(tokens.groups, bool)
    found: Array = np.logical_and.reduceat(hashed[tokens.posting_columns], tokens.posting_offsets[:-1])
    return found
