"""How far a reader walks: the files that a question passes, and how often it enters one that it has passed before.

    python benchmarks/walk/run.py                    indexes the sample lake first
    python benchmarks/walk/run.py --index FOLDER     asks an index of the sample lake

Of each question, asked for the second time in one process: the files of the package whose functions run, the pairs of
a file and one whose function it calls, and how many of these lead into a file that another one led into before. The
code of imports and of kernels does not count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

import dovetail
from support.pipeline import without_spark

PACKAGE = Path(dovetail.__file__).parent
SAMPLE_LAKE = Path(__file__).parents[2] / "sample-lake"
BARS = {"join, equal values": (60, 30), "join, all methods": (60, 30), "search": (50, 25), "index": (90, 68)}
"""Files and entries again, at most."""


class Walk:
    """Follows the calls between files of the package while it is open."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.steps: set[tuple[str, str]] = set()

    def __enter__(self) -> Walk:
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code.co_name == "<module>" or (here := _file(frame)) is None:
            return
        self.files.add(here)
        caller = frame.f_back
        while caller is not None and _file(caller) is None:  # through a library, such as functools
            caller = caller.f_back
        if caller is not None and (there := _file(caller)) != here:
            self.steps.add((str(there), here))

    @property
    def again(self) -> int:
        return max(0, len(self.steps) - len(self.files))


def _file(frame: FrameType) -> str | None:
    name = frame.f_code.co_filename
    return name if name.startswith(str(PACKAGE)) and not name.endswith("kernels.py") else None


def questions(index: Path, folder: Path) -> dict[str, Callable[[], object]]:
    lake = dovetail.open(index)
    countries, airports, counties, states = (
        SAMPLE_LAKE / name
        for name in ("geo/countries.csv", "transport/airports.csv", "geo/us-counties.csv", "geo/us-states.csv")
    )
    return {
        "join, equal values": lambda: dovetail.join(airports, countries),
        "join, all methods": lambda: dovetail.join(states, counties),
        "search": lambda: lake.search(airports),
        "index": lambda: index_anew(folder),
    }


def index_anew(folder: Path) -> None:
    """With the tasks in this process, as tests run them."""
    with tempfile.TemporaryDirectory(dir=folder) as to, without_spark():
        dovetail.index(SAMPLE_LAKE, Path(to) / "idx")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="an index of the sample lake; without it one is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not options.index:
            with without_spark():
                dovetail.index(SAMPLE_LAKE, folder / "index")
        print(f"{'question':20}{'files':>7}{'bar':>5}{'file → file':>13}{'again':>7}{'bar':>5}")
        for question, ask in questions(options.index or folder / "index", folder).items():
            ask()
            with Walk() as walk:
                ask()
            files, again = BARS[question]
            print(f"{question:20}{len(walk.files):7}{files:5}{len(walk.steps):13}{walk.again:7}{again:5}")


if __name__ == "__main__":
    main()
