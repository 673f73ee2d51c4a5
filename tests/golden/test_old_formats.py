"""Indexes of older formats, as written at their time: refused by name, with the command that rebuilds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dovetail as library
from dovetail._storage.marker import FORMAT_VERSION
from dovetail.cli.verbs import VERBS
from dovetail.errors import FormatMismatch
from support.command import dovetail
from support.pipeline import without_spark

HERE = Path(__file__).parent
OLD = range(1, FORMAT_VERSION)
COMMANDS = {
    "index": ("index", "LAKE", "--to", "INDEX"),
    "search": ("search", "TABLE", "--index", "INDEX"),
    "join": ("join", "TABLE", "cities.csv", "--index", "INDEX"),
    "union": ("union", "TABLE", "--index", "INDEX"),
    "map": ("map", "TABLE", "city", "--example", "Paris=France", "--index", "INDEX"),
    "predicates": ("predicates", "TABLE", "cities.csv", "--index", "INDEX"),
    "inds": ("inds", "INDEX"),
    "keys": ("keys", "INDEX"),
    "path": ("path", "INDEX", "cities.csv", "geo/countries.tsv"),
    "graph": ("graph", "INDEX"),
    "decide": ("decide", "INDEX", "cities.csv", "geo/countries.tsv", "--on", "country=name", "--never"),
    "serve": ("serve", "INDEX", "--port", "0"),
    "mcp": ("mcp", "INDEX"),
    "info": ("info", "INDEX"),
    "tables": ("tables", "INDEX"),
    "columns": ("columns", "INDEX", "cities.csv"),
    "find": ("find", "INDEX", "Paris"),
    "verify": ("verify", "INDEX"),
    "remove": ("remove", "INDEX", "cities.csv"),
    "compact": ("compact", "INDEX"),
    "clean": ("clean", "INDEX"),
}
NO_INDEX = {"demo"}


@pytest.fixture(scope="module", params=OLD, ids=lambda number: f"format {number}")
def old(request, tmp_path_factory) -> tuple[int, Path]:
    """The number of a format and an index of it."""
    folder = tmp_path_factory.mktemp("old") / "idx"
    shutil.unpack_archive(HERE / f"format-{request.param}.tar.gz", folder, filter="data")
    return request.param, folder


def test_every_command_that_takes_an_index_is_tried():
    assert set(COMMANDS) == set(VERBS) - NO_INDEX


@pytest.mark.parametrize("verb", COMMANDS)
def test_commands_refuse_it(old, tmp_path, verb):
    number, folder = old
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "mine.csv").write_text("city\nParis\nZürich\n")
    places = {"INDEX": folder, "LAKE": tmp_path / "lake", "TABLE": tmp_path / "lake" / "mine.csv"}
    before = contents(folder)
    with without_spark():
        answer = dovetail(*(places.get(word, word) for word in COMMANDS[verb]))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        f"{folder} has index format {number}; this Dovetail reads format {FORMAT_VERSION}. "
        "Build the index again in a new folder: `dovetail index LAKE --to FOLDER`.\n"
    )
    assert contents(folder) == before


def test_python_refuses_it(old):
    for action in (library.open, library.verify, library.clean):
        with pytest.raises(FormatMismatch, match=f"has index format {old[0]}"):
            action(old[1])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
