"""Precision and recall of sketches, as in section 2.5.4 of the thesis: by threshold and by query size, with baselines.

    python benchmarks/containment/accuracy.py domains --report FILE      generated sets
    python benchmarks/containment/accuracy.py INDEX --report FILE        the columns of a real lake, without numbers

MinHash LSH is the ensemble with one partition; Asymmetric MinHash pads every set to the size of the largest, and is
asked as one partition of that size. Both and LSH Ensemble with 8, 16 and 32 partitions are datasketch's; ours has the
same numbers of partitions. Nothing is verified: that is what the index itself gives (Figures 2.7 to 2.9). Then
approximate top-k by falling thresholds beside exact search, in time and recall (section 3.5.7).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from datasketch import MinHash, MinHashLSHEnsemble
from generate import generate
from measuring import ask_all

sys.path.append(str(Path(__file__).parent.parent / "overlap"))
from sets import sets_of

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.josie.query import JosieReader
from dovetail.indexes.lsh_ensemble import build as lsh_build
from dovetail.indexes.lsh_ensemble.index import LSH_ENSEMBLE
from dovetail.indexes.lsh_ensemble.query import LshEnsembleReader
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS

THRESHOLDS = ("0.2", "0.4", "0.6", "0.8", "1.0")
AT = "0.6"  # where query sizes are compared, as in the thesis
PARTITIONS = (8, 16, 32)
SIZES = (10, 100, 1_000, 10_000, 100_000)
KS = (5, 10, 20)
_PERMUTATIONS = 128
_LARGEST_HASH = (1 << 32) - 1
Answers = list[set[int]]


def load(lake: str, most: int, seed: int) -> list[list[str]]:
    """Sets of at least ten values, as the thesis has them."""
    if lake == "domains":
        from generate import Sets

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sets.npz"
            generate(file, "domains", most, 100_000, 1, seed)
            sets = Sets.load(file)
        return [[str(v) for v in sets.column(n).tolist()] for n in range(len(sets.offsets) - 1)]
    found = [tokens.to_pylist() for tokens in sets_of(Path(lake), numbers=False) if len(tokens) >= SIZES[0]]
    order = np.random.default_rng(seed).permutation(len(found))[:most]
    return [found[n] for n in order]


def draw_queries(columns: list[list[str]], each: int, seed: int) -> list[list[str]]:
    """Columns of the lake, as many of each range of sizes."""
    random, sizes = np.random.default_rng([seed, 1]), np.array([len(values) for values in columns])
    found = []
    for low, high in itertools.pairwise(SIZES):
        pool = np.flatnonzero((sizes >= low) & (sizes < high))
        found += [columns[n] for n in random.permutation(pool)[:each]]
    return found


def sketch(values: list[str]) -> MinHash:
    made = MinHash(num_perm=_PERMUTATIONS)
    made.update_batch([value.encode() for value in values])
    return made


def padded(made: MinHash, number: int, random: np.random.Generator) -> MinHash:
    """The sketch of the set with so many new values: the least of n uniform hashes, drawn from its distribution."""
    if not number:
        return made
    least = -np.expm1(np.log1p(-random.random(_PERMUTATIONS)) / number) * _LARGEST_HASH
    values = np.minimum(made.hashvalues, least.astype(made.hashvalues.dtype))
    return MinHash(num_perm=_PERMUTATIONS, hashvalues=values, permutations=made.permutations, scheme=made.scheme)


def by_datasketch(columns: list[list[str]], queries: list[list[str]]) -> Iterator[tuple[str, str, Answers]]:
    sketches, asked = [sketch(values) for values in columns], [sketch(values) for values in queries]
    largest, random = max(map(len, columns)), np.random.default_rng(3)
    full = [padded(made, largest - len(values), random) for made, values in zip(sketches, columns, strict=True)]
    kinds: dict[str, tuple[int, list[MinHash], Callable[[int], int]]] = {
        "MinHash LSH": (1, sketches, lambda n: len(columns[n])),
        "Asymmetric MinHash": (1, full, lambda n: largest),
        **{f"LSH Ensemble ({n})": (n, sketches, lambda n: len(columns[n])) for n in PARTITIONS},
    }
    for name, (partitions, kept, size) in kinds.items():
        for threshold in THRESHOLDS:
            index = MinHashLSHEnsemble(threshold=float(threshold), num_perm=_PERMUTATIONS, num_part=partitions)
            index.index([(n, made, size(n)) for n, made in enumerate(kept)])
            answers = [set(index.query(m, len(q))) for m, q in zip(asked, queries, strict=True)]
            yield name, threshold, answers


def segment_of(folder: Path, columns: list[list[str]], partitions: int) -> Segment:
    folder.mkdir()
    lsh_build.MOST_PARTITIONS = partitions
    writer = SegmentWriter(folder / "segments")
    builders = [index.builder(folder, 1 << 30) for index in (TOKENS, JOSIE, LSH_ENSEMBLE)]
    for number, values in enumerate(columns):
        for builder in builders:
            builder.add(ColumnChunk(number, pa.array(values, pa.large_string()), np.ones(len(values), np.int64)))
    counts = {"tables": 0}
    for builder in builders:
        counts |= builder.finish(writer, [1] * len(columns))
    return Segment(folder / "segments", writer.finish(counts))


def by_ours(segment: Segment, name: str, queries: list[pa.Array]) -> Iterator[tuple[str, str, Answers]]:
    reader = LshEnsembleReader(segment)
    for threshold in THRESHOLDS:
        found = [reader.search(q, Fraction(threshold), verify=False, plan="sketches").columns for q in queries]
        yield name, threshold, [set(columns.tolist()) for columns in found]


def mean(shares: list[float]) -> str:
    return f"{np.mean(shares):.2f}" if shares else "–"


def scored(answers: Answers, truth: Answers) -> str:
    """Precision over the queries that got an answer, as in the thesis, and recall."""
    pairs = list(zip(answers, truth, strict=True))
    precision = [len(right & given) / len(given) for given, right in pairs if given]
    recall = [len(right & given) / len(right) for given, right in pairs if right]
    return f"{mean(precision)} / {mean(recall)}"


def accuracy(columns: list[list[str]], queries: list[list[str]], folder: Path) -> Iterator[str]:
    asked = [pa.array(values, pa.large_string()) for values in queries]
    segments = {n: segment_of(folder / str(n), columns, n) for n in PARTITIONS}
    exact = JosieReader(segments[PARTITIONS[-1]])
    truth: dict[str, Answers] = {}
    for threshold in THRESHOLDS:
        found = [exact.search(q, len(columns), max(1, int(np.ceil(float(threshold) * len(q) - 1e-9)))) for q in asked]
        truth[threshold] = [set(match.columns.tolist()) for match in found]
    results: dict[str, dict[str, Answers]] = {}
    for name, threshold, answers in by_datasketch(columns, queries):
        results.setdefault(name, {})[threshold] = answers
    for number, segment in segments.items():
        for name, threshold, answers in by_ours(segment, f"ours ({number})", asked):
            results.setdefault(name, {})[threshold] = answers
    yield f"| precision / recall | {' | '.join(f't {threshold}' for threshold in THRESHOLDS)} |"
    yield "|---|" + "--:|" * len(THRESHOLDS)
    for name, by_threshold in results.items():
        yield f"| {name} | {' | '.join(scored(by_threshold[t], truth[t]) for t in THRESHOLDS)} |"
    ranges = list(itertools.pairwise(SIZES))
    places = [[n for n, q in enumerate(queries) if low <= len(q) < high] for low, high in ranges]
    yield ""
    yield f"| precision / recall at {AT} | {' | '.join(f'{low:,} to {high:,} values' for low, high in ranges)} |"
    yield "|---|" + "--:|" * len(ranges)
    for name, by_threshold in results.items():
        cells = [scored([by_threshold[AT][n] for n in some], [truth[AT][n] for n in some]) for some in places]
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    yield from top(segments[PARTITIONS[-1]], exact, asked)


def top(segment: Segment, exact: JosieReader, queries: list[pa.Array]) -> Iterator[str]:
    """Recall is the share of the k best overlaps that the approximate answer reaches: ties are all right."""
    sketches = LshEnsembleReader(segment)
    yield "| top k | query values | exact ms | approximate ms | recall |"
    yield "|--:|--:|--:|--:|--:|"
    for k in KS:
        for low, high in itertools.pairwise(SIZES):
            some = [q for q in queries if low <= len(q) < high]
            if not some:
                continue
            best, exact_seconds = ask_all(lambda q, k=k: exact.search(q, k), some)
            about, seconds = ask_all(lambda q, k=k: sketches.top(q, k), some)
            recall = [_recall(one.overlaps[:k], other.overlaps) for one, other in zip(best, about, strict=True)]
            yield (
                f"| {k} | {low:,} to {high:,} | {1e3 * np.mean(exact_seconds):.3f} | {1e3 * np.mean(seconds):.3f} "
                f"| {np.mean(recall):.3f} |"
            )


def _recall(best: Any, about: Any) -> float:
    return float(np.sum(about >= best[-1]) / len(best)) if len(best) else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", help="domains, or the path of an index")
    parser.add_argument("--columns", type=int, default=8_000, help="sets, at most")
    parser.add_argument("--queries", type=int, default=30, help="of each range of sizes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    columns = load(given.lake, given.columns, given.seed)
    queries = draw_queries(columns, given.queries, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"{len(columns):,} sets, {len(queries)} queries, seed {given.seed}.", ""]
        lines += accuracy(columns, queries, Path(folder))
    print("\n".join(lines))
    if given.report:
        given.report.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
