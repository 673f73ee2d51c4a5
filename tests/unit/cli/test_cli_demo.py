"""`dovetail demo` puts the sample lake into the current folder and changes nothing that is there."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from dovetail import __version__
from dovetail.cli import demo
from support.command import dovetail
from support.sample import SAMPLE_LAKE


@pytest.fixture
def steps(tmp_path, monkeypatch) -> list[list[str]]:
    """The commands that were run, of which none was; the current folder is empty."""
    asked: list[list[str]] = []

    def run(call: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        asked.append(call[4:])
        return subprocess.CompletedProcess(call, 0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_the_lake_is_copied_whole(tmp_path, steps):
    answer = dovetail("demo")
    assert answer.code == 0 and answer.err == ""
    assert steps == [list(command) for _, command in demo.STEPS]
    assert files(tmp_path) == {f"sample-lake/{name}": content for name, content in files(SAMPLE_LAKE).items()}
    assert "\n$ dovetail index sample-lake --to sample-lake.idx\n" in answer.out


def test_a_lake_that_is_there_stays_as_it_is(tmp_path, steps):
    dovetail("demo")
    (tmp_path / "sample-lake" / "mine.csv").write_text("id\n1\n")
    (tmp_path / "sample-lake" / "notes.csv").unlink()
    before = files(tmp_path)
    assert dovetail("demo").code == 0
    assert files(tmp_path) == before


def test_another_folder_of_that_name_is_refused(tmp_path, steps):
    (tmp_path / "sample-lake").mkdir()
    (tmp_path / "sample-lake" / "mine.csv").write_text("id\n1\n")
    answer = dovetail("demo")
    assert answer.code == 2
    assert answer.err == "sample-lake exists and is not the sample lake. Run the demo in an empty folder.\n"
    assert files(tmp_path) == {"sample-lake/mine.csv": b"id\n1\n"} and not steps


def test_copies_can_be_written_where_the_package_cannot(tmp_path, steps, monkeypatch):
    package = shutil.copytree(SAMPLE_LAKE, tmp_path / "package")
    for path in [*package.rglob("*"), package]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(demo, "bundled_lake", lambda: package)
    dovetail("demo")
    assert all(path.stat().st_mode & 0o200 for path in (tmp_path / "sample-lake").rglob("*"))


def test_a_copy_that_fails_leaves_nothing(tmp_path, steps, monkeypatch):
    def full(source, to):
        raise OSError(28, "No space left on device", str(to))

    monkeypatch.setattr(shutil, "copyfile", full)
    answer = dovetail("demo")
    assert answer.code == 2 and answer.err.endswith("No space left on device.\n")
    assert list(tmp_path.iterdir()) == [] and not steps


def test_a_step_that_fails_ends_the_demo(steps, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda call, check: subprocess.CompletedProcess(call, 2))
    answer = dovetail("demo")
    assert answer.code == 2 and answer.out.count("$ dovetail") == 1


def test_the_package_can_be_run():
    """The demo runs its commands so, wherever the script `dovetail` is."""
    call = [sys.executable, "-P", "-m", "dovetail", "--version"]
    assert (
        subprocess.run(call, capture_output=True, text=True, check=True).stdout == f"dovetail, version {__version__}\n"
    )


def files(folder) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
