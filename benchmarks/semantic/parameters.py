"""The paper's Table VI: the number of pivots |P| and of levels m, in the time of making, blocking and verifying.

    python benchmarks/semantic/parameters.py INDEX --tau 0.02 --report FILE

Algorithm 3 over one vector for each value of a column, in the paper's setting (setting.py). Queries are whole columns;
T is 60 %. The paper goes to m = 8; here a cell's key has 64 bits, so m ends at 6. At the end, what the cost model would
choose.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pexeso import Grid
from setting import OneSegment, columns_of, timed

PIVOTS, LEVELS = (1, 3, 5, 7, 9), (2, 3, 4, 5, 6)
SHARE = 0.6


def table(columns: list[list[str]], embedder: str, tau: float, queries: int, folder: Path) -> Iterator[str]:
    space = OneSegment(folder, columns[:1], embedder).texts.space
    parts = [space.dense(pa.array(values, pa.large_string())) for values in columns]
    vectors, radius = np.concatenate(parts), 2 * tau
    column_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    asked = [parts[n] for n in np.random.default_rng(7).choice(len(parts), queries, replace=False)]
    yield (
        f"{len(vectors):,} vectors in {len(parts):,} columns, {embedder}, τ {tau:.0%}, T {SHARE:.0%}; "
        f"{queries} queries of {np.mean([len(one) for one in asked]):.0f} values on average. CPU: seconds of making, "
        "milliseconds a query."
    )
    yield ""
    yield "| P | m | leaves | made, s | block | block + verify | distances |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    best = {}
    for pivots in PIVOTS:
        for levels in LEVELS:
            made, grid = timed(lambda p=pivots, m=levels: Grid(vectors, column_of, radius, p, m))
            blocking, whole, computed = measure(grid, asked, len(parts), radius)
            best[whole] = pivots, levels
            yield (
                f"| {pivots} | {levels} | {len(grid.grid.grid.leaf_keys):,} | {made:.2f} | {blocking:.1f} "
                f"| {whole:.1f} | {computed:,} |"
            )
    chosen = Grid(vectors, column_of, radius)
    yield ""
    yield f"Best: {best[min(best)]}. The cost model chooses ({len(chosen.pivots)}, {chosen.levels})."


def measure(grid: Grid, asked: list[np.ndarray], columns: int, radius: float) -> tuple[float, float, int]:
    """Milliseconds of blocking, and of all, the least of three; and distances, for a query on average."""
    grid.search(asked[0][:2], columns, radius, 1)  # compiles
    grid.block(asked[0][:2], radius)
    blocking, whole, computed = [], [], []
    for query in asked:
        least = int(np.ceil(SHARE * len(query)))
        blocking.append(min(timed(lambda q=query: grid.block(q, radius))[0] for _ in range(3)))
        runs = [timed(lambda q=query, n=least: grid.search(q, columns, radius, n)) for _ in range(3)]
        whole.append(min(seconds for seconds, _ in runs))
        computed.append(runs[0][1][1])
    return 1e3 * float(np.mean(blocking)), 1e3 * float(np.mean(whole)), int(np.mean(computed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--columns", type=int, default=627, help="of the lake, at most")
    parser.add_argument("--least", type=int, default=20, help="values of a column")
    parser.add_argument("--longest", type=int, default=1000, help="values of a column")
    parser.add_argument("--queries", type=int, default=6)
    parser.add_argument("--tau", type=float, default=0.02)
    parser.add_argument("--embedder", default="glove")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    columns = columns_of(given.index, given.columns, given.least, given.longest)
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(table(columns, given.embedder, given.tau, given.queries, Path(folder)))
    print(text)
    if given.report:
        given.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
