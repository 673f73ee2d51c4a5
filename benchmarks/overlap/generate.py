"""Makes sets with the skew of Table 3.1 of Zhu's thesis and builds them into one segment, without Spark.

    python benchmarks/overlap/generate.py DIR --like open_data --columns 20000
    python benchmarks/overlap/generate.py DIR --like web_tables --columns 1000000

Columns draw from domains (countries, product numbers, …) of very different size. A domain's first tokens are its
most popular. Both kinds keep about the thesis' mean set size (1,540 and 10); repeated draws of a token make sets
smaller than they were meant to be, which `mean` makes up for.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._storage.segment import Segment, SegmentRef, SegmentWriter
from dovetail.indexes.josie import JOSIE
from dovetail.indexes.protocol import Piece
from dovetail.indexes.tokens import TOKENS

_REF = "segment-ref.json"
_MEMORY = 6 << 30
_BLOCK = 5_000  # columns whose tokens are made at once
_COMMON = 100_000  # tokens that all domains share


@dataclass(frozen=True)
class Kind:
    """How sets are drawn: Pareto sizes, tokens of a domain, and some of a vocabulary that all domains share."""

    shape: float
    mean: int
    largest: int
    columns_by_domain: int
    bias: float  # of a domain's tokens: 1 is even
    common: float  # share of the tokens that come from the common vocabulary, by Zipf's law


KINDS = {
    "open_data": Kind(shape=0.75, mean=2_200, largest=1_000_000, columns_by_domain=12, bias=1.5, common=0.05),
    "web_tables": Kind(shape=1.2, mean=14, largest=17_000, columns_by_domain=10, bias=1.5, common=0.3),
}


def sizes_of(kind: Kind, columns: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Pareto sizes, scaled until the mean fits, falling."""
    drawn = (1 - random.random(columns)) ** (-1 / kind.shape)
    low, high = 0.01, 1000.0
    for _ in range(60):
        scale = (low * high) ** 0.5
        sizes = np.clip(drawn * scale, 1, kind.largest)
        low, high = (scale, high) if sizes.mean() < kind.mean else (low, scale)
    return np.sort(sizes.astype(np.int64))[::-1]


def draw_sets(kind: Kind, columns: int, seed: int) -> Iterator[pa.LargeStringArray]:
    """The tokens of one column after another. Columns of like size share a domain, twice as large as the largest."""
    random = np.random.default_rng(seed)
    sizes = sizes_of(kind, columns, random)
    domain = np.arange(columns) // kind.columns_by_domain
    spans = 2 * sizes[domain * kind.columns_by_domain]
    starts = np.concatenate([[0], np.cumsum(spans[:: kind.columns_by_domain])])[domain]
    foreign = random.random(columns) < 0.3  # part of these tokens come from a domain of any other column
    other = random.integers(0, columns, columns)
    order = random.permutation(columns)
    for block in range(0, columns, _BLOCK):
        drawn = []
        for column in order[block : block + _BLOCK]:
            own = random.random(sizes[column])
            ids = starts[column] + (spans[column] * own**kind.bias).astype(np.int64)
            if foreign[column]:
                half = len(ids) // 2
                ids[:half] = starts[other[column]] + (spans[other[column]] * own[:half] ** kind.bias).astype(np.int64)
            shared = random.random(len(ids)) < kind.common
            ids[shared] = -np.exp(random.random(int(shared.sum())) * np.log(_COMMON)).astype(np.int64)
            drawn.append(np.unique(ids))
        text = pc.cast(pa.array(np.concatenate(drawn)), pa.large_string())
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in drawn])])
        for at in range(len(drawn)):
            yield text.slice(offsets[at], offsets[at + 1] - offsets[at])


def generate(folder: Path, kind: Kind, columns: int, seed: int) -> dict[str, float]:
    """Build the segment; returns seconds by index."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder))
    writer = SegmentWriter(folder / "segments")
    builder = TOKENS.builder(scratch, _MEMORY)
    seconds = {}
    start = time.perf_counter()
    for number, tokens in enumerate(draw_sets(kind, columns, seed)):
        builder.add(Piece(number, tokens, np.ones(len(tokens), np.int64)))
    seconds["draw"] = time.perf_counter() - start
    counts = {"tables": 0}
    for name, part in (("tokens", builder), ("josie", JOSIE.builder(scratch, _MEMORY))):
        start = time.perf_counter()
        counts |= part.finish(writer, [1] * columns)
        seconds[name] = time.perf_counter() - start
    (folder / _REF).write_text(json.dumps(writer.finish(counts).to_json()))
    shutil.rmtree(scratch)
    return seconds


def open_generated(folder: Path) -> Segment:
    return Segment(folder / "segments", SegmentRef.from_json(json.loads((folder / _REF).read_text())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--like", choices=KINDS, required=True)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    seconds = generate(arguments.folder, KINDS[arguments.like], arguments.columns, arguments.seed)
    reader = JOSIE.open(open_generated(arguments.folder))
    tokens = reader.tokens.arrays
    sizes, lists = reader.tokens.set_sizes(), np.diff(tokens.posting_offsets)
    print(f"{tokens.columns:,} sets, largest {sizes.max():,}, mean {sizes.mean():,.0f}; {tokens.tokens:,} tokens")
    print(f"{tokens.groups:,} distinct lists, longest {lists.max():,}, mean {lists.mean():.1f}")
    print(f"seconds: {', '.join(f'{name} {value:.1f}' for name, value in seconds.items())}; costs {reader.costs}")


if __name__ == "__main__":
    main()
