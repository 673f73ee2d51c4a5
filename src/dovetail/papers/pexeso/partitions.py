"""Texts beyond memory: columns in partitions, each with a grid of its own on disk, of which one at a time is open.

The partitions of a segment are made at the first search that asks for them, one after the other, and kept in the cache
of files (`_storage/cache.py`). A file is named after its segment, which never changes. A text that columns of several
partitions hold is in each of them.

    <clustering>-<partitions>-<pivots>-<levels>-columns      the partition of each column, the texts of each partition
    <clustering>-<partitions>-<pivots>-<levels>-<number>     one partition: vectors leaf by leaf, grid, inverted index
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from dovetail._cancel import check_cancelled
from dovetail._storage.cache import FileCache
from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid, targets_of
from dovetail.indexes.pexeso.core import Vectors
from dovetail.indexes.pexeso.grid import HierarchicalGrid
from dovetail.indexes.pexeso.grid_kernels import Cells, Inverted
from dovetail.indexes.tokens.format import running_sum
from dovetail.papers.pexeso.column_clusters import CLUSTERINGS, ColumnTexts, portions

_NAME, _VERSION = "pexeso_partition", 1
_PORTION = 1 << 14  # vectors written at once
_CELLS = {name: f"cell_{name}" for name in Cells._fields}
_LISTS = ("postings", "columns", "starts", "texts")  # of the inverted index; its places are the grid's


class Partitions:
    """The columns of one segment, in so many partitions. Without |P| and m, the cost model chooses them for each."""

    def __init__(self, texts: ColumnTexts, number: int, clustering: str, pivots: int = 0, levels: int = 0) -> None:
        self._texts, self._number, self._clustering = texts, number, clustering
        self._pivots, self._levels = pivots, levels
        self._cache = FileCache.of_user()

    def joinable(
        self, queries: Array, weights: Array, radius: float, least: int, matched: Array, allowed: Array
    ) -> tuple[Array, int]:
        """As `ColumnGrid.joinable`, partition by partition."""
        found, computed = allowed & (matched >= least), 0
        for number in np.unique(self.clusters[allowed & ~found]):
            check_cancelled()
            if self.sizes[number]:
                mine = allowed & (self.clusters == number)
                some, distances = self._grid(int(number), radius).joinable(
                    queries, weights, radius, least, matched, mine
                )
                found, computed = found | some, computed + distances
        return found, computed

    @property
    def clusters(self) -> Array:
        """The partition of each column."""
        return self._columns["clusters"]

    @property
    def sizes(self) -> Array:
        """How many texts each partition has."""
        return self._columns["sizes"]

    @cached_property
    def _columns(self) -> Pack:
        return self._kept("columns", self._write_columns)

    def _grid(self, number: int, radius: float) -> ColumnGrid:
        """Mapped; its pages are free again when the caller drops it."""
        return _read(self._kept(str(number), partial(self._write_partition, number, radius)), self._texts.dimension)

    def _kept(self, name: str, write: Callable[[PackWriter], None]) -> Pack:
        kind = f"{self._clustering}-{self._number}-{self._pivots}-{self._levels}"
        address = f"{_NAME}-{_VERSION}/{self._texts.address}/{kind}-{name}"

        def made(draft: Path) -> None:
            with PackWriter(draft, _NAME, _VERSION, self._texts.address) as pack:
                write(pack)

        path = self._cache.file(address, made, lambda path: Pack(path, _NAME, _VERSION).is_whole())
        return Pack(path, _NAME, _VERSION)

    def _write_columns(self, pack: PackWriter) -> None:
        clusters = CLUSTERINGS[self._clustering](self._texts, self._number)
        sizes = np.zeros(self._number, np.int64)
        for places in portions(self._texts):
            offsets, columns = self._texts.columns_of(places)
            pairs = np.repeat(places, np.diff(offsets)) * self._number + clusters[columns]
            sizes += np.bincount(np.unique(pairs) % self._number, minlength=self._number)
        pack.add("clusters", clusters)
        pack.add("sizes", sizes)

    def _write_partition(self, number: int, radius: float, pack: PackWriter) -> None:
        places, text_columns = self._members(number)
        vectors = self._texts.vectors_of(places)
        grid = ColumnGrid.of(vectors, self._texts.dimension, text_columns, radius, self._pivots, self._levels)
        _write(pack, grid, vectors)

    def _members(self, number: int) -> tuple[Array, tuple[Array, Array]]:
        """The texts of a partition, and the columns of it that hold each: offsets, and columns."""
        found = [self._members_among(places, number) for places in portions(self._texts)]
        places, counts, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return places, (running_sum(counts), columns)

    def _members_among(self, places: Array, number: int) -> tuple[Array, Array, Array]:
        offsets, columns = self._texts.columns_of(places)
        inside = self.clusters[columns] == number
        counts = np.diff(running_sum(inside)[offsets])
        return places[counts > 0], counts[counts > 0], columns[inside]


def _write(pack: PackWriter, grid: ColumnGrid, vectors: Vectors) -> None:
    """Vectors are written leaf by leaf: what is compared together is read together."""
    tree = grid.grid
    pack.add("pivots", grid.pivots.reshape(-1))
    pack.add("levels", np.array([grid.levels], np.int64))
    pack.add("leaf_keys", tree.leaf_keys)
    pack.add("leaf_starts", tree.leaf_starts)
    pack.add("places", tree.places.reshape(-1))
    for name, key in _CELLS.items():
        pack.add(key, getattr(tree.cells, name).reshape(-1))
    for name in _LISTS:
        pack.add(name, getattr(grid.inverted, name).astype(np.int64))
    if isinstance(vectors, Sparse):
        sorted_vectors = vectors.take(tree.order)
        pack.add("vector_starts", sorted_vectors.starts)
        pack.add("dimensions", sorted_vectors.dimensions.astype(np.uint32))
        pack.add("weights", sorted_vectors.weights.astype(np.float32))
        return
    slot = pack.reserve("vectors", "float32", vectors.size)
    for at in range(0, len(vectors), _PORTION):
        slot.write(vectors[tree.order[at : at + _PORTION]].reshape(-1), at * vectors.shape[1])


def _read(pack: Pack, dimension: int) -> ColumnGrid:
    pivots = pack["pivots"].reshape(-1, dimension)
    places = pack["places"].reshape(-1, len(pivots))
    cells = {name: pack[key] for name, key in _CELLS.items()}
    wide = {name: array.reshape(-1, len(pivots) if array.dtype == np.float64 else 2) for name, array in cells.items()}
    order = np.arange(len(places))
    grid = HierarchicalGrid(order, places, pack["leaf_keys"], pack["leaf_starts"], Cells(**wide))
    inverted = Inverted(**{name: pack[name] for name in _LISTS}, places=places)
    sparse = "vectors" not in pack.names()
    vectors = (
        Sparse(pack["vector_starts"], pack["dimensions"].view(np.int32), pack["weights"])
        if sparse
        else pack["vectors"].reshape(-1, dimension)
    )
    return ColumnGrid(pivots, int(pack["levels"][0]), grid, inverted, targets_of(vectors, order))
