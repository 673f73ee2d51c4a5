"""Other ways to find near vectors, with the workflow of the paper's competitors: a range query for each value.

Every match counts towards the column that it belongs to, once for a value. A peer is made of vectors and the column of
each; `met` says which columns have a match of each query.

| paper | here |
|---|---|
| CTREE | covertree 1.0.0, the one cover tree of PyPI with a range query; pure Python, as the paper's programs are |
| – | scikit-learn's ball tree: compiled |
| EPT | extended pivot table (Ruiz et al. 2013); no package has it, and the paper wrote its own |
| PQ | nanopq, with the radius widened until the recall of range queries on a sample is 75 or 85 % |
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Peer:
    """Distinct vectors, and the columns that hold each: offsets, and columns."""

    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        self.vectors, self.count = np.ascontiguousarray(vectors), count
        self._offsets, self._columns = held

    def near(self, query: Array, radius: float) -> Array:
        """The places of the vectors within the radius."""
        raise NotImplementedError

    def search(self, queries: Array, radius: float, least: int) -> list[int]:
        rows = np.zeros(self.count, np.int64)
        for query in queries:
            places = self.near(query, radius)
            rows[np.unique(self._holders(places)[1])] += 1
        return np.flatnonzero(rows >= least).tolist()

    def joinable(self, rows: Array, places: Array, queries: int, least: int) -> list[int]:
        """The answer from all pairs of a query and a near vector."""
        met = np.zeros((queries, self.count), bool)
        which, columns = self._holders(places)
        met[rows[which], columns] = True
        return np.flatnonzero(met.sum(axis=0) >= least).tolist()

    def _holders(self, places: Array) -> tuple[Array, Array]:
        """For each column that holds one of these vectors: which one it is, and the column."""
        lengths = self._offsets[places + 1] - self._offsets[places]
        which = np.repeat(np.arange(len(places)), lengths)
        inside = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return which, self._columns[self._offsets[places][which] + inside]


class Products(Peer):
    """Brute force by BLAS."""

    def search(self, queries: Array, radius: float, least: int) -> list[int]:
        return self.joinable(*np.nonzero(queries @ self.vectors.T >= 1 - radius**2 / 2), len(queries), least)


class Faiss(Peer):
    """Brute force by faiss: one thread."""

    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        super().__init__(vectors, held, count)
        import faiss

        faiss.omp_set_num_threads(1)
        self._flat = faiss.IndexFlatL2(vectors.shape[1])
        self._flat.add(self.vectors)

    def search(self, queries: Array, radius: float, least: int) -> list[int]:
        limits, _, places = self._flat.range_search(queries, radius**2)
        rows = np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64)))
        return self.joinable(rows, places, len(queries), least)


class CoverTree(Peer):
    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        super().__init__(vectors, held, count)
        import covertree

        np.object = object  # type: ignore[attr-defined]  # the package is older than NumPy 1.24
        once, which = np.unique(self.vectors, axis=0, return_inverse=True)  # of equal ones it does not find an end
        self._order = np.argsort(which, kind="stable")
        self._starts = np.searchsorted(which[self._order], np.arange(len(once) + 1))
        self._tree = covertree.CoverTree(once, _euclidean)

    def near(self, query: Array, radius: float) -> Array:
        found = self._tree.query_ball_point(query, radius)
        return np.concatenate([self._order[:0], *(self._order[self._starts[n] : self._starts[n + 1]] for n in found)])


class BallTree(Peer):
    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        super().__init__(vectors, held, count)
        from sklearn.neighbors import BallTree as Tree

        self._tree = Tree(vectors)

    def near(self, query: Array, radius: float) -> Array:
        return self._tree.query_radius(query[None], radius)[0]


class ExtendedPivotTable(Peer):
    """From each of some groups of pivots a vector keeps the one whose distance says most: farthest from its mean."""

    GROUPS, PIVOTS = 5, 8

    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        super().__init__(vectors, held, count)
        generator = np.random.default_rng(1)
        chosen = generator.choice(len(vectors), self.GROUPS * self.PIVOTS, replace=False)
        self._pivots = vectors[chosen]
        far = np.sqrt(np.maximum(2 - 2 * vectors @ self._pivots.T, 0))
        extreme = np.abs(far - far.mean(axis=0)).reshape(len(vectors), self.GROUPS, self.PIVOTS).argmax(axis=2)
        self._which = extreme + np.arange(self.GROUPS) * self.PIVOTS
        self._far = np.take_along_axis(far, self._which, axis=1)

    def near(self, query: Array, radius: float) -> Array:
        far = np.sqrt(np.maximum(2 - 2 * self._pivots @ query, 0))
        return _left_by_pivots(self._which, self._far, far, radius, query, self.vectors)


class ProductQuantization(Peer):
    """Approximate. The radius is widened to a recall of range queries, on a sample of the vectors themselves."""

    PARTS, SAMPLE, QUERIES = 10, 10_000, 50
    recall = 0.85

    def __init__(self, vectors: Array, held: tuple[Array, Array], count: int) -> None:
        super().__init__(vectors, held, count)
        import nanopq

        generator = np.random.default_rng(1)
        self._quantizer = nanopq.PQ(M=self.PARTS, verbose=False)
        self._quantizer.fit(self.vectors[generator.permutation(len(vectors))[: self.SAMPLE]], seed=1)
        self._codes = self._quantizer.encode(self.vectors)
        self._sample = self.vectors[generator.choice(len(vectors), self.QUERIES, replace=False)]
        self._wide: dict[float, float] = {}

    def near(self, query: Array, radius: float) -> Array:
        if radius not in self._wide:
            self._wide[radius] = self._widened(radius)
        return np.flatnonzero(self._squared(query) <= self._wide[radius])

    def _widened(self, radius: float) -> float:
        about = []
        for query in self._sample:
            near = np.linalg.norm(self.vectors - query, axis=1) <= radius
            about.append(self._squared(query)[near])
        return float(np.quantile(np.concatenate(about), self.recall))

    def _squared(self, query: Array) -> Array:
        return self._quantizer.dtable(query).adist(self._codes)


class ProductQuantization75(ProductQuantization):
    recall = 0.75


@numba.njit(cache=True)
def _euclidean(one: Array, other: Array) -> float:
    total = 0.0
    for k in range(len(one)):
        total += (one[k] - other[k]) ** 2
    return np.sqrt(total)


@numba.njit(cache=True, fastmath={"reassoc", "contract"})
def _left_by_pivots(which: Array, far: Array, mine: Array, radius: float, query: Array, vectors: Array) -> Array:
    found = []
    for place in range(len(vectors)):
        out = False
        for group in range(which.shape[1]):
            if abs(far[place, group] - mine[which[place, group]]) > radius + 1e-4:
                out = True
                break
        if not out:
            total = 0.0
            for k in range(len(query)):
                total += (query[k] - vectors[place, k]) ** 2
            if total <= radius * radius:
                found.append(place)
    return np.array(found, np.int64)
