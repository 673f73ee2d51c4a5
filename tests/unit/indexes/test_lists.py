"""Cells that hold several values, in an index: the sets of plain loops, however they are built, found by parts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import dovetail
from dovetail.indexes.verify import verify_index
from support.pipeline import index, without_spark

WORDS = [f"word {letter}{other}" for letter in "abcdef" for other in "xyz"]


def write(lake: Path, tables: dict[str, list[list[str]]]) -> None:
    lake.mkdir(exist_ok=True)
    for name, rows in tables.items():
        (lake / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def tables() -> dict[str, list[list[str]]]:
    rng = random.Random(3)
    lists = [["id", "tags", "place"]]
    lists += [
        [f"r{n}", "; ".join(rng.sample(WORDS, rng.randint(1, 4))), f"town {n % 7}, state {n % 3}"] for n in range(300)
    ]
    return {
        "lists.tsv": lists,
        "shelves.tsv": [["tag", "shelf"], *([word.upper(), f"shelf {n}"] for n, word in enumerate(WORDS[:12]))],
        "bars.tsv": [["key", "labels"], *([f"k{n}", "|".join(rng.sample(WORDS, 2))] for n in range(30))],
        "other.tsv": [["name"], *([f"other {n}"] for n in range(20))],
    }


def sets_of(to: Path) -> dict[tuple[str, str], dict[str, int]]:
    """Of every column that holds several values, its parts and the rows of each."""
    found = {}
    for segment in dovetail.open(to).segments:
        about = segment.catalog.columns.select(["table", "column"]).to_pylist()
        for place, row in enumerate(about):
            ids, counts = segment.lists.set_of(place)
            if len(ids) and segment.alive[row["table"]]:
                parts = segment.lists.tokens(ids).to_pylist()
                found[segment.names[row["table"]], row["column"]] = dict(zip(parts, counts.tolist(), strict=True))
    return found


def counted(rows: list[list[str]], column: int, separator: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows[1:]:
        for part in {part.strip() for part in row[column].split(separator)}:
            counts[part] = counts.get(part, 0) + 1
    return counts


@pytest.mark.parametrize("megabyte", [10_000_000, 300])
def test_parts_are_those_of_plain_loops_in_one_task_and_in_many(tables, tmp_path, megabyte) -> None:
    write(tmp_path / "lake", tables)
    wanted = {
        ("lists.tsv", "tags"): counted(tables["lists.tsv"], 1, ";"),
        ("bars.tsv", "labels"): counted(tables["bars.tsv"], 1, "|"),
    }
    with without_spark(megabyte):
        index(tmp_path / "lake", to := tmp_path / "idx")
        assert sets_of(to) == wanted
        assert not verify_index(to).problems
        tables["shelves.tsv"].append(["word fz", "shelf z"])
        write(tmp_path / "lake", tables)
        index(tmp_path / "lake", to)
        dovetail.compact(to)
        assert sets_of(to) == wanted


def test_search_by_parts_promises_what_the_join_delivers(tables, tmp_path) -> None:
    write(tmp_path / "lake", tables)
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    lake = dovetail.open(tmp_path / "idx")
    hits = lake.search("shelves.tsv", by="parts")
    assert [(hit.table, hit.columns, hit.several) for hit in hits] == [
        ("bars.tsv", ("labels",), "theirs"), ("lists.tsv", ("tags",), "theirs"),
    ]  # fmt: skip
    (back,) = lake.search("lists.tsv", by="parts", k=1)
    assert (back.table, back.on, back.several, back.separator) == ("shelves.tsv", ("tags",), "mine", ";")
    for hit, mine in (*((hit, "shelves.tsv") for hit in hits), (back, "lists.tsv")):
        joined = lake.join(mine, hit)
        assert (joined.by, joined.rows) == ("parts", hit.joined_rows)
        assert joined.matched == (hit.matched_rows, hit.matched_table_rows)
        assert hit.explain().endswith(f"hold several values, separated by {hit.separator!r}.")
    sizes = {part for row in tables["lists.tsv"][1:] for part in row[1].split("; ")}
    assert (back.query_size, back.overlap) == (len(sizes), len(sizes & set(WORDS[:12])))
    assert not lake.search("other.tsv", by="parts")


def test_columns_say_that_cells_hold_several_values(tables, tmp_path) -> None:
    write(tmp_path / "lake", tables)
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
        index(tmp_path / "lake", tmp_path / "without", without=("lists",))
    separators = {
        name: [column.separator for column in dovetail.open(tmp_path / name).table("lists.tsv").columns]
        for name in ("idx", "without")
    }
    assert separators == {"idx": [None, ";", None], "without": [None, None, None]}
