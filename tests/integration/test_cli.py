"""The real command, in processes of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail import Lake, index, remove
from support.interrupts import interrupt
from support.processes import start
from support.sample import SAMPLE_LAKE

DOVETAIL = Path(sys.executable).with_name("dovetail")


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [str(DOVETAIL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


def test_index_with_spark_equals_the_index_without(tmp_path, sample_index):
    built = run("index", SAMPLE_LAKE, "--to", tmp_path / "idx", "--json")
    assert built.returncode == 0, built.stderr
    assert built.stderr.count("\n") == 1, f"nothing but the sentence about disk: {built.stderr}"
    assert json.loads(built.stdout)["tables"] == 59
    assert run("verify", tmp_path / "idx").returncode == 0
    ours, theirs = (run("tables", index, "--json").stdout for index in (tmp_path / "idx", sample_index))
    assert ours == theirs


def test_an_interrupt_ends_in_a_sentence_and_loses_nothing(tmp_path, sample_index):
    shutil.copytree(sample_index, tmp_path / "idx")
    lake = Lake(tmp_path / "idx")
    remove(tmp_path / "idx", "geo/*")
    process = start("index", SAMPLE_LAKE, "--to", tmp_path / "idx")
    first = process.stderr.readline()
    assert "files to read" in first
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 130
    assert rest.strip() == "Stopped. What was committed stays; run the same command again to go on."
    assert run("verify", tmp_path / "idx").returncode == 0
    kept = [line.table for line in lake.tables() if not line.table.startswith("geo/")]
    assert [line.table for line in Lake(tmp_path / "idx").tables()] == kept


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "compiling"])
@pytest.mark.parametrize("verb", ["search", "keys"])
def test_an_interrupt_ends_a_question_at_once_in_one_line(tmp_path, sample_index, verb, compiled):
    """While modules are imported, machine code is loaded or made, and answers are printed."""
    shutil.copytree(sample_index, tmp_path / "idx")
    environment = os.environ | ({} if compiled else {"NUMBA_CACHE_DIR": str(tmp_path / "cache")})
    query = [SAMPLE_LAKE / "geo/countries.csv"] if verb == "search" else []
    for moment in (0.4, 0.7, 1.0, 2.0):
        ending = interrupt(moment, verb, *query, "--index", tmp_path / "idx", env=environment)
        if ending is not None and ending.code == 0:  # the answer was there already
            assert ending.seconds < 0.5, (moment, ending)
        else:
            assert ending is None or ending.is_clean(within=3.0), (moment, ending)


def test_the_online_half_imports_no_pyspark(sample_index):
    program = """
import sys
from dovetail.cli.verbs import run
index = sys.argv[1]
for command in (["info", index], ["tables", index], ["columns", index, "geo/countries.csv"], ["find", index, "us"],
                ["find", index, "--column", "*"], ["verify", index], ["remove", index, "x/*"], ["index", "--help"]):
    assert run(command) in (0, 1), command
spark = [name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")]
assert not spark, spark
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(sample_index)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_reader_of_the_output_that_goes_away_is_no_error(sample_index):
    process = subprocess.Popen(
        [DOVETAIL, "columns", sample_index, "transport/flights.csv", "--json"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    process.stdout.read(1)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait(timeout=60) == 0


def test_relative_paths_hold_after_a_change_of_folder(tmp_path, monkeypatch):
    """Spark's workers keep the folder of the process in which Spark was first started."""
    for name in ("one", "two"):
        (tmp_path / name / "lake").mkdir(parents=True)
        (tmp_path / name / "lake" / "a.csv").write_text(f"id,name\n1,{name}\n")
        monkeypatch.chdir(tmp_path / name)
        assert index("lake", "idx").tables == 1
        assert Lake("idx").find(name)
