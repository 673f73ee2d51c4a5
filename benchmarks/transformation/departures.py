"""What each departure from the paper brings: learning as it is, and with one thing as the paper has it.

    python benchmarks/transformation/departures.py TRUTH [--rows 100000]

On Auto-Join's tables of TRUTH and the synthetic ones: separators of any characters, two splits and free slices in
every column, one reading of a step, one program. On DBLP-shaped tables of `--rows` rows, of which a share joins:
programs that are compared on all rows instead of 2,000, and samples that are drawn for r = 1 % instead of 10 %.
Processor seconds of learning.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import synthetic

import dovetail
from dovetail.transform import candidates, coverage
from dovetail.transform.composite import discover_composite
from run import Columns, Measured, cases, pairs_of, read, scored, true_pairs

discover = importlib.import_module("dovetail.transform.discover")  # the module; the package has a function of this name

_LONGEST_SEPARATOR = 2
_SHARES = (1.0, 0.1, 0.05, 0.02, 0.01)


def _any_separators(text: str) -> list[str]:
    """All texts of one or two characters."""
    ends = range(1, _LONGEST_SEPARATOR + 1)
    return list(dict.fromkeys(text[at : at + size] for size in ends for at in range(len(text) - size + 1)))


_VARIANTS: dict[str, dict[tuple[Any, str], Any]] = {
    "as it is": {},
    "separators of any characters": {(candidates, "_separators"): _any_separators},
    "two splits and free slices in every column": {(candidates, "_OTHER_COLUMNS"): (2, True)},
    "one reading of a step": {(candidates, "_MOST_READINGS"): 1},
    "no forms": {(candidates, "made_by_forms"): lambda *_: (), (discover, "proposals"): lambda *_: ()},
    "one program": {},
}
_LARGE: dict[str, dict[tuple[Any, str], Any]] = {
    "as it is": {},
    "compared on all rows": {(discover, "SCORED_ROWS"): 1 << 40},
    "r = 1 %": {(coverage, "_PARTICIPATION"): 0.01},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    dovetail.join({"a": ["b c", "d e", "f g"]}, {"a": ["b", "d", "f"]})  # compiles, or loads what was compiled
    small = [_given(case) for case in cases(options.truth / "transform_pairs" / "AutoJoin")]
    made = [synthetic.CASES[name](1_000, random.Random(1_000)) for name in synthetic.CASES]
    for name, changes in _VARIANTS.items():
        most = 1 if name == "one program" else discover.MOST_PROGRAMS
        with _changed(changes):
            _print(f"Auto-Join: {name}", [_measured(*case, most) for case in small])
            _print(f"synthetic: {name}", [_measured(*case, None, most) for case in made])
    for share in _SHARES:
        case = _partly(synthetic.citeseer(options.rows, random.Random(options.rows)), share)
        for name, changes in _LARGE.items():
            with _changed(changes):
                _print(f"{options.rows:,} rows, {share:.0%} join: {name}", [_measured(*case, None)])


@contextmanager
def _changed(changes: dict[tuple[Any, str], Any]) -> Iterator[None]:
    before = {place: getattr(*place) for place in changes}
    try:
        for (module, name), value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


def _given(folder: Path) -> tuple[Columns, Columns, set[Any], tuple[str, str]]:
    source, target = read(folder / "source.csv"), read(folder / "target.csv")
    return source, target, *true_pairs(folder, source, target)


def _partly(case: synthetic.Case, share: float) -> synthetic.Case:
    """With other values in the rest of the target's rows."""
    source, target, truth = case
    (name, column), draw = next(iter(target.items())), random.Random(7)
    kept = [draw.random() < share for _ in column]
    other = [
        text if keep else "".join(draw.sample(text or "", len(text or "")))
        for text, keep in zip(column, kept, strict=True)
    ]
    return source, {name: other}, {(a, b) for a, b in truth if kept[b]}


def _measured(
    left: Columns, right: Columns, truth: set[Any], columns: tuple[str, str] | None = None,
    most: int = discover.MOST_PROGRAMS,
) -> Measured:  # fmt: skip
    begun = time.process_time()
    found = discover.discover(left, right, most) or discover_composite(left, right)
    seconds = time.process_time() - begun
    if found is None:
        return scored("", set(), truth, seconds)
    way = dovetail.Transformation(found.programs, found.reversed, found.target, found.key)
    rows = set(pairs_of(dovetail.join(left, right, by=way, max_growth=float("inf"))))
    if columns:
        rows = {(left[columns[0]][a], right[columns[1]][b]) for a, b in rows}
    return scored("", rows, truth, seconds)


def _print(name: str, cases: list[Measured]) -> None:
    f1, seconds = statistics.mean(case.f1 for case in cases), sum(case.seconds for case in cases)
    print(f"{name:70} F1 {f1:.3f}  {seconds:7.2f} s", flush=True)


if __name__ == "__main__":
    main()
