"""The registry's entry for JOSIE, with the check of its positions and costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.segment import Segment
from dovetail.indexes.josie import format as josie_format
from dovetail.indexes.josie.build import LEAST_COSTS, MOST_COSTS, JosieBuilder
from dovetail.indexes.josie.format import JosieArrays
from dovetail.indexes.josie.kernels import positions_of
from dovetail.indexes.josie.query import JosieReader
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.tokens.query import TokenReader


class JosieIndex(Index):
    name = josie_format.NAME
    version = josie_format.VERSION
    question = "which columns share the most values with mine?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> JosieBuilder:
        return JosieBuilder()

    def open(self, segment: Segment) -> JosieReader:
        return JosieReader(segment)

    def problems(self, segment: Segment) -> Iterator[str]:
        yield from _broken_references(segment)


def _broken_references(segment: Segment) -> Iterator[str]:
    arrays = JosieArrays(segment.pack(josie_format.NAME))
    tokens = TokenReader(segment).arrays
    arrays.require_items(len(tokens.posting_columns))
    if not _sets_fit(tokens):
        return  # the check of the tokens reports it; kernels do not check bounds
    positions = positions_of(tokens.posting_offsets, tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens)
    if not np.array_equal(positions, arrays.positions):
        yield "positions do not match the sets"
    if not all(low <= cost <= high for low, cost, high in zip(LEAST_COSTS, arrays.costs, MOST_COSTS, strict=True)):
        yield "a read cost is beyond what any machine needs"


def _sets_fit(tokens: TokenArrays) -> bool:
    """Whether every group is in as many sets as its posting list is long."""
    if np.any(np.diff(tokens.set_group_offsets) < 0):
        return False
    frequencies = np.bincount(tokens.set_groups, minlength=tokens.groups)
    return np.array_equal(frequencies, np.diff(tokens.posting_offsets))


JOSIE = JosieIndex()
