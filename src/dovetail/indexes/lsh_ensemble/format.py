"""The arrays of the lsh_ensemble pack, their writer and their reader side by side.

parameters                     family, seed, permutations and depth of the sketches
costs                          what a search's steps cost, in nanoseconds, where the segment was built
lowers, uppers                 the sizes that each partition spans
offsets, columns               for every partition its columns, ascending; columns without a sketch are in none
signatures                     for every partition a matrix: a row a permutation, an item a column
trees                          the same shape: row k holds the columns' places in the partition, in the order of
                               their values k, k + 1, … of the signature, `depth` of them, then by place
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.lsh_ensemble.core import LEAST_COSTS, MOST_COSTS, LshCosts, SketchParameters

NAME = "lsh_ensemble"
VERSION = 1


class LshPackWriter:
    """Takes the partitions at once and their matrices one after another: only one is in memory at a time."""

    def __init__(self, pack: PackWriter, parameters: SketchParameters, sizes: Array, members: list[Array]) -> None:
        """`members` are the columns of each partition, `sizes` those of all columns."""
        columns = np.concatenate([np.empty(0, np.uint32), *members]).astype(np.uint32)
        self._offsets = np.cumsum([0, *map(len, members)], dtype=np.int64)
        self._width = parameters.permutations
        self._pack = pack
        pack.add("parameters", parameters.to_array())
        pack.add("lowers", np.array([sizes[part].min() for part in members], np.int64))
        pack.add("uppers", np.array([sizes[part].max() for part in members], np.int64))
        pack.add("offsets", self._offsets)
        pack.add("columns", columns)
        self._signatures = pack.reserve("signatures", "uint32", len(columns) * self._width)
        self._trees = pack.reserve("trees", "uint32", len(columns) * self._width)

    def write_costs(self, costs: LshCosts) -> None:
        self._pack.add("costs", np.array(costs, np.float64))

    def write(self, partition: int, signatures: Array, trees: Array) -> None:
        place = int(self._offsets[partition]) * self._width
        self._signatures.write(signatures.reshape(-1), place)
        self._trees.write(trees.reshape(-1), place)


class LshArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        where = f"{pack.segment}/{pack.path.name}"
        if len(pack["parameters"]) != 4:
            raise IndexDamaged(f"{where} is damaged: the parameters of its sketches are missing.")
        self.parameters = SketchParameters(*map(int, pack["parameters"]))
        self.parameters.require(where)
        costs = pack["costs"]
        if len(costs) != len(LshCosts._fields) or not np.all((costs >= LEAST_COSTS) & (costs <= MOST_COSTS)):
            raise IndexDamaged(f"{where} is damaged: its costs are missing or out of range.")
        self.costs = LshCosts(*costs.tolist())
        self.lowers = pack["lowers"]
        self.uppers = pack["uppers"]
        self.offsets = pack["offsets"]
        self.columns = pack["columns"]
        self.signatures = pack["signatures"]
        self.trees = pack["trees"]
        self.partitions = len(self.offsets) - 1
        for problem in self._misfits():
            raise IndexDamaged(f"{where} is damaged: {problem}.")

    def matrices(self, partition: int) -> tuple[Array, Array]:
        """Signatures and trees of a partition, each with a row for every permutation."""
        width = self.parameters.permutations
        place = slice(int(self.offsets[partition]) * width, int(self.offsets[partition + 1]) * width)
        return self.signatures[place].reshape(width, -1), self.trees[place].reshape(width, -1)

    def members(self, partition: int) -> Array:
        return self.columns[self.offsets[partition] : self.offsets[partition + 1]]

    def _misfits(self) -> Iterator[str]:
        if not len(self.lowers) == len(self.uppers) == self.partitions:
            yield "its partitions differ in number"
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.columns) or np.any(np.diff(self.offsets) < 0):
            yield "offsets does not span its array"
        if not len(self.signatures) == len(self.trees) == len(self.columns) * self.parameters.permutations:
            yield "its sketches differ in number from its columns"
