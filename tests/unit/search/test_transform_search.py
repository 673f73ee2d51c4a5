"""Search for tables that join after a transformation: `name` finds `email`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pandas as pd
import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.pipeline.maintain import compact
from support.command import dovetail as command
from support.pipeline import index, without_spark

SYLLABLES = ["ka", "ro", "mi", "ten", "sa", "bur", "lo", "vin", "ha", "dor", "el", "quist", "ny", "tra", "gu", "wes"]


def word(draw: random.Random) -> str:
    return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(2, 4)))


def people(size: int) -> list[tuple[str, str]]:
    draw = random.Random(5)
    return list(dict.fromkeys((word(draw), word(draw)) for _ in range(size)))


PEOPLE = people(160)
NAMES = [f"{first.title()} {last.title()}" for first, last in PEOPLE]


def write(lake: Path) -> None:
    lake.mkdir()
    draw = random.Random(6)
    tables = {
        "emails": {"email": [f"{first}.{last}@lab.org" for first, last in PEOPLE], "pay": range(len(PEOPLE))},
        "logins": {"login": [first[0] + last for first, last in PEOPLE], "shell": ["bash"] * len(PEOPLE)},
        "persons": {"person": [f"{last.title()}, {first.title()}" for first, last in PEOPLE[:120]]},
        "same": {"name": NAMES, "age": range(len(NAMES))},
        "strangers": {"email": [f"{word(draw)}.{word(draw)}@lab.org" for _ in range(200)]},
        "codes": {"code": sorted({"".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=3)) for _ in range(9_000)})},
    }
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(lake / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> dovetail.Lake:
    folder = tmp_path_factory.mktemp("transform")
    write(folder / "lake")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return dovetail.open(folder / "idx")


def found(lake: dovetail.Lake, data: object, **options: object) -> dict[str, object]:
    return {hit.table: hit for hit in lake.search(data, by="transform", **options)}


def test_names_find_addresses_logins_and_lists(lake):
    staff = pd.DataFrame({"name": NAMES[:100], "room": range(100)})
    hits = found(lake, staff, on="name")
    assert set(hits) == {"emails.csv", "logins.csv", "persons.csv"}
    assert hits["emails.csv"].columns == ("email",)
    assert hits["emails.csv"].overlap == 100
    assert hits["emails.csv"].cardinality == "1:1"
    assert hits["persons.csv"].overlap == sum(name in NAMES[:120] for name in NAMES[:100])
    assert found(lake, staff).keys() == hits.keys()


def test_the_join_delivers_what_search_promises(lake):
    staff = pd.DataFrame({"name": [*NAMES[:60], *NAMES[50:100], None, "Nobody"], "row": range(112)})
    for hit in lake.search(staff, on="name", by="transform"):
        joined = lake.join(staff, hit)
        assert joined.matched_left == hit.matched_rows
        assert joined.matched_right == hit.matched_table_rows
        assert lake.join(staff, hit, how="inner").rows == hit.joined_rows
        assert isinstance(hit.join(), pd.DataFrame)
        assert len(hit.join()) == joined.rows
        assert len(hit.preview(3)) == 3
        assert hit.words in hit.explain() or all(part in hit.explain() for part in hit.words.split("; or "))


def test_the_other_way_round(lake):
    mails = {"mail": [f"{first}.{last}@lab.org" for first, last in PEOPLE[:80]]}
    hits = found(lake, mails, on="mail")
    assert {"same.csv", "persons.csv"} <= set(hits)
    assert "emails.csv" not in hits  # equal values need no transformation
    assert hits["same.csv"].overlap == 80


def test_several_columns_of_mine(lake):
    staff = {"first": [first.title() for first, _ in PEOPLE[:90]], "last": [last for _, last in PEOPLE[:90]]}
    hits = found(lake, staff, on=["first", "last"])
    assert hits["emails.csv"].overlap == 90
    assert hits["emails.csv"].on == ("first", "last")


def test_what_is_met_by_chance_is_no_hit(lake):
    """The first three letters of any name are one of the codes."""
    draw = random.Random(8)
    letters = "abcdefghijklmnopqrstuvwxyz"
    things = {"thing": ["".join(draw.choice(letters) for _ in range(7)) for _ in range(300)]}
    assert "codes.csv" not in found(lake, things, on="thing")
    assert "codes.csv" not in found(lake, {"thing": [f"abc {name}" for name in NAMES]}, on="thing")  # one code for all


def test_thresholds_and_globs(lake):
    staff = {"name": [*NAMES[:50], *(f"No Body{i}" for i in range(150))]}
    assert set(found(lake, staff, on="name")) == {"emails.csv", "logins.csv", "persons.csv"}
    assert found(lake, staff, on="name", threshold=0.5) == {}
    assert set(found(lake, staff, on="name", tables="e*")) == {"emails.csv"}
    assert len(found(lake, staff, on="name", k=1)) == 1


def test_refusals(lake):
    with pytest.raises(InputError, match="`by` is 'magic'"):
        lake.search({"a": ["x"]}, by="magic")
    with pytest.raises(InputError, match="`fast` does not go with"):
        lake.search({"a": ["x"]}, by="transform", fast=True)
    with pytest.raises(InputError, match="no text column"):
        lake.search({"a": [1, 2]}, by="transform")
    nothing = lake.search({"a": ["qqq xxx", "zzz yyy"]}, by="transform")
    assert (list(nothing), "after a transformation" in nothing.sentence) == ([], True)


def test_after_any_history_as_from_a_fresh_index(lake, tmp_path):
    write(tmp_path / "lake")
    names = sorted(path.name for path in (tmp_path / "lake").iterdir())
    aside = tmp_path / "aside"
    aside.mkdir()
    for name in names[::2]:
        shutil.move(tmp_path / "lake" / name, aside / name)
    (tmp_path / "lake" / "gone.csv").write_text("email\n" + "\n".join(f"{a}.{b}@lab.org" for a, b in PEOPLE))
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
        for name in names[::2]:
            shutil.move(aside / name, tmp_path / "lake" / name)
        (tmp_path / "lake" / "gone.csv").unlink()
        index(tmp_path / "lake", tmp_path / "idx")
        staff = {"name": NAMES[:100]}
        expected = [hit.to_dict() for hit in lake.search(staff, on="name", by="transform")]
        grown = dovetail.open(tmp_path / "idx")
        assert len(grown.segments) > 1
        assert [hit.to_dict() for hit in grown.search(staff, on="name", by="transform")] == expected
        compact(tmp_path / "idx")
    compacted = dovetail.open(tmp_path / "idx").search(staff, on="name", by="transform")
    assert [hit.to_dict() for hit in compacted] == expected


@pytest.mark.parametrize("written", ["{first} {last}", "{last}, {first}", "{last} {first}", "{first} Q. {last}"])
def test_what_the_join_of_two_tables_learns_is_found(lake, written):
    """The login has the initial of the first name before the last name, in whatever order the names are."""
    staff = {"name": [written.format(first=first.title(), last=last.title()) for first, last in PEOPLE[:100]]}
    logins = {"login": [first[0] + last for first, last in PEOPLE]}
    joined = dovetail.join(staff, logins, by="transform")
    assert joined.matched_left == 100
    assert found(lake, staff)["logins.csv"].overlap == 100


def test_the_command(lake, tmp_path):
    pd.DataFrame({"name": NAMES[:100], "room": range(100)}).to_csv(tmp_path / "staff.csv", index=False)
    idx = lake.info()["path"]
    asked = ("search", tmp_path / "staff.csv", "--on", "name", "--by", "transform", "--index", idx)
    answer = command(*asked, "--json")
    assert answer.err == ""
    assert (answer.code, answer.json["by"], answer.json["exact"]) == (0, "transform", False)
    (first, *_) = answer.json["hits"]
    assert first["programs"][0]["words"]
    assert first["transformed"] in ("mine", "theirs")
    by = ("--by", "transform", "--index", idx)
    joined = command("join", tmp_path / "staff.csv", "emails.csv", "--on", "name=email", *by)
    assert joined.out.startswith("100 rows: inner join on name = email (after a transformation), 1:1. 100 of 100 rows")
    none = command("join", tmp_path / "staff.csv", "codes.csv", "--on", "name=code", *by)
    assert (none.code, none.out) == (1, "Nothing joins. No transformation joins enough rows.\n")
    shown = command(*asked)
    assert "emails.csv" in shown.out
    assert "Try:" in shown.err
    assert "after a transformation" in command(*asked, "--explain", "1").out
