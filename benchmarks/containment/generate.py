"""Makes sets that overlap, with queries: the same for the same seed.

    python benchmarks/containment/generate.py FILE.npz [--like domains] [--columns 50000] [--largest 100000] [--seed 1]

`--like domains`, a lake of many subjects, with sizes by a power law: columns draw their values from domains of
power-law sizes, frequent values more often than rare ones; some columns are parts of an earlier one with values of
their own added. Queries are columns and parts of columns, with as many of 10 to 100 values as of 100 to 1,000 and of
more, some with values that nobody has.

`--like ids`, a lake of numbers that count things: all columns, of 1,000 values and more, draw from one range, so that
every value is in many of them and posting lists are long; some are parts of an earlier one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_EXPONENT = 1.23  # with 10 values at least, 53 on average
_DOMAINS = 2000
_COPIES = 0.3


@dataclass
class Sets:
    """Values are numbers; `offsets` has one item more than there are sets."""

    values: np.ndarray
    offsets: np.ndarray
    query_values: np.ndarray
    query_offsets: np.ndarray

    @classmethod
    def load(cls, file: Path) -> Sets:
        with np.load(file) as arrays:
            return cls(**{name: arrays[name] for name in ("values", "offsets", "query_values", "query_offsets")})

    def column(self, number: int) -> np.ndarray:
        return self.values[self.offsets[number] : self.offsets[number + 1]]

    def queries(self) -> list[np.ndarray]:
        return np.split(self.query_values, self.query_offsets[1:-1])

    def overlaps(self, query: np.ndarray) -> np.ndarray:
        """The truth: how many values every set shares with the query."""
        asked = np.zeros(int(max(self.values.max(), query.max())) + 1, np.int64)
        asked[query] = 1
        return np.add.reduceat(asked[self.values], self.offsets[:-1])


def draw_columns(rng: np.random.Generator, columns: int, largest: int) -> list[np.ndarray]:
    sizes = np.minimum(10 * (1 - rng.random(columns)) ** (-1 / _EXPONENT), largest).astype(np.int64)
    domain_sizes = np.minimum(40 * (1 - rng.random(_DOMAINS)) ** (-1 / 0.8), 4 * largest).astype(np.int64)
    firsts = np.cumsum(domain_sizes) - domain_sizes
    own = int(domain_sizes.sum())
    found: list[np.ndarray] = []
    for size in sizes.tolist():
        if found and rng.random() < _COPIES:
            source = found[rng.integers(len(found))]
            kept = rng.permutation(source)[: max(1, int(len(source) * rng.random()))]
            added = np.arange(own, own + rng.integers(1 + size // 2))
            own += len(added)
            found.append(np.concatenate([kept, added]))
            continue
        wide = np.flatnonzero(domain_sizes >= 1.5 * size)
        domain = wide[int(len(wide) * rng.random() ** 2)] if len(wide) else int(np.argmax(domain_sizes))
        ranks = np.unique((rng.random(3 * size) ** 1.7 * domain_sizes[domain]).astype(np.int64))
        found.append(firsts[domain] + rng.permutation(ranks)[:size])
    return found


def draw_ids(rng: np.random.Generator, columns: int, largest: int) -> list[np.ndarray]:
    """Sizes are as many of 1,000 to 2,000 as of 2,000 to 4,000 and so on."""
    sizes = np.exp(rng.uniform(np.log(1000), np.log(largest), columns)).astype(np.int64)
    found: list[np.ndarray] = []
    for size in sizes.tolist():
        if found and rng.random() < _COPIES:
            source = found[rng.integers(len(found))]
            found.append(rng.permutation(source)[: max(1000, int(len(source) * rng.random()))])
        else:
            found.append(rng.choice(2 * largest, size, replace=False))
    return found


def draw_queries(rng: np.random.Generator, columns: list[np.ndarray], count: int) -> list[np.ndarray]:
    sizes = np.array([len(column) for column in columns])
    unheard = int(max(column.max() for column in columns)) + 1
    found = []
    for number in range(count):
        low, high = ((10, 100), (100, 1000), (1000, 1 << 60))[number % 3]
        fitting = np.flatnonzero((sizes >= low) & (sizes < high))
        column = columns[rng.choice(fitting if len(fitting) else len(columns))]
        query = column if number % 2 else rng.permutation(column)[: max(5, len(column) // 3)]
        strangers = np.arange(unheard, unheard + (len(query) // 5 if number % 5 == 0 else 0))
        found.append(np.concatenate([query, strangers]))
    return found


_LIKE = {"domains": draw_columns, "ids": draw_ids}


def generate(file: Path, like: str, columns: int, largest: int, queries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = _LIKE[like](rng, columns, largest)
    asked = draw_queries(rng, sets, queries)
    np.savez(
        file,
        values=np.concatenate(sets),
        offsets=np.cumsum([0, *map(len, sets)]),
        query_values=np.concatenate(asked),
        query_offsets=np.cumsum([0, *map(len, asked)]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--like", choices=sorted(_LIKE), default="domains")
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generate(options.file, options.like, options.columns, options.largest, options.queries, options.seed)
    sets = Sets.load(options.file)
    print(f"{len(sets.offsets) - 1:,} columns, {len(sets.values):,} values, {len(np.unique(sets.values)):,} distinct")


if __name__ == "__main__":
    main()
