"""The registry's entry for pieces, with their check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.packing_kernels import unpack
from dovetail._storage.segment import Segment
from dovetail.indexes.pieces import format as pieces_format
from dovetail.indexes.pieces.build import PiecesBuilder
from dovetail.indexes.pieces.core import pairs_of
from dovetail.indexes.pieces.query import PieceReader
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens.query import hidden_groups

_PARTS = 16
_HASHES = 1 << 32


class PiecesIndex(Index):
    name = pieces_format.NAME
    version = pieces_format.VERSION
    question = "which columns have pieces of my values?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> PiecesBuilder:
        return PiecesBuilder(scratch, memory_bytes)

    def open(self, segment: Segment) -> PieceReader:
        return PieceReader(segment)

    def problems(self, segment: Segment) -> Iterator[str]:
        reader = PieceReader(segment)
        arrays, tokens, at = reader.arrays, reader.tokens.arrays, 0
        hidden = hidden_groups(segment, tokens)
        for part in range(_PARTS):
            pairs = pairs_of(tokens, hidden, _HASHES * part // _PARTS, _HASHES * (part + 1) // _PARTS)
            place = slice(at, at + len(pairs))
            at = place.stop
            hashes, groups = (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
            read = (
                unpack(packed, place.start, min(place.stop, packed.length)) for packed in (arrays.hashes, arrays.groups)
            )
            if not all(np.array_equal(*both) for both in zip(read, (hashes, groups), strict=True)):
                yield "pieces are not those of the tokens"
                return
        if at != arrays.hashes.length:
            yield "there are more pieces than the tokens have"


PIECES = PiecesIndex()
