"""Runs every benchmark beside its peers, one after another, and writes docs/benchmarks.md.

    python benchmarks/run.py --lake LAKE --index INDEX --truth TRUTH     # what needs other data is left out, and named
    python benchmarks/run.py --quick                                     # on generated data, in less than ten minutes
    python benchmarks/run.py --page                                      # runs nothing, writes the page

What each program printed is kept in benchmarks/results/NAME.json with the values that it recorded (measured.py), the
commit, the machine and the versions. A program that has ended well is not run again while its command, its data, the
package and the folders of benchmarks are the same, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
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

from measured import recorded
from page import write_page
from plot import draw
from programs import BENCHMARKS, GIVEN, MADE, Benchmark, needs_of

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
VERSIONS = ("numpy", "pyarrow", "numba", "pyspark", "duckdb")


def main() -> int:
    asked = options()
    failed: list[str] = []
    if not asked.page:
        given = {name: str(Path(path).resolve()) for name in GIVEN if (path := getattr(asked, name))}
        named = [one for one in BENCHMARKS if not asked.only or one.name in asked.only]
        code = code_hash()
        runs = [Run(one, given, asked.quick, code) for one in named if one.quick or not asked.quick]
        failed = [one.benchmark.name for one in to_run(runs, asked.again) if not one.run()]
    if failed:
        print(f"Failed: {', '.join(failed)}. What they printed is in {RESULTS.relative_to(ROOT)}.")
    if not asked.quick:
        write_page(RESULTS)
        draw()
    return 1 if failed else 0


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in GIVEN.items():
        parser.add_argument(f"--{name}", metavar="PATH", help=what)
    parser.add_argument("--quick", action="store_true", help="little data; the page is not written")
    parser.add_argument(
        "--only", nargs="+", choices=[one.name for one in BENCHMARKS], metavar="NAME", help="some of them"
    )
    parser.add_argument("--again", action="store_true", help="also what has been done")
    parser.add_argument("--page", action="store_true", help="only write the page")
    return parser.parse_args()


class Run:
    """A benchmark with the data that are given, and the place of its result."""

    def __init__(self, benchmark: Benchmark, given: dict[str, str], quick: bool, code: str) -> None:
        self.benchmark, self.given, self.code = benchmark, given, code
        self.command = benchmark.quick if quick else benchmark.command
        self.minutes = benchmark.quick_minutes if quick else benchmark.minutes
        self.needed = benchmark.needs(quick)
        self.place = RESULTS / f"{benchmark.name}{'.quick' if quick else ''}.json"

    @property
    def missing(self) -> list[str]:
        """The data that would have to be given."""
        return sorted(self.needed - set(self.given) - set(MADE))

    @property
    def about(self) -> dict[str, Any]:
        """What decides whether a result is still valid."""
        data = {name: self.given[name] for name in sorted(self.needed & set(self.given))}
        return {"name": self.benchmark.name, "command": self.command, "data": data, "code_hash": self.code}

    def is_done(self) -> bool:
        if not self.place.is_file():
            return False
        before = json.loads(self.place.read_text())
        return before["code"] == 0 and all(before.get(key) == value for key, value in self.about.items())

    def run(self) -> bool:
        """Run the program and keep what it printed; whether it ended well."""
        print(f"{self.benchmark.name}: {self.command}", end="", flush=True)
        try:
            data = self.given | {name: made(name, self.given, self.code) for name in sorted(self.needed & set(MADE))}
        except subprocess.CalledProcessError as error:
            print(f"  its data could not be made: {error}\n{error.stderr}")
            return False
        before, start = machine(), time.time()
        code, output = output_of(self.command, data)
        seconds = round(time.time() - start, 1)
        print(f"  {seconds:,.0f} s{'' if code == 0 else f', exit code {code}'}", flush=True)
        found = {"code": code, "seconds": seconds, **before, "values": recorded(output), "output": output}
        write(self.place, {**self.about, **found})
        return code == 0


def to_run(runs: list[Run], again: bool) -> list[Run]:
    """What lacks no data and has not been done; says what that is, and how long it takes."""
    for one in runs:
        if one.missing:
            print(f"{one.benchmark.name}: left out, needs {' and '.join(f'--{name}' for name in one.missing)}")
    ready = [one for one in runs if not one.missing]
    chosen = [one for one in ready if again or not one.is_done()]
    done = len(ready) - len(chosen)
    minutes = sum(one.minutes for one in chosen)
    print(f"{len(chosen)} benchmarks to run, about {minutes:,.0f} minutes; {done} done before.", flush=True)
    return chosen


def output_of(command: str, data: dict[str, str]) -> tuple[int, str]:
    """The exit code of a program, and what it printed."""
    with tempfile.TemporaryDirectory() as work:
        program, *rest = shlex.split(command.format(**data, work=f"{work}/new"))
        call = [sys.executable, str(ROOT / "benchmarks" / program), *rest]
        done = subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def made(name: str, given: dict[str, str], code: str) -> str:
    """Data that is made when it is first needed, whole or not at all; indexes again when the package has changed."""
    needed = {each: given[each] for each in needs_of(MADE[name]) & set(given)}
    key = json.dumps([MADE[name], sorted(needed.items()), code if "dovetail" in MADE[name] else ""])
    to = RESULTS / "data" / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    if not to.exists():
        draft = to.with_name(f"{to.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        for step in MADE[name].split(" && "):
            call = shlex.split(step.format(**needed, to=draft))
            subprocess.run(call, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True)
        draft.rename(to)
    return str(to)


def write(place: Path, result: dict[str, Any]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    draft.replace(place)


def code_hash() -> str:
    """Of the package and the folders of benchmarks, with changes that are not committed.

    What lies beside the folders runs the benchmarks and writes the page: it changes no number, as text does not.
    """
    folders = [ROOT / "src" / "dovetail", *(path.parent for path in (ROOT / "benchmarks").glob("*/*.py"))]
    files = {path for folder in folders for path in folder.rglob("*") if path.is_file()}
    found = hashlib.sha256()
    for path in sorted(path for path in files if path.suffix not in (".md", ".pyc")):
        found.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def commit() -> str:
    """The commit of the checkout; changes that are not committed show."""
    call = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    found = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in VERSIONS},
    }


if __name__ == "__main__":
    sys.exit(main())
