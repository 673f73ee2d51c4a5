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
AIRPORTS = "sample-lake/transport/airports.csv"

STEPS = (
    ("Index the tables of a folder. Again and again: only what is new or changed is read.",
     ("index", "sample-lake", "--to", INDEX)),
    ("What is the index made of?", ("info", INDEX)),
    ("Which tables are there?", ("tables", INDEX, "transport/*")),
    ("What is in the airports?", ("columns", INDEX, "transport/airports.csv")),
    ("Where does Switzerland occur?", ("find", INDEX, "Switzerland")),
    ("Is every byte of the index the one that was written?", ("verify", INDEX)),
    ("Which tables join with the airports?", ("search", AIRPORTS, "--index", INDEX, "-k", "6")),
    ("And on the country alone? These columns hold the same codes.",
     ("search", AIRPORTS, "--on", "country", "--index", INDEX, "-k", "4")),
    ("Why?", ("search", AIRPORTS, "--on", "country", "--tables", "geo/countries.csv", "--index", INDEX,
              "--explain", "1")),
    ("Then join them.", ("join", AIRPORTS, "geo/countries.csv", "--index", INDEX, "--on", "country=Code")),
)  # fmt: skip

TRY = (
    ("search", "sample-lake/economy/gapminder.csv", "--on", "country", "--index", INDEX),
    ("search", AIRPORTS, "--on", "country", "--threshold", "0.9", "--index", INDEX),
    ("search", "sample-lake/geo/national-dishes.csv", "--on", "country", "--how", "semantic", "--index", INDEX),
    ("join", "sample-lake/economy/gapminder.csv", "sample-lake/geo/countries.csv"),
    ("keys", INDEX),
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
