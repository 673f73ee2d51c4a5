"""Tables of an indexed lake as CSV files of normalised values, so that both sides see the same sets.

A column's distinct tokens stand below each other, and its first one again until the longest column ends: no side has to
say what it thinks of nulls. Columns without values are left out.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
from pathlib import Path

import numpy as np

from dovetail.api.lake import Lake


def write_tables(index: Path, number: int, folder: Path, seed: int) -> int:
    """Write a random choice of the lake's tables to t0.csv, t1.csv …; returns their columns."""
    lake = Lake(index)
    live = [(s, t) for s in lake.segments for t in np.flatnonzero(s.alive) if not s.catalog.table(int(t)).error]
    folder.mkdir(parents=True)
    columns = written = 0
    for segment, table in random.Random(seed).sample(live, len(live)):
        sets = [segment.tokens.set_of(column)[0] for column in segment.catalog.column_range(int(table))]
        lists = [segment.tokens.tokens(ids).to_pylist() for ids in sets if len(ids)]
        if not lists or written == number:
            continue
        rows = max(map(len, lists))
        padded = [[*values, *itertools.repeat(values[0], rows - len(values))] for values in lists]
        with (folder / f"t{written}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow(f"column {place} of it" for place in range(len(lists)))
            writer.writerows(zip(*padded, strict=True))
        columns += len(lists)
        written += 1
    return columns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", type=Path, help="the index of a lake")
    parser.add_argument("folder", type=Path, help="where to write, a new folder")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{write_tables(given.index, given.tables, given.folder, given.seed):,} columns")
