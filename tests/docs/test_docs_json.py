"""docs/reference/json.md names every key of every command's JSON, with its type, and no others."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dovetail.join.spark import SparkJoin
from dovetail.search.many import SCHEMA
from support.command import dovetail
from support.pages import page
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE

LINES = ("dovetail search --json-lines", "dovetail search --many")
"""Not one document, but a line each."""


def sections() -> list[str]:
    named = re.findall(r"^## (.+)$", page("docs/reference/json.md"), re.MULTILINE)
    return [section for section in named if section not in LINES]


def documented(section: str) -> dict[str, str]:
    text = page("docs/reference/json.md").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", text, re.MULTILINE))


def found(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a document with the type of its value."""
    if key and not key.endswith("[]"):
        yield key, kind(value)
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from found(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield from found(inner, f"{key}[]")


def kind(value: Any) -> str:
    if isinstance(value, list):
        return f"list of {kind(value[0]).partition(' ')[0]}s" if value else "list"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", type(None): "null"}
    return names[type(value)]


def two_files(folder: Path) -> Iterator[Path]:
    people = [
        ("Ada", "Lovelace"),
        ("Alan", "Turing"),
        ("Grace", "Hopper"),
        ("Edsger", "Dijkstra"),
        ("Barbara", "Liskov"),
    ]
    columns = {
        "name": [f"{first} {last}" for first, last in people],
        "who": [f"{last}; {first[:1]}" for first, last in people],
    }
    for name, values in columns.items():
        path = folder / f"{name}.csv"
        path.write_text("\n".join([f"{name},file", *(f"{value},{name}" for value in values)]))
        yield path


def keyed_files(folder: Path) -> list[Path]:
    tables = {"a": "id,x\n1,p\n2,q\n", "b": "no,a\n7,1\n8,2\n9,5\n", "c": "b,y\n7,u\n7,v\n6,w\n"}
    for name, text in tables.items():
        (folder / f"keyed-{name}.csv").write_text(text)
    return [folder / f"keyed-{name}.csv" for name in tables]


def states(folder: Path) -> list[Path]:
    tables = {"names": "name\nAlabama\nAlaska\nArizona\nArkansas\n", "seats": "seat\nPhoenix\nJuneau\nMontgomery\n"}
    for name, text in tables.items():
        (folder / f"state-{name}.csv").write_text(text)
    return [folder / f"state-{name}.csv" for name in tables]


def unions(folder: Path) -> list[Path]:
    """Two tables of the same kind, each with a column of its own; the second one is indexed."""
    lake = folder / "unions"
    if not lake.exists():
        lake.mkdir()
        names = ["Ada", "Alan", "Grace", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia", "Tony"]
        rows = [f"{name} {end},{end}ville,{1900 + n},{n}" for end in ("Ash", "Bell") for n, name in enumerate(names)]
        (folder / "first.csv").write_text("\n".join(["name,town,born,mark", *rows[:15]]))
        (lake / "second.csv").write_text("\n".join(["name,town,born,place", *rows[5:]]))
        dovetail("index", lake, "--to", folder / "unions.idx", "--json")
    return [folder / "first.csv", lake / "second.csv"]


def database(folder: Path) -> Path:
    """The index of a database that declares keys, of some columns."""
    lake = folder / "shop"
    lake.mkdir()
    with closing(sqlite3.connect(lake / "shop.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, after INTEGER REFERENCES orders, x TEXT);"
            "INSERT INTO orders VALUES (1, 'a', NULL, 'x'), (2, 'b', 1, 'x')"
        )
    dovetail("index", lake, "--to", folder / "shop.idx", "--json")
    return folder / "shop.idx"


def after_a_transformation(folder: Path) -> Any:
    folder.mkdir()
    name, _ = two_files(folder)
    dovetail("index", folder, "--to", folder / "idx", "--json")
    return dovetail("search", name, "--on", "name", "--by", "transform", "--index", folder / "idx", "--json").json


def by_parts(folder: Path) -> Any:
    folder.mkdir()
    (folder / "films.csv").write_text("film,genres\na,drama; crime\nb,crime; drama\nc,comedy; crime\nd,drama\n")
    (folder / "genres.csv").write_text("genre,shelf\ndrama,1\ncrime,2\ncomedy,3\n")
    dovetail("index", folder, "--to", folder / "idx", "--json")
    return dovetail("search", folder / "genres.csv", "--by", "parts", "--index", folder / "idx", "--json").json


def updated(folder: Path, *options: object) -> Any:
    """The report of a run over one lake of an index whose other lake is not there any more."""
    gone = folder / "gone"
    gone.mkdir()
    (gone / "a.csv").write_text("a,b\n1,2\n")
    for lakes in ([SAMPLE_LAKE, gone], [SAMPLE_LAKE]):
        answer = dovetail("index", *lakes, "--to", folder / "new", *options, "--json")
        shutil.rmtree(gone, ignore_errors=True)
    return answer.json


def joins(folder: Path, index: Path) -> dict[str, Any]:
    """A join of every method, with and without an index, of two tables and of more."""
    names, keyed = list(two_files(folder)), keyed_files(folder)
    flights = ("transport/flights.csv", "transport/planes.parquet", "--index", index)
    asked = {
        "equal": (*keyed[:2], "--on", "id=a", "--how", "outer", "-o", folder / "out.csv"),
        "chosen": keyed[:2],
        "transform": names,
        "similar": (*names, "--by", "similar"),
        "semantic": (*names, "--by", "semantic"),
        "nothing": (names[0], keyed[2]),
        "three tables": keyed,
        "index": flights,
        "index, similar": (*flights, "--by", "similar", "--on", "tailnum"),
        "index, semantic": (*flights, "--by", "semantic", "--on", "tailnum"),
        "index, through": (*states(folder), "--by", "through", "--index", index),
    }
    return {name: dovetail("join", *arguments, "--json").json for name, arguments in asked.items()}


def fits(seen: str, stated: str) -> bool:
    return seen in stated.split(" or ") or (seen == "list" and stated.startswith("list of ")) or (
        seen == "integer" and stated == "number"
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers(sample_index, tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("json")
    index = shutil.copytree(sample_index, folder / "idx")
    options = ["--tables", "geo/*", "--tables", "notes.csv", "--exclude", "*.jsonl", "--dialect", "x:header=no"]
    with without_spark():
        return {
            "dovetail index": updated(folder, *options),
            "dovetail search": dovetail("search", "geo/us-state-capitals.jsonl", "--index", index, "--json").json,
            "dovetail search --target": dovetail(
                "search", "geo/us-states.csv", "--on", "name", "--target", "capital_tz", "--index", index, "--json"
            ).json,
            "dovetail search --by parts": by_parts(folder / "parts"),
            "dovetail search --by transform": after_a_transformation(folder / "pair"),
            "dovetail search --by semantic": dovetail(
                "search", "geo/us-states.csv", "--by", "semantic", "--index", index, "--json"
            ).json,
            "dovetail search --by through": dovetail(
                "search", "geo/us-states.csv", "--on", "name", "--by", "through", "--index", index, "--json"
            ).json,
            "dovetail join": joins(folder, index),
            "dovetail join --master": SparkJoin(
                "equal", (("id",), ("a",)), "inner", "The columns were given.", 2, 3, 2, 2, 2, "out.parquet"
            ).report,
            "dovetail union": dovetail("union", unions(folder)[0], "--index", folder / "unions.idx", "--json").json,
            "dovetail union TABLE": dovetail("union", *unions(folder), "-o", folder / "union.csv", "--json").json,
            "dovetail map": dovetail(
                "map",
                "geo/us-states.csv",
                "name",
                "--to",
                "geo/us-states.csv",
                "--to-column",
                "capital_tz",
                "--index",
                index,
                "--json",
            ).json,
            "dovetail predicates": dovetail("predicates", *keyed_files(folder), "--json").json,
            "dovetail inds": dovetail("inds", index, "--json").json,
            "dovetail keys": dovetail("keys", index, "--json").json,
            "dovetail keys --candidates": dovetail("keys", index, "--candidates", "--json").json,
            "dovetail path": dovetail("path", index, "sport/nba-roster-2021.csv", "sport/nba-teams.csv", "--json").json,
            "dovetail graph": dovetail("graph", index, "-o", folder / "joins.json", "--json").json,
            "dovetail decide": dovetail(
                "decide", index, "geo/us-states.csv", "geo/countries.csv", "--on", "name=Name", "--never", "--json"
            ).json,
            "dovetail info": dovetail("info", folder / "new", "--json").json,
            "dovetail tables": dovetail("tables", index, "--json").json,
            "dovetail columns": dovetail("columns", database(folder), "shop.sqlite::orders", "--json").json,
            "dovetail find": dovetail("find", index, "us", "--json").json,
            "dovetail find --column": dovetail("find", index, "--column", "*a*", "--json").json,
            "dovetail verify": dovetail("verify", index, "--json").json,
            "dovetail remove": dovetail("remove", index, "sport/*", "--json").json,
            "dovetail compact": dovetail("compact", index, "--json").json,
            "dovetail clean": dovetail("clean", index, "--json").json,
        }


def test_every_section_is_compared(answers):
    assert sections() == list(answers)


def all_keys(section: str) -> dict[str, str]:
    """The documented keys of a section, with those that it takes over from others."""
    stated = documented(section)
    if section.startswith("dovetail search --"):
        stated |= documented("dovetail search")
        stated = {
            key: kind for key, kind in stated.items() if not key.startswith("to_append[]")
        }  # by equal values only
    if section == "dovetail search --by transform":
        programs = documented("dovetail join").items()
        stated |= {f"hits[].{key}": kind for key, kind in programs if key.startswith("programs[]")}
    return stated


@pytest.mark.parametrize("section", [section for section in sections() if section != "dovetail join"])
def test_keys_and_types(answers, section):
    stated = all_keys(section)
    seen = list(found(answers[section]))
    assert {key for key, _ in seen} == set(stated), section
    for key, type_name in seen:
        assert fits(type_name, stated[key]), f"{section}: {key} is a {type_name}, documented as {stated[key]}"


def test_json_lines_have_the_keys_of_hits_and_of_the_answer(sample_index):
    asked = "search", "transport/airports.csv", "--index", sample_index, "--json-lines"
    lines = [json.loads(line) for line in dovetail(*asked).out.splitlines()]
    stated, search = documented(LINES[0]), documented("dovetail search")
    of_hit = {key.removeprefix("hits[].") for key in search if re.fullmatch(r"hits\[\]\.\w+", key)}
    of_answer = {key for key in search if "." not in key}
    assert {line["change"] for line in lines} >= {"new", "end"}
    for line in lines:
        own = {key: kind(line[key]) for key in stated if key in line}
        assert set(line) - set(own) == (of_answer if line["change"] == "end" else of_hit)
        assert all(fits(seen, stated[key]) for key, seen in own.items())


def test_many_searches_have_the_documented_columns():
    text = page("docs/reference/json.md").partition(f"\n## {LINES[1]}\n")[2].partition("\n## ")[0]
    listed = re.findall(r"`(\w+)`", text.partition("The columns, in this order:")[2].partition("They mean")[0])
    assert listed == SCHEMA.names


def test_every_join_has_the_same_keys(answers):
    stated = all_keys("dovetail join")
    seen: set[str] = set()
    for name, answer in answers["dovetail join"].items():
        steps = [{**step, "output": None} for step in answer["steps"]]
        for document in ({**answer, "steps": [{}] * len(steps)}, *steps):
            assert list(document) == [key for key in stated if "." not in key], name
            for key, type_name in found(document):
                assert fits(type_name, stated[key]), f"{name}: {key} is a {type_name}, documented as {stated[key]}"
                seen.add(key)
    assert seen == set(stated)


def test_an_explained_hit(sample_index):
    arguments = ("transport/flights.csv", "--on", "tailnum", "--index", sample_index)
    answer = dovetail("search", *arguments, "--explain", 1, "--json").json
    hit = dovetail("search", *arguments, "--json").json["hits"][0]
    assert {**answer, "explanation": ""} == {**hit, "explanation": ""}
