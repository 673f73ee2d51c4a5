"""Search by vectors equals brute force in float64: sparse and dense, whatever the segments, tables gone, k or share."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dovetail
from dovetail.api.lake import Lake
from dovetail.embedders import EMBEDDERS
from dovetail.embedders.calibration import COSINE, calibration_of
from dovetail.embedders.protocol import Sparse
from dovetail.indexes.pexeso.block_and_verify import ColumnGrid
from dovetail.indexes.pexeso.build import cluster
from dovetail.indexes.pexeso.core import texts_among
from dovetail.indexes.pexeso.dense import Clusters
from dovetail.indexes.pexeso.sparse import lists_of
from dovetail.papers import pexeso
from dovetail.papers.pexeso.column_clusters import CLUSTERINGS
from dovetail.papers.pexeso.partitions import Partitions
from dovetail.tables.input_table import open_table
from support.contents import contents_of
from support.letters import Letters
from support.pipeline import index, without_spark

WORDS = [
    "berlin",
    "berlim",
    "bern",
    "hamburg",
    "hamburk",
    "new york",
    "new yorck",
    "york",
    "st. gallen",
    "saint gallen",
]
VALUES = [*WORDS, "12", "ab", "ab1"]
cells = st.sampled_from([*VALUES, ""])
tables = st.lists(st.lists(cells, max_size=10), min_size=1, max_size=6)
queries = st.lists(st.sampled_from([*VALUES, "Berlin ", "nwe york", "never seen"]), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def letters(monkeypatch, tmp_path):
    monkeypatch.setitem(EMBEDDERS, "letters", Letters)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))


def write_lake(folder: Path, tables: list[list[str]]) -> Path:
    lake = folder / "lake"
    lake.mkdir()
    for number, values in enumerate(tables):
        lines = ["some text", *(f'"{value}"' for value in values)]
        (lake / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lake


# The cosine from which values match at some similarities, and by how their words relate: by the stored curves, which
# brute force reads itself.
def similarity_of(space, cosine: float, mine: str, theirs: str) -> float:
    if mine == theirs:
        return 1.0
    calibration = calibration_of(space.embedder)
    if calibration is COSINE:
        return min(max(cosine, 0.0), 1.0) if cosine >= 0.1 else 0.0
    texts = space._abbreviations.write_out(pa.array([mine, theirs], pa.large_string())).to_pylist()
    one, other = (set(re.findall(r"[^\W_]+", text)) for text in texts)
    shared = one & other
    if not shared:
        curve = 0
    elif shared not in (one, other):
        curve = 1
    else:
        curve = 2 if len(shared) == 1 and one != other else 3
    odds = calibration.intercepts[curve] + calibration.slopes[curve] * cosine
    return float(1 / (1 + np.exp(-odds))) if cosine >= 0.1 else 0.0


def brute_force(lake: Lake, column, least: float) -> dict[str, tuple[int, dict[str, float]]]:
    """By table the rows of mine that have a match, and for each value of mine the similarity of the best."""
    space = lake.segments[0].texts.space
    mine = column.tokens.to_pylist()
    vectors = space.dense(column.tokens).astype(np.float64)
    found = {}
    for table, content in contents_of(lake).items():
        theirs = list(content["sets"][0]) if content["sets"] else []
        others = space.dense(pa.array(theirs, pa.large_string())).astype(np.float64)
        texts = texts_among(pa.array(theirs, pa.large_string()))
        near: dict[str, float] = {}
        for value, vector, is_text in zip(mine, vectors, texts_among(column.tokens), strict=True):
            similarities = [
                similarity_of(space, 1 - float(np.sum((vector - other) ** 2)) / 2, value, their)
                for other, their, other_is_text in zip(others, theirs, texts, strict=True)
                if (is_text and other_is_text) or value == their
            ]
            if similarities and max(similarities) >= least:
                near[value] = max(similarities)
        rows = sum(count for value, count in zip(mine, column.counts.tolist(), strict=True) if value in near)
        found[table] = rows, near
    return found


@settings(max_examples=8)  # each writes an index; they are small, so that much happens in few
@given(
    tables=tables,
    query=queries,
    gone=st.integers(0, 5),
    k=st.integers(1, 6),
    share=st.sampled_from(["0.2", "0.6", "1"]),
    similarity=st.sampled_from([0.05, 0.3, 0.5, 0.8, 1.0]),
)
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
@pytest.mark.parametrize("embedder", ["ngrams", "letters"])
def test_equals_brute_force(tmp_path_factory, tables, query, gone, k, share, similarity, megabyte, embedder):
    folder = tmp_path_factory.mktemp("semantic")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx", embedder=embedder)
        dovetail.remove(folder / "idx", f"t{gone}.csv")
    lake = Lake(folder / "idx")
    column = open_table(query, segments=lake.segments).columns[0]
    if not lake.segments or not texts_among(column.tokens).any():
        return
    truth = brute_force(lake, column, similarity)
    least = Fraction(share) * int(column.counts.sum())

    def ordered(rows: int) -> list[tuple[str, int]]:
        kept = [(-n, -len(near), table) for table, (n, near) in truth.items() if n >= rows and n]
        return [(table, -n) for n, _, table in sorted(kept)]

    everything = lake.search(query, by="semantic", min_similarity=similarity, threshold=share, copies=True)
    assert [(hit.table, hit.matched_rows) for hit in everything] == ordered(int(-(-least // 1)))
    on_disk = [pexeso.Grids(partitions=2)] if len(lake.segments) == 1 else []  # files of each segment take their time
    for grids in (pexeso.Grids(), pexeso.Grids(pivots=2, levels=3), *on_disk):
        published = pexeso.joinable(lake, query, share, similarity, grids)
        found = [(match.table, match.rows, match.values) for match in published.matches]
        assert found == [(hit.table, hit.matched_rows, hit.overlap) for hit in everything]
        assert published.work.candidates >= len(found)
    best = lake.search(query, by="semantic", min_similarity=similarity, k=k, copies=True)
    assert [(hit.table, hit.matched_rows) for hit in best] == ordered(1)[:k]
    for hit in best:
        near = truth[hit.table][1]
        assert dict(hit.tokens).keys() == near.keys()
        assert [pair.similarity for pair in hit.mapping] == pytest.approx(
            [near[mine] for mine, _ in hit.tokens], abs=1e-9
        )
        assert hit.joinability == hit.matched_rows / column.counts.sum()
        assert hit.overlap == len(near)


def pairs_within(queries, vectors, radius) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs that are within by float64 for certain, and those for which the last bits decide."""
    distances = np.linalg.norm(queries[:, None].astype(np.float64) - vectors[None].astype(np.float64), axis=2)
    certain = {(int(q), int(v)) for q, v in np.argwhere(distances <= radius - 1e-12)}
    return certain, {(int(q), int(v)) for q, v in np.argwhere(abs(distances - radius) < 1e-12)}


