"""Is a declared key of several columns found by a search with no column named, on these columns?

    python benchmarks/ranking/composite.py INDEX DATABASES

INDEX and DATABASES are those of benchmarks/judgement/search.py. Every table that declares a foreign key of several
columns is a question. Reported: how often the table that it refers to is among the first ten hits, how often as a hit
on several columns, all of which belong to the declared key (a part of it that identifies the rows is as good), and at
which rank.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import dovetail

_K = 10
Pairs = frozenset[tuple[str, str]]


def composite_keys(databases: Path) -> dict[tuple[Path, Path], list[Pairs]]:
    """The declared keys of several columns, by the file that refers and the file that is referred to."""
    found: dict[tuple[Path, Path], list[Pairs]] = defaultdict(list)
    for truth in sorted(databases.glob("*/truth.json")):
        for key in json.loads(truth.read_text(encoding="utf-8"))["foreign_keys"]:
            tables = tuple(truth.parent / "tables" / f"{key[side]}.csv" for side in ("from_table", "to_table"))
            if len(key["from_columns"]) > 1 and tables[0] != tables[1]:
                found[tables].append(frozenset(zip(key["from_columns"], key["to_columns"], strict=True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("databases", type=Path)
    options = parser.parse_args()
    lake = dovetail.Lake(options.index)
    paths = {
        table: Path(path)
        for segment in lake.segments
        for table, path in zip(segment.names, segment.catalog.tables["path"].to_pylist(), strict=True)
    }
    ranks, composite_ranks, seconds = [], [], []
    declared = composite_keys(options.databases.resolve())
    for (query, target), keys in declared.items():
        begun = time.perf_counter()
        hits = lake.search(query, k=_K)
        seconds.append(time.perf_counter() - begun)
        (hit,) = [hit for hit in hits if paths[hit.table] == target] or [None]
        if hit is not None:
            ranks.append(hit.rank)
            if len(hit.on) > 1 and any(key.issuperset(hit.pairs) for key in keys):
                composite_ranks.append(hit.rank)
        said = "not found" if hit is None else f"rank {hit.rank} on {', '.join(hit.on)}"
        print(f"{query.parent.parent.name}: {query.stem} → {target.stem}: {said}")
    print(f"{len(declared)} pairs of tables, median {median(seconds):.2f} s")
    for title, found in (("found", ranks), ("found on several columns of the key", composite_ranks)):
        print(f"{title}: {len(found)}, mean rank {mean(found or [0]):.1f}")


if __name__ == "__main__":
    main()
