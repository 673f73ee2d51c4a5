"""Builds the pieces pack of a segment from its tokens pack, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dovetail._storage.segment import SegmentWriter
from dovetail.indexes.pieces import format as pieces_format
from dovetail.indexes.pieces.core import pairs_of
from dovetail.indexes.shares import Share, SharedBuilder
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.tokens.query import hidden_groups

_HASHES = 1 << 32  # hashes have 32 bits
_NEEDED = 7  # times the codes of the tokens, to sort all of their pieces at once
_MOST_PARTS = 64


class PiecesBuilder(SharedBuilder):
    """A share is a range of hashes, sorted."""

    def least_shares(self, writer: SegmentWriter) -> int:
        number = math.ceil(_NEEDED * len(_tokens(writer).token_codes) / self._memory_bytes)
        return min(max(1, number), _MOST_PARTS)

    def share(self, writer: SegmentWriter, number: int, of: int) -> Share:
        tokens = _tokens(writer)
        low, high = _HASHES * number // of, _HASHES * (number + 1) // of
        return {"pairs": pairs_of(tokens, hidden_groups(writer, tokens), low, high)}

    def finish_shares(self, writer: SegmentWriter, shares: Sequence[Share]) -> dict[str, int]:
        parts = [share["pairs"] for share in shares]
        writer.write_part(pieces_format.NAME, pieces_format.VERSION, lambda pack: pieces_format.write(pack, parts))
        return {}


def _tokens(writer: SegmentWriter) -> TokenArrays:
    return TokenArrays(writer.pack(tokens_format.NAME))
