"""All inclusion dependencies of some tables of a lake: ours (ours.py) beside Desbordante's Spider (peer.py).

    python benchmarks/inclusion/run.py INDEX --work FOLDER [--tables 4000] [--peer-python OTHER/bin/python]

Both sides find those of the same CSV files (tables.py), without filters, in one thread each, in processes of their own;
ours is asked before and after Spider. Compared are CPU seconds: from an existing index to the last pair found, and to
the last one scored, ranked and written; and from raw files, where ours is the whole of `dovetail index`, Java's start
included, and the search. Spider needs desbordante and pandas, which --peer-python has.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "indexing")]

from sides import COMMAND, index  # noqa: E402

from measured import record  # noqa: E402


def answer_of(python: str, program: str, *arguments: object) -> dict[str, Any]:
    """What a program of this folder prints, in a process of its own."""
    command = [python, str(HERE / program), *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    print(f"{program}: {done.stdout.strip()}", flush=True)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path, help="of the lake whose tables are taken")
    parser.add_argument("--work", type=Path, required=True, help="for the tables and their index, a new folder")
    parser.add_argument("--tables", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer-python", default=sys.executable, metavar="PYTHON", help="one that has desbordante")
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    tables, own = given.work / "tables", given.work / "index"
    chosen = ("--tables", given.tables, "--seed", given.seed)
    subprocess.run([sys.executable, HERE / "tables.py", given.index, tables, *map(str, chosen)], check=True)
    build = index(COMMAND, tables, own)
    ask = (own, "--write", given.work / "found.parquet")
    before = answer_of(sys.executable, "ours.py", *ask)
    spider = answer_of(given.peer_python, "peer.py", tables)
    ours = [before, answer_of(sys.executable, "ours.py", *ask)]
    if any(each["dependencies"] != spider["dependencies"] for each in ours):
        raise SystemExit("Both sides must find the same dependencies.")
    theirs = spider["read_cpu"] + spider["cpu"]
    raw = theirs / (build.usage.cpu_seconds + ours[-1]["cpu"])
    found, written = ([theirs / each[key] for each in ours] for key in ("cpu", "whole_cpu"))
    for title, times in (("found", found), ("… scored, ranked and written", written), ("… from raw files", [raw])):
        print(f"{title}: {min(times):.1f} to {max(times):.1f} × as fast as Spider")
    record(
        tables=build.report["tables"],
        millions=spider["dependencies"] / 1e6,
        found=found,
        written=written,
        raw=raw,
    )


if __name__ == "__main__":
    main()
