"""Queries of a grid of sizes: values of columns of the lake, and a tenth that no column has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.indexes.josie.query import JosieReader

SIZES = (10, 100, 1_000, 10_000, 100_000)


def draw_queries(reader: JosieReader, largest: int, number: int, seed: int) -> dict[int, list[pa.Array]]:
    """From columns that are large enough for a size; where there are none, from the largest, several together."""
    random = np.random.default_rng([seed, 1])  # not the numbers that the sets were drawn with
    sizes = reader.tokens.set_sizes()
    queries = {}
    for size in SIZES:
        if size <= min(largest, reader.tokens.arrays.tokens):
            pool = np.flatnonzero((sizes >= size) & (sizes < 20 * size))
            pool = pool if len(pool) else np.argsort(sizes)[-max(100, len(sizes) // 20) :]
            queries[size] = [_draw_query(reader, size, pool, random) for _ in range(number)]
    return queries


def _draw_query(reader: JosieReader, size: int, pool: npt.NDArray[np.int64], random: np.random.Generator) -> pa.Array:
    wanted = size - size // 10
    ids = np.empty(0, np.int64)
    for column in random.permutation(pool):
        if len(ids) >= wanted:
            break
        ids = np.union1d(ids, reader.tokens.set_of(int(column))[0])
    known = reader.tokens.tokens(random.permutation(ids)[:wanted])
    foreign = pa.array([f"foreign {i}" for i in range(size - len(known))], pa.large_string())
    return pa.concat_arrays([known, foreign])
