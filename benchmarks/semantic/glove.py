"""Joinable columns in the paper's setting, Table VII and Figure 10: real columns, dense vectors, the paper's τ and T.

    python benchmarks/semantic/glove.py INDEX --report FILE
    python benchmarks/semantic/glove.py INDEX --embedder words --queries 4 --peers BLAS,faiss,"ball tree"

`search --by semantic`, with blocking and without, answers queries that are whole columns of the lake, and so do the
peers (peers.py), over the same dense vectors: nobody has sparse ones here. Peers have each distinct vector once, as we
do; PEXESO-H and Algorithm 3 have one for each value of a column, as in the paper. Exact answers must be the same. A
cover tree in pure Python is asked some of the values only, and its time is multiplied.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from peers import (
    BallTree,
    CoverTree,
    ExtendedPivotTable,
    Faiss,
    Peer,
    ProductQuantization,
    ProductQuantization75,
    Products,
)
from pexeso import Grid
from setting import SHARES, TAUS, OneSegment, blocked, columns_of, timed, unblocked

from dovetail.embedders.calibration import COSINE, Matching
from dovetail.search.semantic.match import SimilarMatch, TextQuery, similar
from dovetail.tables.input_table import open_table

PEERS: dict[str, type[Peer]] = {
    "BLAS": Products,
    "faiss": Faiss,
    "ball tree": BallTree,
    "EPT": ExtendedPivotTable,
    "PQ-75": ProductQuantization75,
    "PQ-85": ProductQuantization,
    "CTREE": CoverTree,
}
APPROXIMATE, SLOW = ("PQ-75", "PQ-85"), ("CTREE",)
FEW = 5  # values that a slow peer is asked


class Bench:
    """The same columns for everybody."""

    def __init__(self, lake: OneSegment, columns: list[list[str]], peers: list[str]) -> None:
        self.lake, self.count = lake, len(columns)
        reader, space = lake.texts, lake.texts.space
        self.column_of = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
        self.vectors = np.concatenate([space.dense(pa.array(values, pa.large_string())) for values in columns])
        distinct = np.asarray(reader.vectors_of(slice(None)))
        held = reader.columns_of(slice(None))
        made = {name: timed(partial(PEERS[name], distinct, held, self.count)) for name in peers}
        self.peers = {name: peer for name, (_, peer) in made.items()}
        grid_seconds, self.grid = timed(lambda: Grid(self.vectors, self.column_of, 2 * TAUS[0]))
        self.made = {name: seconds for name, (seconds, _) in made.items()} | {"Algorithm 3": grid_seconds}
        self.recalls: dict[str, list[float]] = {name: [] for name in peers if name in APPROXIMATE}
        self.precisions: dict[str, list[float]] = {name: [] for name in self.recalls}

    def query(self, values: list[str]) -> TextQuery:
        return TextQuery.of(open_table(values).columns[0], self.lake.texts.space)

    def searches(self, query: TextQuery, tau: float, share: float) -> dict[str, Callable[[], Any]]:
        """By name, what finds the joinable columns."""
        radius, least = 2 * tau, max(1, int(np.ceil(share * query.column.size)))
        dense, matching = np.asarray(query.vectors.vectors), Matching(COSINE, 1 - radius**2 / 2)
        known = dense, self.count, radius, least

        every = np.ones(self.count, bool)

        def columns(found: list[SimilarMatch]) -> list[int]:
            return sorted(match.column for match in found)

        return {
            "ours": lambda: columns(similar([self.lake], query, matching, None, least, [every])),  # type: ignore[list-item]
            "vectors": lambda: columns(unblocked(self.lake, query, matching, least, every)),
            "pexeso": lambda: columns(blocked(self.lake, query, matching, least, every)),
            "PEXESO-H": lambda: self.grid.search_without_index(*known)[0].tolist(),
            "Algorithm 3": lambda: self.grid.search(*known)[0].tolist(),
            **{name: partial(peer.search, dense[: _asked(name)], radius, least) for name, peer in self.peers.items()},
        }

    def times(self, query: TextQuery, tau: float, share: float, repeat: int = 3) -> dict[str, float]:
        """CPU milliseconds of each, the least of the repetitions; exact answers must agree."""
        searches = self.searches(query, tau, share)
        once = SLOW + APPROXIMATE + ("ball tree",)
        runs = {name: [timed(run) for _ in range(1 if name in once else repeat)] for name, run in searches.items()}
        exact = runs["ours"][0][1]
        for name, each in runs.items():
            if name in APPROXIMATE:
                right = len(set(each[0][1]) & set(exact))
                self.recalls[name].append(right / len(exact))
                self.precisions[name].append(right / len(each[0][1]) if each[0][1] else 1.0)
            elif name not in SLOW:
                assert each[0][1] == exact, (name, tau, share)
        size = len(query.texts)
        scale = {name: size / min(size, FEW) for name in SLOW}
        return {name: 1e3 * scale.get(name, 1.0) * min(seconds for seconds, _ in each) for name, each in runs.items()}


def _asked(name: str) -> int | None:
    return FEW if name in SLOW else None


def measure(lake: OneSegment, columns: list[list[str]], asked: list[list[str]], peers: list[str]) -> Iterator[str]:
    bench = Bench(lake, columns, peers)
    embedding, queries = timed(lambda: [bench.query(values) for values in asked])
    bench.times(queries[0], TAUS[0], SHARES[0], 1)  # compiles
    for name in bench.recalls:
        bench.recalls[name].clear(), bench.precisions[name].clear()
    names = list(bench.searches(queries[0], TAUS[0], SHARES[0]))
    texts = lake.texts.texts
    yield (
        f"{len(bench.vectors):,} vectors of {lake.texts.dimension} dimensions, {texts:,} of them distinct, in "
        f"{len(columns):,} columns; |P| {len(bench.grid.pivots)}, m {bench.grid.levels}. {len(queries)} queries of "
        f"{np.mean([len(q.texts) for q in queries]):.0f} values on average. CPU milliseconds a query. "
        f"Built from values in {lake.build_seconds:.1f} s ({texts / lake.build_seconds:,.0f} texts/s); the values of a "
        f"query become vectors in {1e3 * embedding / len(queries):.1f} ms, which is left out below. Made in memory: "
        + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in bench.made.items())
        + "."
    )
    yield f"\n| τ | T | {' | '.join(names)} |"
    yield "|--:|--:|" + "--:|" * len(names)
    for tau in TAUS:
        for share in SHARES:
            times = [bench.times(query, tau, share) for query in queries]
            means = [f"{np.mean([each[name] for each in times]):.1f}" for name in names]
            yield f"| {tau:.0%} | {share:.0%} | {' | '.join(means)} |"
    for name, recalls in bench.recalls.items():
        yield f"\n{name}: columns with recall {np.mean(recalls):.2f}, precision {np.mean(bench.precisions[name]):.2f}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--columns", type=int, default=627, help="of the lake, at most")
    parser.add_argument("--least", type=int, default=20, help="values of a column")
    parser.add_argument("--longest", type=int, default=1000, help="values of a column")
    parser.add_argument("--queries", type=int, default=8)
    parser.add_argument("--embedder", default="glove", help="another one, for the same columns and τ")
    parser.add_argument("--peers", default="BLAS,faiss,ball tree,EPT,PQ-75,PQ-85", help=f"some of {','.join(PEERS)}")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    columns = columns_of(given.index, given.columns, given.least, given.longest)
    asked = [columns[n] for n in np.random.default_rng(7).choice(len(columns), given.queries, replace=False)]
    with tempfile.TemporaryDirectory() as folder:
        lake = OneSegment(Path(folder), columns, given.embedder)
        lines = []
        for line in measure(lake, columns, asked, [name for name in given.peers.split(",") if name]):
            print(line, flush=True)
            lines.append(line)
    if given.report:
        given.report.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
