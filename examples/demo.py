"""`make demo`: index the sample lake, search it and join its tables, with the commands that you would type."""

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
    ("Index a folder of tables. Run it again at any time: it reads only what is new or changed.",
     ("index", "sample-lake", "--to", INDEX)),
    ("Which tables join with airports.csv?", ("search", AIRPORTS, "--index", INDEX, "-k", "6")),
    ("Why countries.csv?", ("search", AIRPORTS, "--on", "country", "--tables", "geo/countries.csv", "--index", INDEX,
                            "--explain", "1")),
    ("Join them.", ("join", AIRPORTS, "geo/countries.csv", "--index", INDEX, "--on", "country=Code")),
    ("Join two files whose keys are written differently, without an index.",
     ("join", "sample-lake/geo/us-counties.csv", "sample-lake/economy/county-labor-2009.csv")),
    ("What is in a table?", ("columns", INDEX, "transport/airports.csv")),
    ("Where does Switzerland occur?", ("find", INDEX, "Switzerland")),
    ("What is the index made of?", ("info", INDEX)),
    ("Is it intact?", ("verify", INDEX)),
)  # fmt: skip

TRY = (
    ("search", "sample-lake/economy/gapminder.csv", "--on", "country", "--by", "semantic", "--index", INDEX),
    ("search", AIRPORTS, "--on", "country", "--threshold", "0.9", "--index", INDEX),
    ("join", "sample-lake/economy/gapminder.csv", "sample-lake/geo/countries.csv", "--explain"),
    ("predicates", "sample-lake/geo/us-states.csv", "sample-lake/economy/state-population.csv"),
    ("keys", INDEX),
    ("tables", INDEX, "--skipped"),
    ("serve", INDEX),
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
    """The command as it is typed here: by its path, unless the environment is active."""
    on_path = str(DOVETAIL.parent) in os.environ.get("PATH", "").split(os.pathsep)
    return "dovetail" if on_path else os.path.relpath(DOVETAIL)


if __name__ == "__main__":
    sys.exit(main())
