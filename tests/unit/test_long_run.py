"""What the long run takes for an answer from two generations, and what the growth of a cost is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path += [str(BENCHMARKS / "soak"), str(BENCHMARKS / "growth")]

from fit import fit  # noqa: E402
from marked import TwoGenerations, is_same, version_of, write_version  # noqa: E402


def answer(lake: Path) -> tuple[list[str], list[int]]:
    """The marked tables as an answer names them, and the rows of those that keep their names."""
    files = sorted(lake.glob("marked/*.csv"))
    names = [str(file.relative_to(lake)) for file in files]
    rows = [len(file.read_text().splitlines()) - 1 for file in files]
    return names, [number for name, number in zip(names, rows, strict=True) if is_same(name)]


def test_an_answer_fits_one_version_or_none(tmp_path):
    write_version(tmp_path, 1)
    before = answer(tmp_path)
    write_version(tmp_path, 2)
    after = answer(tmp_path)
    assert version_of(*before) == 1 and version_of(*after) == 2
    mixed = [
        (before[0], after[1]),
        (before[0], [*before[1][1:], after[1][0]]),
        (sorted({*before[0], *after[0]}), after[1]),
        (after[0][:-1], after[1]),
        (after[0], after[1][1:]),
    ]
    for tables, sizes in mixed:
        with pytest.raises(TwoGenerations):
            version_of(tables, sizes)


def test_a_power_is_found_with_its_interval():
    exact = fit([(n, 3 * n**1.5) for n in (10, 100, 1000)])
    assert exact.exponent == pytest.approx(1.5) and exact.error == pytest.approx(0, abs=1e-6)
    noisy = fit([(10, 12.0), (100, 90.0), (1000, 1100.0), (10_000, 9500.0)])
    assert abs(noisy.exponent - 1) < noisy.error < 0.2
    assert fit([(10, 1.0), (100, 10.0)]).error is None, "any line fits two points"
