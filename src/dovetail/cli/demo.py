"""`dovetail demo`"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

import dovetail
from dovetail.cli.output import echo
from dovetail.errors import InputError

LAKE, INDEX = "sample-lake", "sample-lake.idx"
AIRPORTS = f"{LAKE}/transport/airports.csv"

STEPS = (
    ("Index a folder of tables. Run it again at any time: it reads only what is new or changed.",
     ("index", LAKE, "--to", INDEX)),
    ("Which tables join with airports.csv?", ("search", AIRPORTS, "--index", INDEX, "-k", "6")),
    ("Why countries.csv?", ("search", AIRPORTS, "--on", "country", "--tables", "geo/countries.csv", "--index", INDEX,
                            "--explain", "1")),
    ("Join them.", ("join", AIRPORTS, "geo/countries.csv", "--index", INDEX, "--on", "country=Code")),
    ("Join two files whose keys are written differently, without an index.",
     ("join", f"{LAKE}/geo/us-counties.csv", f"{LAKE}/economy/county-labor-2009.csv")),
    ("What is in a table?", ("columns", INDEX, "transport/airports.csv")),
    ("Where does Switzerland occur?", ("find", INDEX, "Switzerland")),
    ("What is the index made of?", ("info", INDEX)),
    ("Is it intact?", ("verify", INDEX)),
)  # fmt: skip

TRY = (
    ("search", f"{LAKE}/economy/gapminder.csv", "--on", "country", "--by", "semantic", "--index", INDEX),
    ("search", AIRPORTS, "--on", "country", "--threshold", "0.9", "--index", INDEX),
    ("join", f"{LAKE}/economy/gapminder.csv", f"{LAKE}/geo/countries.csv", "--explain"),
    ("predicates", f"{LAKE}/geo/us-states.csv", f"{LAKE}/economy/state-population.csv"),
    ("keys", INDEX),
    ("tables", INDEX, "--skipped"),
    ("serve", INDEX),
    ("index", "YOUR-FOLDER", "--to", "your.idx"),
)


@click.command("demo", short_help="Index a sample lake, search it and join its tables.")
def demo_command() -> int:
    """Index a small lake of real tables, search it and join its tables, with the commands that you would type.

    The lake comes with Dovetail: it is copied to the folder sample-lake of the current folder, unless it is there, and
    its index is sample-lake.idx. Remove both at any time.

    \b
    Example:
      dovetail demo
    """
    put_lake(Path(LAKE))
    for question, command in STEPS:
        echo(f"\n{question}\n$ {shlex.join(['dovetail', *command])}")
        code = subprocess.run([sys.executable, "-P", "-m", "dovetail", *command], check=False).returncode
        if code:
            return code
    echo("\nTry:")
    for suggested in TRY:
        echo(f"  {shlex.join([_typed(), *suggested])}")
    return 0


def bundled_lake() -> Path:
    """Where the sample lake is: inside an installed package, or beside the source of a checkout."""
    package = Path(dovetail.__file__).parent
    inside = package / LAKE
    return inside if inside.is_dir() else package.parents[1] / LAKE


def put_lake(to: Path) -> None:
    """Copy the sample lake, whole or not at all; one that is there is left as it is."""
    if (to / "ORIGINS.md").is_file():
        return
    if to.exists():
        raise InputError(f"{to} exists and is not the sample lake. Run the demo in an empty folder.")
    source = bundled_lake()
    with tempfile.TemporaryDirectory(prefix=f".{to.name}-", dir=to.parent) as folder:
        draft = Path(folder) / to.name
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            copy = draft / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)  # without its permissions: an installed package may be read-only
        draft.rename(to)


def _typed() -> str:
    """The command as it is typed here: by its path, unless the shell finds it by its name."""
    command = Path(sys.argv[0])
    if shutil.which("dovetail") == str(command.absolute()) or command.name != "dovetail":
        return "dovetail"
    return os.path.relpath(command)
