"""What goes wrong in one file: a bad file, a fault that passes, a bug of ours, or the death of a worker."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dovetail._storage.directory import open_snapshot
from dovetail.api.lake import Lake
from dovetail.errors import BuildFailed
from dovetail.indexes.statistics import failed_tables
from dovetail.indexes.verify import verify_index
from dovetail.pipeline import jobs, reading
from dovetail.pipeline.run import Request, index_lake
from dovetail.settings import Settings
from support.contents import leftovers
from support.pipeline import WorkerDied, without_spark

TABLES = 4
SETTINGS = Settings(segment_mb=1_000, slice_mb=1, memory_mb=1_000)
MEGABYTES = {"whole": 1_000_000, "sliced": 2_000}


@pytest.fixture(params=MEGABYTES)
def megabyte(request) -> int:
    """How long a megabyte is: short ones make every table a big one, which is read in slices."""
    return MEGABYTES[request.param]


def index(lake, to):
    return index_lake(Request((str(lake),), to, settings=SETTINGS, allow_drop=True))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(reading, "_PAUSE", 0.0)


@pytest.fixture
def lake(tmp_path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    for number in range(TABLES):
        lines = "".join(f"{i},word {i} of {number}\n" for i in range(300))
        (folder / f"t{number}.csv").write_text("id,word\n" + lines)
    return folder


def failing(monkeypatch, error: BaseException, name: str = "t1.csv", times: int = 10**9) -> list[str]:
    """Reading the file of this name fails so often, after its first rows; returns the list of the failures."""
    failures: list[str] = []
    real = reading.read

    def read(path, *given):
        batches = real(path, *given)
        if path.name == name and len(failures) < times:
            yield next(batches)
            failures.append(name)
            raise error
        yield from batches

    monkeypatch.setattr(reading, "read", read)
    return failures


def in_stream(monkeypatch, error: Exception, times: int = 10**9) -> list[str]:
    """The operating system fails while t1.csv is read."""
    failures: list[str] = []
    real = Path.open

    def open_(path, *given, **named):
        if path.name == "t1.csv" and len(failures) < times:
            failures.append(path.name)
            raise error
        return real(path, *given, **named)

    monkeypatch.setattr(Path, "open", open_)
    return failures


PASSING = [
    OSError(errno.EMFILE, "Too many open files"),
    OSError(errno.ESTALE, "Stale file handle"),
    TimeoutError(errno.ETIMEDOUT, "Connection timed out"),
    MemoryError(),
]


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__ + str(error.args[:1]))
def test_a_fault_that_stays_is_tried_again_by_the_next_run(lake, tmp_path, monkeypatch, megabyte, error):
    with without_spark(megabyte), monkeypatch.context() as patch:
        assert in_stream(patch, error) == []
        report = index(lake, tmp_path / "idx")
    assert [skipped.path for skipped in report.skipped] == ["t1.csv"]
    assert report.skipped[0].reason.startswith("cannot be read now: ")
    with without_spark(megabyte):
        report = index(lake, tmp_path / "idx")
    assert (report.changed, report.tables, report.skipped) == (1, TABLES, [])


def test_a_fault_that_passes_is_not_even_noticed(lake, tmp_path, monkeypatch, megabyte):
    failures = in_stream(monkeypatch, OSError(errno.EIO, "Input/output error"), times=2)
    with without_spark(megabyte):
        report = index(lake, tmp_path / "idx")
    assert len(failures) == 2
    assert (report.tables, report.skipped) == (TABLES, [])


def test_a_bad_file_is_recorded_and_left_alone(lake, tmp_path, megabyte):
    (lake / "t1.csv").rename(lake / "t1.parquet")
    (lake / "t1.parquet").write_bytes(b"PAR1" + os.urandom(5_000) + b"PAR1")
    with without_spark(megabyte):
        report = index(lake, tmp_path / "idx")
        assert report.skipped[0].reason.startswith("broken Parquet file: ")
        assert index(lake, tmp_path / "idx").unchanged == TABLES


def test_a_bug_is_named_after_all_else_is_committed(lake, tmp_path, monkeypatch, megabyte):
    with without_spark(megabyte), monkeypatch.context() as patch:
        failing(patch, RecursionError("too deep"))
        with pytest.raises(BuildFailed, match=r"a bug in Dovetail left out 1: t1\.csv \(RecursionError: too deep, at"):
            index(lake, tmp_path / "idx")
    found = Lake(tmp_path / "idx")
    assert [line.table for line in found.tables()] == [f"t{n}.csv" for n in range(TABLES) if n != 1]
    assert failed_tables(open_snapshot(tmp_path / "idx")) == [], "the file is not to blame"
    assert verify_index(tmp_path / "idx").problems == ()
    assert leftovers(tmp_path / "idx") == set()
    with without_spark(megabyte):
        assert index(lake, tmp_path / "idx").added == 1


def test_a_file_that_ends_its_worker_is_found_and_set_aside(lake, tmp_path, monkeypatch, megabyte):
    with without_spark(megabyte):
        with monkeypatch.context() as patch:
            failures = failing(patch, WorkerDied("SIGKILL"))
            report = index(lake, tmp_path / "idx")
        assert [(skipped.path, skipped.reason) for skipped in report.skipped] == [("t1.csv", jobs.KILLED)]
        assert report.tables == TABLES - 1
        assert len(failures) <= 3, "halving finds one of four in three attempts"
        assert index(lake, tmp_path / "idx").unchanged == TABLES, "and is not tried again before it changes"
        (lake / "t1.csv").write_text("id\n1\n")
        assert index(lake, tmp_path / "idx").tables == TABLES


def test_memory_that_runs_out_while_building_is_no_bug(lake, tmp_path, monkeypatch):
    with without_spark():
        with monkeypatch.context() as patch:
            failing(patch, MemoryError())
            report = index(lake, tmp_path / "idx")
        assert [skipped.reason for skipped in report.skipped] == ["cannot be read now: out of memory"]
        assert index(lake, tmp_path / "idx").tables == TABLES


def test_a_broken_installation_is_not_blamed_on_the_files(lake, tmp_path, monkeypatch):
    for number in range(TABLES, 30):
        (lake / f"t{number}.csv").write_text("id\n1\n")

    def broken(*_):
        raise ImportError("no module named anything")

    monkeypatch.setattr(reading, "read", broken)
    with without_spark(), pytest.raises(BuildFailed, match=r"More than 20 files could not be built.*ImportError"):
        index(lake, tmp_path / "idx")
