"""Which columns match mine: Dovetail beside brute force by BLAS, faiss, PEXESO-H and Algorithm 3, same answers.

    python benchmarks/semantic/search.py --values values.txt --size 200000 [--peers blas,faiss,sparse,paper]

`sparse` is brute force by SciPy's product of sparse matrices: the same sparsity as ours. BLAS and faiss have dense
vectors, and so has Algorithm 3 here.

`values.txt` has a value a line; where it has too few, names are made up. A query is a column whose values got typing
errors. Peers hold 8 KB a value: where the memory is too small for all, they are asked in runs of their own.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from catalog import write_catalog
from pexeso import Grid

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.embedders.calibration import COSINE, Matching
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.core import Space
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.query import TokenReader
from dovetail.search.semantic.match import TextQuery, similar
from dovetail.tables.input_table import open_table
from measured import record

COLUMN = 100
TAUS = (0.02, 0.04, 0.06, 0.08)
# Vectors of averaged words, for which the paper's τ was chosen, lie in a narrow cone. These factors give those of the
# embedders the same range.
SPREADS = {"ngrams": 0.145, "words": 0.18, "sentences": 0.2}
HARDEST = (0.08, 0.2)  # τ and T for which least is pruned
SHARES = "0.2,0.4,0.6,0.8"
PEERS = "blas,faiss,sparse,paper"
_PORTION = 1 << 14
_SPARSE_QUERIES = 16  # multiplied at a time: products are kept in memory


def made_up(number: int, seed: int = 1) -> list[str]:
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "in", "ol", "ur")]
    generator = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < number:
        words = [
            "".join(generator.choices(syllables, k=generator.randint(2, 4))) for _ in range(generator.randint(1, 3))
        ]
        found[" ".join(words)] = None
    return list(found)


def with_error(value: str, generator: random.Random) -> str:
    place = generator.randrange(len(value))
    return value[:place] + generator.choice(["", "x", "e", value[place] * 2]) + value[place + 1 :]


class OneSegment:
    """What `similar` needs of a segment: a lake in which every column is a table."""

    def __init__(self, folder: Path, values: list[str]) -> None:
        writer = SegmentWriter(folder / "segments")
        builders = [index.builder(folder, 1 << 30) for index in (TOKENS, PEXESO)]
        self.columns = -(-len(values) // COLUMN)
        for number in range(self.columns):
            part = values[number * COLUMN : (number + 1) * COLUMN]
            for builder in builders:
                builder.add(ColumnChunk(number, pa.array(part, pa.large_string()), np.ones(len(part), np.int64)))
        write_catalog(writer, self.columns)
        seconds = []
        for builder in builders:
            seconds.append(timed(lambda builder=builder: builder.finish(writer, [1] * self.columns))[0])
        segment = Segment(folder / "segments", writer.finish({"tables": self.columns}))
        self.bytes = segment.parts[PEXESO.name]["bytes"]
        self.build_seconds = seconds[1]
        self.tokens, self.texts = TokenReader(segment), PEXESO.open(segment)
        self.table_of = np.arange(self.columns)
        self.names = [f"{number:08}" for number in range(self.columns)]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of all threads: other programs on the machine do not count."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def radius_at(tau: float, space: Space) -> float:
    """The Euclidean distance that the paper's τ stands for."""
    return 2 * tau / SPREADS[space.embedder.name]


def within(tau: float, space: Space) -> Matching:
    """Values match within τ: by their cosines, which all peers compare, and not by a calibrated similarity."""
    return Matching(COSINE, 1 - radius_at(tau, space) ** 2 / 2)


def by_products(queries: Any, vectors: Any, column_of: Any, columns: int, radius: float, least: int) -> list[int]:
    met = np.zeros((len(queries), columns), bool)
    for start in range(0, len(vectors), 1 << 16):
        near = queries @ vectors[start : start + (1 << 16)].T >= 1 - radius**2 / 2
        rows, places = np.nonzero(near)
        met[rows, column_of[start + places]] = True
    return np.flatnonzero(met.sum(axis=0) >= least).tolist()


