"""The package as users get it: built, installed into an empty environment, and used in an empty folder without Java."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import dovetail
from dovetail.cli.demo import STEPS
from support.pages import ROOT

pytestmark = pytest.mark.full

PYTHONS = os.environ.get("PYTHONS", sys.executable).split()
"""The interpreters to install into; `make test-full PYTHONS='python3.12 python3.13'` names others."""

SHELL = ("bash", "sh", "dirname", "mv", "ps", "readlink", "uname")
"""What Spark's start script calls. Nothing else is on the PATH, no Java in particular."""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder with the sdist and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    (found,) = built.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_the_sample_lake_and_nothing_else(wheel):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    code = {path.relative_to(ROOT / "src").as_posix() for path in files(ROOT / "src" / "dovetail")}
    lake = {f"dovetail/{path.relative_to(ROOT).as_posix()}" for path in files(ROOT / "sample-lake")}
    assert inside == code | lake


def test_what_the_wheel_says_of_itself(wheel):
    (name,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    about = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode())
    assert (about["Name"], about["Version"]) == ("dovetail-lake", dovetail.__version__)
    assert {"spark", "serve", "stores", "files", "databases", "words"} <= set(about.get_all("Provides-Extra"))


def test_the_sdist_can_be_tested(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        tops = {Path(name).parts[1] for name in packed.getnames() if len(Path(name).parts) > 1}
    assert {"src", "tests", "docs", "benchmarks", "examples", "sample-lake", "Makefile", "LICENSE"} <= tops


@pytest.mark.parametrize("python", PYTHONS)
def test_demo_in_an_empty_folder(wheel, tmp_path, python):
    home = tmp_path / "environment"
    subprocess.run([python, "-m", "venv", home], check=True)
    subprocess.run([home / "bin" / "pip", "install", "--quiet", f"dovetail-lake[spark] @ {wheel.as_uri()}"], check=True)
    assert demo(home, tmp_path).startswith("\nIndex a folder of tables.")
    assert "Nothing to read: 60 unchanged" in (again := demo(home, tmp_path)), again


def demo(environment: Path, folder: Path) -> str:
    """What `dovetail demo` prints where there is no Java but that of the extra."""
    (folder / "work").mkdir(exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    for name in SHELL:
        if not (folder / "bin" / name).exists():
            (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        [environment / "bin" / "dovetail", "demo"], cwd=folder / "work", capture_output=True, text=True, check=False,
        env={"HOME": str(folder), "PATH": str(folder / "bin"), "LANG": "C.UTF-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n$ dovetail ") == len(STEPS)
    return done.stdout


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
