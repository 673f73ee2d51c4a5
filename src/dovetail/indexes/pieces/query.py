"""Queries to the pieces pack of one segment: from pieces to columns, and to the values of a column that have them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail._storage.packing_kernels import search_packed
from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.indexes.pieces.format import NAME, VERSION, PieceArrays
from dovetail.indexes.pieces.kernels import count_holders, sharing, sum_weights
from dovetail.indexes.tokens.query import TokenReader
from dovetail.normalise import characters


class PieceReader:
    """The pieces of one segment's columns. Keys are ascending hashes (see core); column numbers the segment's own."""

    def __init__(self, segment: Segment) -> None:
        pack = segment.pack(NAME)
        pack.require(NAME, VERSION)
        self.tokens = TokenReader(segment)
        self.arrays = PieceArrays(pack, self.tokens.arrays.groups)

    def holders(self, keys: Array, alive: Array) -> Array:
        """How many of the columns that are alive hold each key."""
        tokens = self.tokens.arrays
        return count_holders(
            *self._ranges(keys), self.arrays.groups, tokens.posting_offsets, tokens.posting_columns, alive
        )

    def weigh(self, keys: Array, weights: Array) -> Array:
        """For each column the sum of the weights of the keys that it holds."""
        tokens = self.tokens.arrays
        return sum_weights(
            *self._ranges(keys), weights, self.arrays.groups, tokens.posting_offsets, tokens.posting_columns,
            tokens.columns,
        )  # fmt: skip

    def sharing(self, column: int, keys: Array, most: int) -> pa.LargeStringArray:
        """Values of the column that have one of the keys; those with the least, where they are more than `most`.

        Whoever takes the rows with the least keys on the other side takes their partners.
        """
        ids = self.tokens.set_of(column)[0]
        least = sharing(*self.tokens.arrays.strings(ids), keys, *characters())
        order = np.argsort(least, kind="stable")[:most]
        return self.tokens.tokens(ids[np.sort(order[least[order] <= np.iinfo(np.uint32).max])])

    def _ranges(self, keys: Array) -> tuple[Array, Array]:
        wanted = keys.astype(np.int64)
        return search_packed(self.arrays.hashes, wanted), search_packed(self.arrays.hashes, wanted + 1)
