"""Builds the lsh_ensemble pack of a segment from its tokens pack: the stream of pieces is not needed again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.lsh_ensemble import format as lsh_format
from dovetail.indexes.lsh_ensemble.core import Parameters, functions
from dovetail.indexes.lsh_ensemble.costs import measure
from dovetail.indexes.lsh_ensemble.format import LshPackWriter
from dovetail.indexes.lsh_ensemble.kernels import sketch_groups, sketch_sets
from dovetail.indexes.lsh_ensemble.partitions import cut_sizes
from dovetail.indexes.protocol import Piece
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

_MOST_PARTITIONS = 32
_SETS_A_PARTITION = 32  # fewer are asked faster in one partition, however rough its bound


class LshEnsembleBuilder:
    def __init__(self, memory_bytes: int, parameters: Parameters | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._parameters = parameters or Parameters()

    def add(self, piece: Piece) -> None:
        """Nothing: the tokens pack, which is finished first, holds every set."""

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        tokens = TokenArrays(writer.pack(tokens_format.NAME))
        sketcher = Sketcher(tokens, self._parameters, self._memory_bytes)
        writer.write_part(lsh_format.NAME, lsh_format.VERSION, lambda pack: _write(pack, sketcher))
        return {}


class Sketcher:
    """Sketches columns. Groups that several columns hold are sketched once, as far as the memory allows.

    What is not shared is hashed again for each column: the result is the same.
    """

    def __init__(self, tokens: TokenArrays, parameters: Parameters, memory_bytes: int) -> None:
        self.parameters = parameters
        self.sizes = np.diff(tokens.set_offsets)
        self.tokens = tokens
        self._hashes = np.empty(tokens.tokens, np.uint64)
        self._hashes[tokens.hash_ids] = tokens.hashes
        groups = self._worth_sharing(memory_bytes // 4)
        self._shared = np.full(tokens.groups, -1, np.int64)
        self._shared[groups] = np.arange(len(groups))
        self._sketches = sketch_groups(groups, tokens.group_tokens, self._hashes, *functions(parameters))

    def sketch(self, columns: Array) -> Array:
        """The signatures, with a row for every permutation."""
        tokens = self.tokens
        return sketch_sets(
            columns, tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens,
            self._hashes, self._shared, self._sketches, *functions(self.parameters),
        )  # fmt: skip

    def _worth_sharing(self, memory_bytes: int) -> Array:
        """The groups whose sketches save the most hashing, ascending."""
        lists, members = np.diff(self.tokens.posting_offsets), np.diff(self.tokens.group_tokens)
        saved = (lists - 1) * (members - 1)
        most = memory_bytes // (4 * self.parameters.permutations)
        groups = np.flatnonzero(saved > 0)
        if len(groups) > most:
            groups = np.sort(groups[np.argsort(-saved[groups], kind="stable")[:most]])
        return groups


def _write(pack: PackWriter, sketcher: Sketcher) -> None:
    members = partition(sketcher.sizes, sketcher.parameters.least_size)
    out = LshPackWriter(pack, sketcher.parameters, sketcher.sizes, members)
    forest = None
    for number in sorted(range(len(members)), key=lambda number: len(members[number])):
        signatures = sketcher.sketch(members[number])
        forest = signatures, plant(signatures, sketcher.parameters.depth)
        out.write(number, *forest)
    out.write_costs(measure(sketcher.tokens, sketcher.parameters, forest))  # on the widest partition


def partition(sizes: Array, least_size: int) -> list[Array]:
    """The columns of each partition, ascending; the partitions from small to large sets."""
    columns = np.flatnonzero(sizes >= least_size)
    if not len(columns):
        return []
    distinct, counts = np.unique(sizes[columns], return_counts=True)
    most = min(_MOST_PARTITIONS, 1 + len(columns) // _SETS_A_PARTITION)
    cuts = cut_sizes(distinct, counts, most)
    part_of = np.searchsorted(distinct[cuts[1:] - 1], sizes[columns])
    return [columns[part_of == number] for number in range(len(cuts) - 1)]


def plant(signatures: Array, depth: int) -> Array:
    """For every row k the members in the order of their values k, k + 1, … k + depth - 1, then by place."""
    trees = np.empty(signatures.shape, np.uint32)
    for k in range(len(signatures)):
        trees[k] = _order(signatures[k : k + depth])
    return trees


def _order(values: Array) -> Array:
    """The items in the order of their values, row after row.

    Two values at a time are one number, and hardly any two items agree in the first; only those that do are ordered by
    the others.
    """
    keys = [_pair(values[row : row + 2]) for row in range(0, len(values), 2)]
    order: Array = np.argsort(keys[0], kind="stable")
    equal = np.diff(keys[0][order]) == 0
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    members = order[tied]
    order[tied] = members[np.lexsort([key[members] for key in reversed(keys)])]
    return order


def _pair(values: Array) -> Array:
    """Two rows of 32 bits as one of 64 that sorts alike."""
    pair: Array = values[0].astype(np.uint64) << np.uint64(32)
    return pair | values[1] if len(values) > 1 else pair