def by_faiss(flat: Any, queries: Any, column_of: Any, columns: int, radius: float, least: int) -> list[int]:
    limits, _, places = flat.range_search(queries, radius**2)
    met = np.zeros((len(queries), columns), bool)
    met[np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64))), column_of[places]] = True
    return np.flatnonzero(met.sum(axis=0) >= least).tolist()


def by_sparse_products(
    queries: Any, transposed: Any, column_of: Any, columns: int, radius: float, least: int
) -> list[int]:
    met = np.zeros((queries.shape[0], columns), bool)
    for start in range(0, queries.shape[0], _SPARSE_QUERIES):
        products = (queries[start : start + _SPARSE_QUERIES] @ transposed).tocoo()
        near = products.data >= 1 - radius**2 / 2
        met[start + products.row[near], column_of[products.col[near]]] = True
    return np.flatnonzero(met.sum(axis=0) >= least).tolist()


def as_scipy(vectors: Sparse, dimension: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((vectors.weights, vectors.dimensions, vectors.starts), shape=(len(vectors), dimension))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=3)
    parser.add_argument("--shares", default=SHARES, help="T, several")
    parser.add_argument("--peers", default=PEERS, help=f"some of {PEERS}, or nothing")
    parser.add_argument("--paper", type=int, default=20, help="values of a query that Algorithm 3 is asked")
    options = parser.parse_args()
    real = options.values.read_text(encoding="utf-8").splitlines() if options.values else []
    generator = random.Random(7)
    values = list(dict.fromkeys(real))[: options.size]
    print(f"{len(values):,} values of the file, the others made up")
    if len(values) < options.size:
        values = list(dict.fromkeys([*values, *made_up(options.size)]))[: options.size]
    with tempfile.TemporaryDirectory() as folder:
        run(OneSegment(Path(folder), values), values, options, generator)


def run(lake: OneSegment, values: list[str], options: argparse.Namespace, generator: random.Random) -> None:
    space = lake.texts.space
    strings = pa.array(values, pa.large_string())
    seconds, _ = timed(lambda: [space.sparse(strings.slice(at, 1 << 14)) for at in range(0, len(values), 1 << 14)])
    print(f"{len(values):,} values in {lake.columns:,} columns; embedded {len(values) / seconds:,.0f} values/s")
    print(f"built {len(values) / lake.build_seconds:,.0f} values/s, {lake.bytes / len(values):.0f} bytes/value")
    picked = [generator.randrange(lake.columns) for _ in range(options.queries)]
    asked = [[with_error(v, generator) for v in values[c * COLUMN : (c + 1) * COLUMN]] for c in picked]
    everything = [np.ones(lake.columns, bool)]
    chosen_peers = tuple(filter(None, options.peers.split(",")))
    peers = Peers(values, space, chosen_peers) if chosen_peers else None
    similar(
        [lake], TextQuery.of(open_table(asked[0]).columns[0], space), within(0.06, space), None, 50, everything
    )  # compiles
    print(f"tau   T    Dovetail CPU ms   times: {', '.join(chosen_peers)} (PEXESO-H, then Algorithm 3); same?")
    asked_peers = [name for name in ("blas", "faiss", "sparse") if peers and peers.has(name)]
    dense: list[float] = []
    hardest = None
    for tau in TAUS:
        for share in map(float, options.shares.split(",")):
            rows = [one(lake, column, tau, share, everything, space, peers, options.paper) for column in asked]
            mean = np.mean([row[0] for row in rows], axis=0)
            ratios = "".join(f"{value / mean[0]:10.1f}" for value in mean[1:])
            times = dict(zip(asked_peers, mean[1:] / mean[0], strict=False))  # the paper's come last
            dense += [times[name] for name in ("blas", "faiss") if name in times]
            if (tau, share) == HARDEST:
                hardest = times.get("sparse")
            same = all(row[1] for row in rows) if peers else ""
            print(f"{tau:.2f}  {share:.1f}  {1e3 * mean[0]:10.1f}  {ratios}   {same}", flush=True)
    record(values=len(values), dense=dense, sparse_hardest=hardest)


