"""Measures all of judgement: spellings, joins, foreign keys, search; each on data that its models were not fitted on.

    python benchmarks/judgement/run.py TRUTH LAKE WORK [--write] [--only NAME ...]

TRUTH is a folder with `relational`, `transform_pairs` and `fuzzy_pairs`, LAKE a folder of other tables, and WORK a
folder for an index of both and for what is measured; what is there is not measured again. With --write, the models
that are fitted on everything are stored in the package. It takes hours; --only names single steps.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STEPS = ("pairs", "measure", "joins", "keys", "search")


def commands(truth: Path, lake: Path, work: Path, write: bool) -> dict[str, list[list[str]]]:
    databases, index = str(truth / "relational"), str(work / "index")
    models, measured, made = (str(work / name) for name in ("pair_models", "measured.pkl", "made.pkl"))
    stored = ["--write"] * write
    indexed = [] if (work / "index").exists() else [["index", str(lake)], ["index", databases, "--add"]]
    return {
        "pairs": [_program("fit_pairs.py", str(truth), "--left-out", models, *stored)],
        "measure": [
            _program("measure.py", str(truth), measured, "--pair-models", models),
            _program("measure.py", str(truth), made, "--lake", str(lake), "--pair-models", models),
        ],
        "joins": [_program("fit.py", measured, "--training", made, *stored)],
        "keys": [_program("fit_keys.py", databases, "--work", str(work / "keys"), *stored)],
        "search": [
            *([str(Path(sys.executable).parent / "dovetail"), *command, "--to", index] for command in indexed),
            _program("fit_search.py", index, databases, *stored),
        ],
    }


def _program(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(HERE / name), *arguments]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--write", action="store_true", help="store the models in the package")
    parser.add_argument("--only", nargs="*", choices=STEPS, default=STEPS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for step, programs in commands(options.truth, options.lake, options.work, options.write).items():
        for command in programs if step in options.only else ():
            print(f"\n# {step}: {' '.join(command)}\n", flush=True)
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
