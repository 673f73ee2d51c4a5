"""Commands meet faults at random moments: nothing committed is lost, `verify` tells the truth, the next run recovers.

`benchmarks/faults/run.py` explains the rounds, and plays hundreds of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages import ROOT

RUN = ROOT / "benchmarks" / "faults" / "run.py"


def broken(results: Path, *options: str) -> list[dict[str, object]]:
    """Play rounds; those that broke a promise."""
    done = subprocess.run(
        [sys.executable, RUN, "--results", results, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1) and "rounds in" in done.stdout, done.stderr[-2000:]
    return [result for result in map(json.loads, results.read_text().splitlines()) if result["failures"]]


@pytest.mark.full
def test_some_rounds(tmp_path):
    """Without servers, which take longer."""
    results = tmp_path / "results.jsonl"
    assert broken(results, "--rounds", "20", "--without", "serve") == []
    assert len(results.read_text().splitlines()) >= 15


@pytest.mark.full
@pytest.mark.timeout(900)
def test_many_rounds(tmp_path):
    assert broken(tmp_path / "results.jsonl", "--rounds", "60", "--seed", "2") == []