def at_distance(queries, radius, generator):
    """Unit vectors about `radius` from each query: nearer or farther by up to 1e-5."""
    aside = generator.normal(size=queries.shape)
    aside -= np.sum(aside * queries, axis=1, keepdims=True) * queries
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    wanted = radius + generator.choice([-1e-5, -1e-6, -1e-7, 0, 1e-7, 1e-6, 1e-5], size=len(queries))
    angle = 2 * np.arcsin(wanted / 2)[:, None]
    return (np.cos(angle) * queries + np.sin(angle) * aside).astype(np.float32)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), radius=st.sampled_from([0.05, 0.3, 0.8, 1.2]), size=st.integers(0, 700))
def test_dense_vectors_near_the_threshold(seed, radius, size):
    generator = np.random.default_rng(seed)
    queries = generator.normal(size=(9, 96))
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    others = generator.normal(size=(size, 96))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    vectors = np.concatenate([at_distance(queries, radius, generator), others.astype(np.float32)])
    found = cluster(vectors)
    arrays = type("Arrays", (), {})()
    arrays.texts, arrays.cluster_starts, arrays.centres = len(vectors), found.starts, found.centres
    arrays.radii, arrays.basis = found.radii, found.basis
    arrays.heads, arrays.vectors = found.heads[found.order], vectors[found.order]
    mine = queries.astype(np.float32)
    rows, places, _ = Clusters(arrays).within(mine, radius, np.ones(len(vectors), bool))
    certain, undecided = pairs_within(mine, vectors, radius)
    assert certain <= set(zip(rows.tolist(), found.order[places].tolist(), strict=True)) <= certain | undecided


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), radius=st.sampled_from([0.05, 0.3, 0.8, 1.2, 1.9]), size=st.integers(0, 300),
    least=st.integers(1, 12), pivots=st.sampled_from([0, 1, 3]), levels=st.sampled_from([0, 1, 4]),
    sparse=st.booleans(), partitions=st.sampled_from([0, 1, 3]), clustering=st.sampled_from(list(CLUSTERINGS)),
)  # fmt: skip
def test_block_and_verify_rules_out_only_what_is_not_joinable(
    seed, radius, size, least, pivots, levels, sparse, partitions, clustering
):
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(size + 9, 32)) * (generator.random((size + 9, 32)) < (0.3 if sparse else 1.0))
    vectors[~vectors.any(axis=1), 0] = 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries, weights = vectors[:9].astype(np.float32), generator.integers(1, 4, 9)
    vectors = np.concatenate([at_distance(vectors[:9], radius, generator), vectors.astype(np.float32)])
    columns = 6
    held = [np.flatnonzero(generator.random(columns) < 0.3) for _ in vectors]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in held])])
    allowed, matched = generator.random(columns) < 0.8, generator.integers(0, 3, columns)
    stored = as_sparse(vectors) if sparse else vectors
    if partitions:
        texts = HeldTexts(stored, held, columns, f"{seed}-{radius}-{size}-{sparse}")
        grid = Partitions(texts, partitions, clustering, pivots, levels)
    else:
        grid = ColumnGrid.of(stored, 32, (offsets, np.concatenate(held)), radius, pivots, levels)
    found, computed = grid.joinable(queries, weights, radius, least, matched, allowed)

    def rows(radius: float) -> list[int]:
        near = np.linalg.norm(queries[:, None].astype(np.float64) - vectors[None].astype(np.float64), axis=2) <= radius
        of_column = [np.array([column in one for one in held]) for column in range(columns)]
        return [int(weights[near[:, mine].any(axis=1)].sum()) for mine in of_column]

    certain = allowed & (np.array(rows(radius)) + matched >= least)
    possible = allowed & (np.array(rows(np.sqrt(radius**2 + 1e-3))) + matched >= least)
    assert np.all(certain <= found)
    assert np.all(found <= possible)
    assert computed <= len(queries) * len(vectors) * max(partitions, 1)


