"""The distribution is called dovetail-lake wherever it is installed: `dovetail` on PyPI is another project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.pages import ROOT, page

NAME = "dovetail-lake"
OTHER_PROJECT = re.compile(r"\bdovetail\\?\[[a-z{]|\binstall (?:-\S+ )*['\"]?dovetail(?![-\w])")
"""The name with an extra, or after the word install; `[` may be escaped, and the extra a placeholder."""

PLACES = ("src", "tests", "docs", "examples", "benchmarks", ".github", ".ci")
NOT_TEXT = {".gz", ".nbc", ".nbi", ".png", ".pyc"}
HISTORY = {ROOT / "CHANGELOG.md"}  # what was true of earlier versions


def written_files() -> list[Path]:
    below = [path for place in PLACES for path in (ROOT / place).rglob("*")]
    return [
        path
        for path in (*ROOT.iterdir(), *below)
        if path.is_file() and path.suffix not in NOT_TEXT and path not in HISTORY
    ]


def test_the_project_has_the_name():
    project = tomllib.loads(page("pyproject.toml"))["project"]
    assert project["name"] == NAME
    assert project["scripts"] == {"dovetail": "dovetail.cli:main"}
    (itself,) = (found for found in project["optional-dependencies"]["dev"] if found.startswith("dovetail"))
    assert itself.startswith(f"{NAME}[")


def test_nobody_is_told_to_install_another_project():
    files = written_files()
    assert ROOT / "README.md" in files and ROOT / "src" / "dovetail" / "_spark" / "session.py" in files
    told = {str(path): OTHER_PROJECT.findall(path.read_text(errors="replace")) for path in files}
    assert {path: names for path, names in told.items() if names} == {}


@pytest.mark.parametrize("name", ["README.md", "docs/guides/installing.md"])
def test_before_a_release_a_checkout_is_installed(name):
    """The first installation on the page works without PyPI, and the page says why."""
    first = re.search(r"pip install (\S+)", page(name))
    assert first and first[1].startswith("'.[")
    assert "not on PyPI yet" in page(name)
