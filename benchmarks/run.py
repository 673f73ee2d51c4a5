"""Runs every benchmark beside its peers, one after another, and writes docs/benchmarks.md.

    python benchmarks/run.py --lake LAKE --index INDEX --truth TRUTH     # what needs other data is left out, and named
    python benchmarks/run.py --quick                                     # on generated data, in less than ten minutes
    python benchmarks/run.py --page                                      # runs nothing, writes the page

What each program printed is kept in benchmarks/results/NAME.json with the commit, the machine and the versions. A
program that has ended well for this commit and these data is not run again, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from page import write_page
from programs import BENCHMARKS, GIVEN, MADE, Benchmark

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
VERSIONS = ("numpy", "pyarrow", "numba", "pyspark", "duckdb")


def main() -> int:
    asked = options()
    if not asked.page:
        given = {name: str(Path(path).resolve()) for name in GIVEN if (path := getattr(asked, name))}
        chosen = [
            one for one in BENCHMARKS if (one.quick or not asked.quick) and (not asked.only or one.name in asked.only)
        ]
        failed = [one.name for one in chosen if not run(one, given, asked.quick, asked.again)]
        if failed:
            print(f"Failed: {', '.join(failed)}. What they printed is in {RESULTS.relative_to(ROOT)}.")
            return 1
    if not asked.quick:
        write_page(RESULTS)
    return 0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in GIVEN.items():
        parser.add_argument(f"--{name}", metavar="PATH", help=what)
    parser.add_argument("--quick", action="store_true", help="little data; the page is not written")
    parser.add_argument(
        "--only", nargs="+", choices=[one.name for one in BENCHMARKS], metavar="NAME", help="some of them"
    )
    parser.add_argument("--again", action="store_true", help="also what has ended well for this commit")
    parser.add_argument("--page", action="store_true", help="only write the page")
    return parser.parse_args()


def run(one: Benchmark, given: dict[str, str], quick: bool, again: bool) -> bool:
    """Run a benchmark unless it has been; whether all is well. What lacks data is left out, and that is well."""
    missing = sorted(one.needs(quick) - set(given) - set(MADE))
    if missing:
        print(f"{one.name}: left out, needs {' and '.join(f'--{name}' for name in missing)}")
        return True
    place = RESULTS / f"{one.name}{'.quick' if quick else ''}.json"
    command = one.quick if quick else one.command
    about = {
        "name": one.name,
        "commit": commit(),
        "command": command,
        "data": {n: given[n] for n in one.needs(quick) & set(given)},
    }
    if not again and done(place, about):
        print(f"{one.name}: done for this commit")
        return True
    print(f"{one.name}: {command}", end="", flush=True)
    start = time.time()
    code, output = output_of(command, given | {name: made(name) for name in one.needs(quick) & set(MADE)})
    seconds = round(time.time() - start, 1)
    print(f"  {seconds:,.0f} s{'' if code == 0 else f', exit code {code}'}")
    write(place, {**about, "code": code, "seconds": seconds, **machine(), "output": output})
    return code == 0


def output_of(command: str, data: dict[str, str]) -> tuple[int, str]:
    """The exit code of a program, and what it printed."""
    with tempfile.TemporaryDirectory() as work:
        program, *rest = shlex.split(command.format(**data, work=f"{work}/new"))
        call = [sys.executable, str(ROOT / "benchmarks" / program), *rest]
        done = subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def made(name: str) -> str:
    """Data that is made when it is first needed; whole or not at all."""
    to = RESULTS / "data" / name
    if not to.exists():
        draft = to.with_name(f"{name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        call = shlex.split(MADE[name].format(to=draft))
        made = subprocess.run(
            call, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise SystemExit(f"The data {name} could not be made: {made.stderr}")
        draft.rename(to)
    return str(to)


def done(place: Path, about: dict[str, Any]) -> bool:
    if not place.is_file():
        return False
    before = json.loads(place.read_text())
    return before["code"] == 0 and all(before[key] == value for key, value in about.items())


def write(place: Path, result: dict[str, Any]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    draft.replace(place)


def commit() -> str:
    """The commit of the checkout; changes that are not committed show."""
    call = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    found = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in VERSIONS},
    }


if __name__ == "__main__":
    sys.exit(main())