class Peers:
    """The same vectors, dense; faiss has a copy of its own."""

    def __init__(self, values: list[str], space: Any, chosen_peers: tuple[str, ...]) -> None:
        self.column_of = np.arange(len(values)) // COLUMN
        self.vectors = self.flat = self.grid = self.transposed = None
        dimension = space.embedder.dimension
        if "blas" in chosen_peers or "paper" in chosen_peers:
            self.vectors = np.empty((len(values), dimension), np.float32)
        if "faiss" in chosen_peers:
            import faiss

            faiss.omp_set_num_threads(1)
            self.flat = faiss.IndexFlatL2(dimension)
        if "sparse" in chosen_peers:
            every = space.sparse(pa.array(values, pa.large_string()))
            self.transposed = as_scipy(every, dimension).T.tocsr()
        if not {"blas", "faiss", "paper"} & set(chosen_peers):
            return
        for at in range(0, len(values), _PORTION):
            part = space.dense(pa.array(values[at : at + _PORTION], pa.large_string()))
            if self.vectors is not None:
                self.vectors[at : at + _PORTION] = part
            if self.flat is not None:
                self.flat.add(part)
        if "paper" in chosen_peers:
            self.grid = Grid(self.vectors, self.column_of, radius_at(0.06, space))
            print(f"Algorithm 3 with {len(self.grid.pivots)} pivots and {self.grid.levels} levels")
            for search in (self.grid.search_without_index, self.grid.search):
                search(self.vectors[:1], int(self.column_of[-1]) + 1, 0.1, 1)  # compiles

    def has(self, name: str) -> bool:
        return {"blas": self.vectors, "faiss": self.flat, "sparse": self.transposed}[name] is not None


def by_paper(
    peers: Peers, part: Any, queries: int, columns: int, radius: float, share: float, answer: Any
) -> list[tuple[float, Any]]:
    """PEXESO-H and Algorithm 3, asked some of the values only; the time of all is told.

    Their answers are compared with brute force for these values; null tells that they differ.
    """
    least = max(1, int(share * len(part)))
    expected = by_products(part, peers.vectors, peers.column_of, columns, radius, least)
    times = []
    for search in (peers.grid.search_without_index, peers.grid.search):
        seconds, found = timed(lambda search=search: search(part, columns, radius, least)[0])
        times.append((seconds * queries / len(part), answer if found.tolist() == expected else None))
    return times


def one(
    lake: OneSegment, values: list[str], tau: float, share: float, everything: Any, space: Any, peers: Peers | None,
    few: int,
) -> tuple[list[float], bool]:  # fmt: skip
    column = open_table(values).columns[0]
    least = int(np.ceil(share * column.counts.sum() - 1e-9))

    def ours() -> list[int]:
        asked = TextQuery.of(column, space)
        found = similar([lake], asked, within(tau, space), None, least, everything)  # type: ignore[list-item]
        return sorted(match.column for match in found)

    times = [timed(ours)]
    if peers:
        queries, radius = space.dense(column.tokens), radius_at(tau, space)
        count, column_of = lake.columns, peers.column_of
        if peers.vectors is not None:
            times.append(timed(lambda: by_products(queries, peers.vectors, column_of, count, radius, least)))
        if peers.flat is not None:
            times.append(timed(lambda: by_faiss(peers.flat, queries, column_of, count, radius, least)))
        if peers.transposed is not None:
            mine = as_scipy(space.sparse(column.tokens), space.embedder.dimension)
            times.append(timed(lambda: by_sparse_products(mine, peers.transposed, column_of, count, radius, least)))
        if peers.grid is not None:
            times += by_paper(peers, queries[:few], len(queries), count, radius, share, times[0][1])
    return [seconds for seconds, _ in times], all(found == times[0][1] for _, found in times)


if __name__ == "__main__":
    main()
