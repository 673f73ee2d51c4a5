"""How well tables are found that join after a transformation: the share of cases whose partner is the first hit, or
among the first five, and seconds.

    python benchmarks/transformation/search.py --truth DIR [--among DIR]

DIR has `transform_pairs/<family>/<case>/` as for run.py. The lake is all targets, and the tables of `--among`; each
source asks with its column. Many targets of a family are of one kind (presidents, universities), so that several of
them join with a source: the partner need not be the best of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import dovetail
from run import cases, read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, required=True, help="a folder with transform_pairs")
    parser.add_argument("--among", type=Path, help="tables that the targets are put among")
    options = parser.parse_args()
    families = [folder for folder in sorted(options.truth.glob("transform_pairs/*/")) if folder.is_dir()]
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        lake.mkdir()
        for family in families:
            for case in cases(family):
                shutil.copy(case / "target.csv", lake / f"{family.name} {case.name}.csv")
        if options.among:
            shutil.copytree(options.among, lake / "among")
        dovetail.index(lake, to=Path(folder) / "idx")
        opened = dovetail.open(Path(folder) / "idx")
        for family in families:
            _report(opened, family)


def _report(lake: dovetail.Lake, family: Path) -> None:
    places, seconds = [], []
    for case in cases(family):
        source = json.loads((case / "truth.json").read_text())["source_column"]
        begun = time.perf_counter()
        hits = lake.search(read(case / "source.csv"), on=source, by="transform")
        seconds.append(time.perf_counter() - begun)
        tables = [hit.table for hit in hits]
        wanted = f"{family.name} {case.name}.csv"
        places.append(tables.index(wanted) if wanted in tables else 1 << 30)
    first, five = (sum(place < most for place in places) / len(places) for most in (1, 5))
    print(
        f"{family.name:12}{len(places):4} cases  first {first:.3f}  among five {five:.3f}  "
        f"median {statistics.median(seconds):.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
