"""Builds the pieces pack of a segment from its tokens pack, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.pieces import format as pieces_format
from dovetail.indexes.pieces.core import pairs_of
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

_HASHES = 1 << 32  # hashes have 32 bits
_NEEDED = 7  # times the codes of the tokens, to sort all of their pieces at once
_MOST_PARTS = 64


class PiecesBuilder:
    """All that it needs is in the tokens pack, so it skips the chunks."""

    def __init__(self, scratch: Path, memory_bytes: int) -> None:
        self._scratch = scratch
        self._memory_bytes = memory_bytes

    def add(self, chunk: ColumnChunk) -> None:
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        tokens = TokenArrays(writer.pack(tokens_format.NAME))
        parts = self._parts(tokens)
        writer.write_part(pieces_format.NAME, pieces_format.VERSION, lambda pack: pieces_format.write(pack, parts))
        return {}

    def _parts(self, tokens: TokenArrays) -> list[Array]:
        """By hash, each sorted alone; on disk where they are several."""
        number = math.ceil(_NEEDED * len(tokens.token_codes) / self._memory_bytes)
        number = min(max(1, number), _MOST_PARTS)
        if number == 1:
            return [pairs_of(tokens, 0, _HASHES)]
        found = []
        for part in range(number):
            pairs = pairs_of(tokens, _HASHES * part // number, _HASHES * (part + 1) // number)
            path = self._scratch / f"pieces-{part}"
            path.write_bytes(np.ascontiguousarray(pairs).data)  # np.save hides that a disk is full
            found.append(np.memmap(path, pairs.dtype, "r", shape=pairs.shape) if len(pairs) else pairs)
        return found
