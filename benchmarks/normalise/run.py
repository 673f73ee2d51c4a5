"""How fast values are normalised: values per second by kind of column, and microseconds for a tiny column.

    python benchmarks/normalise/run.py [--values 1000000]

Every figure is fold, gather, decide and tokens together, on one core, the best of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dovetail.normalise import decide, fold, gather, tokens

TINY = 20
WORDS = ("Alder", "birch", "CEDAR", "Elm Tree", "fir", "Great Oak", "hazel", "Pine")


def text(i: int) -> str:
    return f"{WORDS[i % len(WORDS)]} {i}"


def accented(i: int) -> str:
    return f"Été {WORDS[i % len(WORDS)]} {i}"


def combining(i: int) -> str:
    return f"E\u0301te\u0301 {i}"


def integer(i: int) -> str:
    return str(i * 7919)


def real(i: int) -> str:
    return f"{i}.{i % 100:02d}0"


def date(i: int) -> str:
    return f"{i % 28 + 1}/{i % 12 + 1}/{1000 + i % 9000}"


COLUMNS: tuple[Callable[[int], str], ...] = (text, accented, combining, integer, real, date)


def normalise_column(raw: pa.Array, counts: np.ndarray) -> None:
    folded = fold(raw)
    tokens(folded, decide(gather(folded, counts)))


def best_seconds(raw: pa.Array, repeat: int, runs: int) -> float:
    """Seconds for one column, from the fastest of ``runs`` rounds of ``repeat`` columns."""
    counts = np.ones(len(raw), dtype=np.int64)
    normalise_column(raw, counts)
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(repeat):
            normalise_column(raw, counts)
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=1_000_000, help="distinct values of the large columns")
    size = parser.parse_args().values
    print(f"{'column':<12}{'million values/s':>18}{f'microseconds for {TINY}':>24}")
    for column in COLUMNS:
        large = best_seconds(pa.array([column(i) for i in range(size)]), repeat=1, runs=3)
        tiny = best_seconds(pa.array([column(i) for i in range(TINY)]), repeat=200, runs=5)
        print(f"{column.__name__:<12}{size / large / 1e6:>18.1f}{tiny * 1e6:>24.1f}")


if __name__ == "__main__":
    main()
