"""The paper's partitions of columns, for lakes beyond memory: clustered by Jensen-Shannon divergence, or at random.

    python benchmarks/semantic/partitions.py --values values.txt --size 20000 --embedder words

A column is a histogram of its vectors over regions of the pivot space; k-means, with the divergence as distance, makes
the clusters. Every cluster has pivots and a grid of its own, and all are searched one after another. Told: distances
computed and CPU seconds, beside one grid over all columns; answers are compared with brute force.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))
from pexeso import Grid
from search import COLUMN, by_products, made_up, radius_at, timed, with_error

from dovetail.indexes.pexeso.block_and_verify import distances
from dovetail.indexes.pexeso.core import VectorParameters
from dovetail.indexes.pexeso.grid import choose_pivots

Array = npt.NDArray[Any]
PIVOTS, REGIONS, ROUNDS = 3, 4, 10
TAUS, SHARES = (0.04, 0.06, 0.08), (0.2, 0.6)


def histograms(vectors: Array, columns: Array) -> Array:
    """For each column the share of its vectors in each region: intervals of the distances to some pivots."""
    places = distances(vectors, choose_pivots(vectors, PIVOTS))
    inner = np.linspace(0, 1, REGIONS + 1)[1:-1]  # equally full: most vectors are about as far from a pivot
    cells = [np.searchsorted(np.quantile(axis, inner), axis) for axis in places.T]
    key = np.ravel_multi_index(cells, (REGIONS,) * PIVOTS)
    counts = np.zeros((int(columns.max()) + 1, REGIONS**PIVOTS))
    np.add.at(counts, (columns, key), 1.0)
    return counts / counts.sum(axis=1, keepdims=True)


def divergences(shares: Array, centre: Array) -> Array:
    """Jensen-Shannon divergences of distributions from one: the mean of both divergences from their middle."""
    middle = (shares + centre) / 2

    def from_middle(one: Array) -> Array:
        ratios = np.divide(one, middle, out=np.ones_like(middle), where=one > 0)
        return np.sum(one * np.log(ratios), axis=1)

    return (from_middle(shares) + from_middle(np.broadcast_to(centre, shares.shape))) / 2


def clustered(shares: Array, number: int, seed: int = 1) -> Array:
    """The cluster of each column."""
    centres = shares[np.random.default_rng(seed).choice(len(shares), number, replace=False)]
    for _ in range(ROUNDS):
        cluster = np.argmin([divergences(shares, centre) for centre in centres], axis=0)
        centres = np.array(
            [shares[cluster == k].mean(0) if np.any(cluster == k) else centres[k] for k in range(number)]
        )
    return cluster


class Parts:
    """A grid for the columns of each cluster."""

    def __init__(self, vectors: Array, columns: Array, cluster: Array, radius: float) -> None:
        self.grids, self.names = [], []
        for number in np.unique(cluster):
            names, mine = np.unique(columns[cluster[columns] == number], return_inverse=True)
            part = vectors[cluster[columns] == number]
            self.grids.append(Grid(part, mine, radius))
            self.names.append(names)

    def search(self, queries: Array, radius: float, least: int) -> tuple[list[int], int]:
        found, computed = [], 0
        for grid, names in zip(self.grids, self.names, strict=True):
            hits, distances = grid.search(queries, len(names), radius, least)
            found += names[hits].tolist()
            computed += distances
        return sorted(found), computed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--queries", type=int, default=3)
    parser.add_argument("--embedder", default="words")
    options = parser.parse_args()
    real = options.values.read_text(encoding="utf-8").splitlines() if options.values else made_up(options.size)
    values = list(dict.fromkeys(real))[: options.size]
    space = VectorParameters.chosen(options.embedder).space()
    vectors = space.dense(pa.array(values, pa.large_string()))
    columns = np.arange(len(values)) // COLUMN
    number, radius = int(columns[-1]) + 1, radius_at(0.06, space)
    ways = {
        "one grid": np.zeros(number, np.int64),
        "at random": np.random.default_rng(1).integers(0, options.parts, number),
        "by divergence": clustered(histograms(vectors, columns), options.parts),
    }
    parts = {name: Parts(vectors, columns, cluster, radius) for name, cluster in ways.items()}
    print(f"{len(values):,} values in {number:,} columns, {options.embedder}; columns of the {options.parts} clusters:")
    print({name: np.bincount(cluster).tolist() for name, cluster in ways.items()})
    parts["one grid"].search(vectors[:2], radius, 1)  # compiles
    generator = random.Random(7)
    asked = [generator.randrange(number) for _ in range(options.queries)]
    queries = [
        space.dense(pa.array([with_error(v, generator) for v in values[c * COLUMN : (c + 1) * COLUMN]])) for c in asked
    ]
    for tau in TAUS:
        for share in SHARES:
            tell(tau, share, radius_at(tau, space), queries, vectors, columns, parts)


def tell(
    tau: float, share: float, radius: float, queries: list[Array], vectors: Array, columns: Array,
    parts: dict[str, Parts],
) -> None:  # fmt: skip
    least = int(share * COLUMN)
    expected = [by_products(q, vectors, columns, int(columns[-1]) + 1, radius, least) for q in queries]
    print(f"{tau:.2f}  {share:.1f}", end="")
    pairs = sum(len(q) for q in queries) * len(vectors)
    for name, part in parts.items():
        runs = [timed(lambda q=q, part=part: part.search(q, radius, least)) for q in queries]
        same = all(found == right for (_, (found, _)), right in zip(runs, expected, strict=True))
        computed, seconds = sum(run[1][1] for run in runs), sum(run[0] for run in runs)
        print(f"   {name}: {computed / pairs:.1%} of the distances, {seconds:.2f} s, same {same}", end="")
    print(flush=True)


if __name__ == "__main__":
    main()
