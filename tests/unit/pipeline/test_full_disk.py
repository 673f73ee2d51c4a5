"""Whichever file a full disk cuts off, one sentence says so, the index stays as it was, and no scratch is left.

A limit on the size of files stands for a full disk: the system refuses to write on, and anybody may set it.
"""

from __future__ import annotations

import contextlib
import random
import resource
import sys
import tempfile

import pytest

from dovetail.graph import inclusion_dependencies
from dovetail.indexes.verify import verify_index
from support.command import dovetail
from support.contents import contents_of, leftovers
from support.pipeline import index, without_spark

KILOBYTE = 1 << 10


@contextlib.contextmanager
def files_of_at_most(size: int, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python does not notice that it is cut off
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    chance = random.Random(1)
    for number, rows in enumerate((20, 4000, 100)):
        lines = (f"{row},{chance.randrange(10**9)},the name {row % 999} of {number}\n" for row in range(rows))
        (folder / f"{number}.csv").write_text("id,number,name\n" + "".join(lines))
    return folder


@pytest.mark.parametrize(
    ("kilobytes", "slice_mb"),
    [(8, 1), (2, 100), (20, 100), (100, 100)],
    ids=["slices of a big table", "buckets of tokens", "rows", "the segment"],
)
def test_indexing(lake, tmp_path, monkeypatch, kilobytes, slice_mb):
    """With megabytes of 64 KB, builders spill, and the table in the middle is staged in slices if these are small."""
    settings = ("--set", "segment_mb=100", "--set", f"slice_mb={slice_mb}", "--set", "memory_mb=1")
    to = tmp_path / "idx"
    with without_spark(64 * KILOBYTE):
        assert dovetail("index", lake, "--to", tmp_path / "other", *settings).code == 0, "and its kernels are compiled"
        index(lake, to, tables=("0.csv",))
        before = contents_of(to)
        with files_of_at_most(kilobytes * KILOBYTE, monkeypatch):
            answer = dovetail("index", lake, "--to", to, "--tables", "*", *settings)
        assert answer.code == 2
        sentence = answer.err.splitlines()[1:]
        assert sentence == [f"Cannot write to {to}: File too large. What was committed stays."]
        assert leftovers(to) == set()
        after = contents_of(to)
        assert {table: after[table] for table in before} == before
        assert verify_index(to).problems == ()
        assert dovetail("index", lake, "--to", to, "--tables", "*", *settings).code == 0, "with room it goes on"
        assert set(contents_of(to)) == {"0.csv", "1.csv", "2.csv"}


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow"])
def test_a_joined_table(lake, tmp_path, monkeypatch, name):
    command = ("join", lake / "1.csv", lake / "1.csv", "--on", "id", "-o", tmp_path / name)
    assert dovetail(*command).code == 0, "and its kernels are compiled"
    (tmp_path / name).write_text("old")
    with files_of_at_most(8 * KILOBYTE, monkeypatch):
        answer = dovetail(*command)
    assert (answer.code, answer.err) == (2, f"Cannot use {tmp_path / name}: File too large.\n")
    assert (tmp_path / name).read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"lake", name}


def test_runs_of_inclusion_dependencies(lake, tmp_path, monkeypatch):
    for number in range(10):
        (lake / f"copy{number}.csv").write_bytes((lake / "2.csv").read_bytes())
    with without_spark():
        index(lake, tmp_path / "idx")
    monkeypatch.setattr(inclusion_dependencies, "_RUN", 1)
    command = ("inds", tmp_path / "idx", "--integers")
    assert dovetail(*command).code == 0, "and its kernels are compiled"
    with files_of_at_most(8, monkeypatch):
        answer = dovetail(*command)
    assert (answer.code, answer.err) == (2, f"Cannot use {tempfile.gettempdir()}: File too large.\n")
