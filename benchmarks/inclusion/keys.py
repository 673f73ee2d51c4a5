"""How many of the first n likely foreign keys are true, where n is the number of declared ones.

Takes a folder of databases, each with `tables/*.csv` and a `truth.json` that lists `foreign_keys` with `from_table`,
`from_columns`, `to_table` and `to_columns`. Each database is a lake; then all of them are one. Beside it, the same
share for dependencies that only pass the filters, in the order of their coverage.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import dovetail

Key = tuple[str, tuple[str, ...], str, tuple[str, ...]]


def declared(database: Path, prefix: str) -> set[Key]:
    keys = json.loads((database / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]
    return {
        (
            f"{prefix}{key['from_table']}.csv", tuple(key["from_columns"]),
            f"{prefix}{key['to_table']}.csv", tuple(key["to_columns"]),
        )
        for key in keys
    }  # fmt: skip


def hits(rows: list[dict[str, Any]], truth: set[Key]) -> int:
    """Precision, recall and F1 are all this number by that of true keys: as many are taken as there are."""
    found = [
        (r["dependent_table"], tuple(r["dependent_columns"]), r["referenced_table"], tuple(r["referenced_columns"]))
        for r in rows[: len(truth)]
    ]
    return len(set(found) & truth)


def measure(folder: Path, index: Path, truth: set[Key]) -> tuple[int, int]:
    dovetail.index(folder, index)
    lake = dovetail.open(index)
    plain = sorted(lake.inds(integers=True).to_dicts(), key=lambda row: -row["coverage"])
    return hits(lake.foreign_keys(min_score=0).to_dicts(len(truth)), truth), hits(plain, truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where to put lakes and indexes, a new folder")
    given = parser.parse_args()
    databases = sorted(path.parent for path in given.databases.glob("*/truth.json"))
    print("| lake | declared | found | F1 | by coverage alone |\n|:--|--:|--:|--:|--:|")
    total = [0, 0, 0]
    for database in databases:
        truth = declared(database, "")
        found, plain = measure(database / "tables", given.work / f"{database.name}.idx", truth)
        total = [total[0] + len(truth), total[1] + found, total[2] + plain]
        print(f"| {database.name} | {len(truth)} | {found} | {found / len(truth):.2f} | {plain / len(truth):.2f} |")
        shutil.copytree(database / "tables", given.work / "all" / database.name)
    print(f"| within, all | {total[0]} | {total[1]} | {total[1] / total[0]:.2f} | {total[2] / total[0]:.2f} |")
    truth = set().union(*(declared(database, f"{database.name}/") for database in databases))
    found, plain = measure(given.work / "all", given.work / "all.idx", truth)
    print(f"| one lake | {len(truth)} | {found} | {found / len(truth):.2f} | {plain / len(truth):.2f} |")


if __name__ == "__main__":
    main()
