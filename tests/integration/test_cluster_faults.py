"""A cluster of two workers and an object store, while tasks, sessions and workers fail: the index of `local[2]`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil
import pytest

import dovetail
from dovetail import _objects
from dovetail.indexes.verify import verify_index
from support.buckets import s3_server
from support.clusters import alike, environment, running_cluster
from support.contents import contents_of
from support.processes import start, wait_until

CHOICES = ("--set", "segment_mb=1", "--set", "slice_mb=1")
# Python runs it before a worker: the first two files of tokens that any worker writes fail, as a bad disk does.
FAILING = """
import os

def failing(real):
    def look(path, flags, *given, **named):
        if str(path).endswith("tokens.dvt") and flags & os.O_CREAT:
            for number in "12":
                try:
                    os.mkdir(os.path.join(os.environ["FAILURES"], number))
                except FileExistsError:
                    continue
                raise OSError(5, "Input/output error", str(path))
        return real(path, flags, *given, **named)
    return look

if "FAILURES" in os.environ:
    os.open = failing(os.open)
"""


@pytest.fixture
def lake(tmp_path) -> Path:
    """Several groups, and one table that is read in slices."""
    folder = tmp_path / "lake"
    folder.mkdir()
    for number in range(10):
        rows = "".join(f"{i},n{i * number},{i % 97} and more of it\n" for i in range(20_000))
        (folder / f"t{number}.csv").write_text("id,name,text\n" + rows)
    rows = "".join(f'{i},"two\nlines {i % 7}",{i / 8}\n' for i in range(60_000))
    (folder / "big.csv").write_text("id,text,number\n" + rows)
    return folder


def finished(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    output, errors = process.communicate(timeout=240)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


@pytest.mark.full
def test_what_fails_changes_nothing(lake, tmp_path, monkeypatch):
    dovetail.index(lake, tmp_path / "local", settings={"segment_mb": 1, "slice_mb": 1}, master="local[2]")
    expected = alike(contents_of(tmp_path / "local"))
    (tmp_path / "failures").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(FAILING)
    with s3_server("bucket", tmp_path / "server.log") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
        _objects.client.cache_clear()
        for path in lake.iterdir():
            _objects.Objects("s3://bucket/raw").put(path.name, path.read_bytes())
        bad = {**variables, "PYTHONPATH": str(tmp_path / "site"), "FAILURES": str(tmp_path / "failures")}
        with running_cluster(tmp_path, bad, bad) as cluster:

            def begin(to: str) -> subprocess.Popen[str]:
                given = ("index", "s3://bucket/raw", "--to", to, "--master", cluster.address, *CHOICES)
                return start(*given, env=environment(**variables))

            def begun(process: subprocess.Popen[str], to: str) -> None:
                stored = _objects.Objects(to)
                wait_until(lambda: process.poll() is not None or any(stored.entries("segments")), patience=200)
                assert process.poll() is None, "the run was still at work"

            done = finished(begin("s3://bucket/failing"))
            assert done.returncode == 0, done.stderr
            assert len(list((tmp_path / "failures").iterdir())) == 2, "two tasks have failed"

            process = begin("s3://bucket/lost")
            begun(process, "s3://bucket/lost")
            java = [child for child in psutil.Process(process.pid).children(recursive=True) if child.name() == "java"]
            java[0].kill()
            done = finished(process)
            assert done.returncode == 2, done.stderr
            assert done.stderr.splitlines()[-1].startswith("Spark has ended, or cannot be reached. What was committed")
            done = finished(begin("s3://bucket/lost"))
            assert done.returncode == 0, done.stderr

            process = begin("s3://bucket/killed")
            begun(process, "s3://bucket/killed")
            cluster.kill(0)
            done = finished(process)
            assert done.returncode == 0, done.stderr
        for name in ("failing", "lost", "killed"):
            assert alike(contents_of(f"s3://bucket/{name}")) == expected
            assert verify_index(f"s3://bucket/{name}").problems == ()
    _objects.client.cache_clear()
