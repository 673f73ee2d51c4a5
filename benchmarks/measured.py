"""How a benchmark reports what it measured: named values on a line of their own, beside the tables that a person reads.

    record(least=10.8, median=52.0)      prints      measured: {"least": 10.8, "median": 52.0}

`run.py` collects these lines, and figures.json says which line of docs/benchmarks.md they are for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import SupportsFloat

MARK = "measured: "
_DIGITS = 6  # significant ones that are kept; nothing here is measured as well as that

Value = float | list[float]
"""A number, or the least and the largest of several."""


def record(**values: SupportsFloat | Iterable[SupportsFloat] | None) -> None:
    """Print named values: numbers, or several numbers as their range. What could not be measured (None) is left out."""
    found = {name: _plain(value) for name, value in values.items() if value is not None}
    print(MARK + json.dumps({name: value for name, value in found.items() if _is_known(value)}), flush=True)


def recorded(output: str) -> dict[str, Value]:
    """All values that a program has recorded, from what it printed."""
    found: dict[str, Value] = {}
    for line in output.splitlines():
        if line.startswith(MARK):
            found |= json.loads(line.removeprefix(MARK))
    return found


def _plain(value: SupportsFloat | Iterable[SupportsFloat]) -> Value:
    if isinstance(value, Iterable):
        several = [_rounded(each) for each in value]
        return [min(several), max(several)] if several else []
    return _rounded(value)


def _rounded(value: SupportsFloat) -> float:
    number = float(f"{float(value):.{_DIGITS}g}")
    return int(number) if number.is_integer() else number


def _is_known(value: Value) -> bool:
    several: Sequence[float] = value if isinstance(value, list) else [value]
    return bool(several) and all(math.isfinite(each) for each in several)