class HeldTexts:
    """Texts of no segment, for partitions."""

    dimension = 32

    def __init__(self, vectors, held, columns, address) -> None:
        self._vectors, self._held, self.columns, self.address = vectors, held, columns, address
        self.texts = len(held)

    def vectors_of(self, places):
        return self._vectors.take(places) if isinstance(self._vectors, Sparse) else self._vectors[places]

    def columns_of(self, places):
        some = [self._held[place] for place in places]
        return np.concatenate([[0], np.cumsum([len(one) for one in some])]), np.concatenate(some)


def as_sparse(vectors) -> Sparse:
    rows, dimensions = np.nonzero(vectors)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(vectors)))])
    return Sparse(starts, dimensions.astype(np.int32), vectors[rows, dimensions])


@settings(max_examples=30)
@example(seed=1, radius=0.8, size=9_000)
@given(seed=st.integers(0, 10_000), radius=st.sampled_from([0.05, 0.3, 0.8, 1.2, 1.38]), size=st.integers(0, 400))
def test_sparse_vectors_near_the_threshold(seed, radius, size):
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(size + 20, 64)) * (generator.random((size + 20, 64)) < 0.15)
    vectors[vectors.any(axis=1) == 0, 0] = 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[:9]
    vectors = np.concatenate([at_distance(queries, radius, generator), vectors.astype(np.float32)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    allowed = generator.random(len(vectors)) < 0.9
    mine = queries.astype(np.float32)
    lists = lists_of(as_sparse(vectors), 64, lambda places: as_sparse(vectors[places]))
    rows, places, squared = lists.within(as_sparse(mine), radius, allowed)
    certain, undecided = ({pair for pair in pairs if allowed[pair[1]]} for pairs in pairs_within(mine, vectors, radius))
    assert certain <= set(zip(rows.tolist(), places.tolist(), strict=True)) <= certain | undecided
    true = np.linalg.norm(mine[rows].astype(np.float64) - vectors[places].astype(np.float64), axis=1) ** 2
    assert squared == pytest.approx(true, abs=1e-12)
