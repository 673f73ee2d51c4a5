"""docs/reference/json.md names every key of every command's JSON, with its type, and no other."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.command import dovetail
from support.pages import page
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE


def sections() -> list[str]:
    return re.findall(r"^## (.+)$", page("docs/reference/json.md"), re.MULTILINE)


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


def after_a_transformation(folder: Path) -> Any:
    folder.mkdir()
    name, _ = two_files(folder)
    dovetail("index", folder, "--to", folder / "idx", "--json")
    return dovetail("search", name, "--on", "name", "--by", "transform", "--index", folder / "idx", "--json").json


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
            "dovetail index": dovetail("index", SAMPLE_LAKE, "--to", folder / "new", *options, "--json").json,
            "dovetail search": dovetail(
                "search", "transport/flights.csv", "--on", "tailnum", "--index", index, "--json"
            ).json,
            "dovetail search --how transform": after_a_transformation(folder / "pair"),
            "dovetail search --how semantic": dovetail(
                "search", "geo/us-states.csv", "--by", "semantic", "--index", index, "--json"
            ).json,
            "dovetail join": dovetail(
                "join", "transport/flights.csv", "transport/planes.parquet", "--index", index, "--json"
            ).json,
            "dovetail join of two files": {
                **dovetail("join", *two_files(folder), "--json").json,
                "predicate": dovetail("join", *keyed_files(folder)[:2], "--json").json["predicate"],
            },
            "dovetail join of more files": dovetail("join", *keyed_files(folder), "--json").json,
            "dovetail predicates": dovetail("predicates", *keyed_files(folder), "--json").json,
            "dovetail inds": dovetail("inds", index, "--json").json,
            "dovetail keys": dovetail("keys", index, "--json").json,
            "dovetail keys --candidates": dovetail("keys", index, "--candidates", "--json").json,
            "dovetail path": dovetail(
                "path", index, "transport/flights.csv", "transport/planes.parquet", "--json"
            ).json,
            "dovetail graph": dovetail("graph", index, "-o", folder / "joins.json", "--json").json,
            "dovetail info": dovetail("info", folder / "new", "--json").json,
            "dovetail tables": dovetail("tables", index, "--json").json,
            "dovetail columns": dovetail("columns", index, "geo/us-states.csv", "--json").json,
            "dovetail find": dovetail("find", index, "us", "--json").json,
            "dovetail find --column": dovetail("find", index, "--column", "*a*", "--json").json,
            "dovetail verify": dovetail("verify", index, "--json").json,
            "dovetail remove": dovetail("remove", index, "sport/*", "--json").json,
            "dovetail compact": dovetail("compact", index, "--json").json,
        }


def test_every_section_is_compared(answers):
    assert sections() == list(answers)


@pytest.mark.parametrize("section", sections())
def test_keys_and_types(answers, section):
    stated = documented(section)
    if "--how" in section:
        stated |= documented("dovetail search")
    if section == "dovetail search --how transform":
        programs = documented("dovetail join of two files").items()
        stated |= {f"hits[].{key}": kind for key, kind in programs if "program[]" in key}
    seen = list(found(answers[section]))
    assert {key for key, _ in seen} == set(stated), section
    for key, type_name in seen:
        assert fits(type_name, stated[key]), f"{section}: {key} is a {type_name}, documented as {stated[key]}"
