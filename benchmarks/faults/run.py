"""Hundreds of rounds in which commands meet faults: is anything lost, does `verify` tell the truth, does the next run
recover?

    python benchmarks/faults/run.py --rounds 500 --seed 1 --results faults.jsonl

Every fault of faults.py meets every command of setting.py in turn, at a random moment or place, on an index of a small
generated lake. After each round,

- what was committed is there: the newest generation opens, and holds each table as it was, or as the command made it;
- `verify` finds nothing, unless bytes were changed: then it names the file, and says how to rebuild;
- `index`, run again, ends with what an undisturbed build holds, and leaves nothing over;
- the command has ended with the right answer, or with another exit code than 0 and a sentence instead of a traceback.

A line of JSON is kept for each round; rounds that are in the file of results are not played again. The exit code is 1
if a promise was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

HERE = Path(__file__).resolve().parent
OUTCOMES = ("right", "refused", "killed", "wrong", "traceback", "crash", "hangs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="where to go on; by default, nothing is kept")
    parser.add_argument("--without", help="a command whose rounds are left out, such as serve")
    parser.add_argument("--only", help="a fault, or a fault and a command, such as flip,compact")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dovetail-faults-") as folder:
        preload_shim(Path(folder))
        results = play_all(options, Path(folder))
    print(summary(results))
    record(
        rounds=len(results),
        broken=sum(bool(result["failures"]) for result in results),
        faults=len({result["fault"] for result in results}),
        commands=len({result["command"] for result in results}),
        pairs=len({(result["fault"], result["command"]) for result in results}),
    )
    return 1 if any(result["failures"] for result in results) else 0


def preload_shim(folder: Path) -> None:
    """Start again with shim.c in the process, where it can be compiled."""
    compiler = shutil.which("cc")
    if "LD_PRELOAD" in os.environ or compiler is None:
        return
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "shim.so", HERE / "shim.c", "-ldl"], check=True)
    again = subprocess.run(
        [sys.executable, __file__, *sys.argv[1:]],
        env={**os.environ, "LD_PRELOAD": str(folder / "shim.so")},
        check=False,
    )
    shutil.rmtree(folder)
    sys.exit(again.returncode)


def play_all(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    sys.path.insert(0, str(HERE.parents[1] / "tests"))
    from rounds import planned, play
    from setting import prepare

    from faults import FAULTS, SHIMMED

    faults = [fault for fault in FAULTS if fault not in SHIMMED or "LD_PRELOAD" in os.environ]
    if len(faults) < len(FAULTS):
        print(f"Without a C compiler, these are left out: {', '.join(SHIMMED)}.")
    results = kept(options.results, options.seed)
    done = {result["round"] for result in results}
    with silence():
        setting = prepare(folder / "setting", options.seed, options.without)
    only = options.only.split(",") if options.only else []
    for number in range(options.rounds):
        fault, verb, _ = planned(number, options.seed, faults)
        if number in done or verb == options.without or only != [fault, verb][: len(only)]:
            continue
        result = play(setting, number, options.seed, faults)
        results.append(result)
        if options.results:
            with options.results.open("a") as file:
                file.write(json.dumps(result) + "\n")
        if result["failures"]:
            print(json.dumps(result, indent=1), flush=True)
    return results


def kept(path: Path | None, seed: int) -> list[dict[str, Any]]:
    """The rounds of this seed that were played before."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    return [result for result in map(json.loads, lines) if result["seed"] == seed]


class silence:
    """Nothing is printed inside the context, nor by the libraries."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        self.kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in self.kept:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        for number, copy in self.kept:
            os.dup2(copy, number)
            os.close(copy)


def summary(results: list[dict[str, Any]]) -> str:
    """A table of the outcomes by fault."""
    lines = [f"| fault | rounds | {' | '.join(OUTCOMES)} | broken promises |", "|---" * (len(OUTCOMES) + 3) + "|"]
    for fault in dict.fromkeys(sorted(result["fault"] for result in results)):
        own = [result for result in results if result["fault"] == fault]
        counts = Counter(result["outcome"] for result in own)
        cells = (len(own), *(counts[outcome] for outcome in OUTCOMES), sum(bool(r["failures"]) for r in own))
        lines.append(f"| {fault} | {' | '.join(map(str, cells))} |")
    broken = sum(bool(result["failures"]) for result in results)
    seconds = sum(result["seconds"] for result in results)
    lines.append(f"\n{len(results)} rounds in {seconds:.0f} s, in {broken} of them a promise was broken")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
