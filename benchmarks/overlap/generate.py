"""Draws sets with the skew of Table 3.1 of Zhu's thesis.

Columns draw from domains (countries, product numbers, …) of very different size. A domain's first tokens are its
most popular. Both kinds keep about the thesis' mean set size (1,540 and 10); repeated draws of a token make sets
smaller than they were meant to be, which `mean` makes up for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BLOCK = 5_000  # columns whose tokens are made at once
COMMON = 100_000  # tokens that all domains share


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
            ids[shared] = -np.exp(random.random(int(shared.sum())) * np.log(COMMON)).astype(np.int64)
            drawn.append(np.unique(ids))
        text = pc.cast(pa.array(np.concatenate(drawn)), pa.large_string())
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in drawn])])
        for at in range(len(drawn)):
            yield text.slice(offsets[at], offsets[at + 1] - offsets[at])
