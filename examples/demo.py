"""`make demo`: index the bundled sample lake with the commands that you would type, and look at what is in it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
DOVETAIL = Path(sys.executable).with_name("dovetail")
INDEX = "sample-lake.idx"

STEPS = (
    ("Index the tables of a folder. Again and again: only what is new or changed is read.",
     ("index", "sample-lake", "--to", INDEX)),
    ("What is the index made of?", ("info", INDEX)),
    ("Which tables are there?", ("tables", INDEX, "transport/*")),
    ("What is in the airports?", ("columns", INDEX, "transport/airports.csv")),
    ("Where does Switzerland occur?", ("find", INDEX, "Switzerland")),
    ("Which columns are about countries, by name?", ("find", INDEX, "--column", "*country*", "--limit", "6")),
    ("Is every byte of the index the one that was written?", ("verify", INDEX)),
)  # fmt: skip

TRY = (
    ("find", INDEX, "Zürich"),
    ("columns", INDEX, "geo/countries.csv"),
    ("tables", INDEX, "--skipped"),
    ("columns", INDEX, "science/elements.csv", "--json"),
    ("index", "YOUR-FOLDER", "--to", "your.idx"),
)


def main() -> int:
    for question, command in STEPS:
        print(f"\n{question}\n$ {shlex.join(['dovetail', *command])}", flush=True)
        code = subprocess.run([DOVETAIL, *command], cwd=HOME, check=False).returncode
        if code:
            return code
    print("\nTry:")
    for command in TRY:
        print(f"  {shlex.join([_typed(), *command])}")
    return 0


def _typed() -> str:
    """How to type the command from here: by its path, unless the environment is active."""
    on_path = str(DOVETAIL.parent) in os.environ.get("PATH", "").split(os.pathsep)
    return "dovetail" if on_path else os.path.relpath(DOVETAIL)


if __name__ == "__main__":
    sys.exit(main())
