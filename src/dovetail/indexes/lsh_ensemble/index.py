"""The registry's entry for LSH Ensemble, with the check of its cross-references."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.errors import FormatMismatch
from dovetail.indexes.lsh_ensemble import format as lsh_format
from dovetail.indexes.lsh_ensemble.build import LshEnsembleBuilder, Sketcher
from dovetail.indexes.lsh_ensemble.format import LshArrays
from dovetail.indexes.lsh_ensemble.query import LshEnsembleReader
from dovetail.indexes.protocol import NOTHING, Frozen, Index
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

_SAMPLE = 256
_CHECK_MEMORY = 1 << 26


class LshEnsembleIndex(Index):
    name = lsh_format.NAME
    version = lsh_format.VERSION
    question = "which columns hold at least this share of my values?"

    def builder(self, scratch: Path, memory_bytes: int, frozen: Frozen = NOTHING) -> LshEnsembleBuilder:
        return LshEnsembleBuilder(memory_bytes)

    def open(self, segment: Segment) -> LshEnsembleReader:
        return LshEnsembleReader(segment)

    def problems(self, segment: Segment) -> Iterator[str | FormatMismatch]:
        try:
            arrays = LshArrays(segment.pack(self.name))
        except FormatMismatch as mismatch:
            yield mismatch
            return
        yield from _broken_references(arrays, TokenArrays(segment.pack(tokens_format.NAME)))


def _broken_references(arrays: LshArrays, tokens: TokenArrays) -> Iterator[str]:
    sizes = np.diff(tokens.set_offsets)
    if not np.array_equal(np.sort(arrays.columns), np.flatnonzero(sizes >= arrays.parameters.least_size)):
        yield "the partitions do not hold every column that is large enough once"
        return
    if np.any(arrays.lowers[1:] <= arrays.uppers[:-1]):
        yield "the partitions are not in the order of their sizes"
    sketcher = Sketcher(tokens, arrays.parameters, _CHECK_MEMORY)
    for partition in range(arrays.partitions):
        members, (signatures, trees) = arrays.members(partition), arrays.matrices(partition)
        if not _fits(arrays, partition, sizes[members]):
            yield f"the bounds of partition {partition} are not those of its columns"
        if np.any(np.diff(members.astype(np.int64)) <= 0):
            yield f"the columns of partition {partition} are not in order"
        sample = np.linspace(0, len(members) - 1, min(len(members), 1 + _SAMPLE // arrays.partitions)).astype(np.int64)
        if not np.array_equal(sketcher.sketch(members[sample]), signatures[:, sample]):
            yield f"a signature in partition {partition} is not that of its column"
        if not all(_is_planted(signatures[k : k + arrays.parameters.depth], tree) for k, tree in enumerate(trees)):
            yield f"a tree of partition {partition} is not in the order of its signatures"


def _fits(arrays: LshArrays, partition: int, sizes: Array) -> bool:
    return len(sizes) > 0 and bool(arrays.lowers[partition] == sizes.min() and arrays.uppers[partition] == sizes.max())


def _is_planted(values: Array, tree: Array) -> bool:
    """Whether the tree names every item once, in the order of its values and then of its place."""
    if not np.array_equal(np.sort(tree), np.arange(len(tree))):
        return False
    rows = [*(row[tree].astype(np.int64) for row in values), tree.astype(np.int64)]
    undecided = np.ones(max(len(tree) - 1, 0), bool)
    for row in rows:
        steps = np.diff(row)
        if np.any(steps[undecided] < 0):
            return False
        undecided &= steps == 0
    return True


LSH_ENSEMBLE = LshEnsembleIndex()
