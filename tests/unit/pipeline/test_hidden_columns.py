"""Columns that are left out, or kept as hashes: what is read again, what joins, and what is shown."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.indexes.pexeso.core import text_ids
from dovetail.normalise.keyed import KEY_FILE_VARIABLE, KEY_VARIABLE
from support.pipeline import index, without_spark

KEY = "a key of the tests, long enough"
PEOPLE = "id,Email,town\n" + "".join(f"{n},Person{n}@secret.org,Town {n % 3}\n" for n in range(20))
VISITS = "visit,visitor_email,cost\n" + "".join(f"{n},PERSON{n % 15}@SECRET.ORG,{n}\n" for n in range(40))


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    folder = tmp_path / "lake"
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "visits.csv").write_text(VISITS)
    (folder / "towns.csv").write_text("town,size\nTown 0,5\nTown 1,6\nTown 2,7\n")
    with without_spark():
        yield folder


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "idx"


def test_rules_are_remembered_and_only_tables_that_they_change_are_read_again(lake: Path, to: Path) -> None:
    assert index(lake, to).added == 3
    assert index(lake, to, exclude_columns=("*email*",)).changed == 2
    assert dovetail.open(to).table("people.csv").columns[1].name == "town"
    assert index(lake, to).changed == 0  # remembered
    assert index(lake, to, exclude_columns=("*email*", "town*.csv:si*")).changed == 1
    assert index(lake, to, exclude_columns=("people.csv:email", "towns.csv:si*")).changed == 2  # which lost its globs
    assert index(lake, to, exclude_columns=(), hash_columns=("*EMAIL*",)).changed == 3
    assert [column.type for column in dovetail.open(to).table("visits.csv").columns] == ["integer", "hashed", "integer"]
    assert index(lake, to, hash_columns=()).changed == 2
    assert dovetail.open(to).find("Person3@secret.org")


def test_a_table_whose_columns_are_all_left_out_comes_back(lake: Path, to: Path) -> None:
    index(lake, to, exclude_columns=("towns.csv:*",))
    assert not dovetail.open(to).table("towns.csv").columns
    assert index(lake, to, exclude_columns=()).changed == 1
    assert len(dovetail.open(to).table("towns.csv").columns) == 2


def test_a_hidden_value_is_known_by_its_column_and_not_by_its_text(lake: Path, to: Path) -> None:
    looks_hidden = [f"hash:{word * 4}" for word in ("abcdef", "ghijkl", "mnopqr")]
    (lake / "notes.csv").write_text("note\n" + "\n".join(looks_hidden) + "\n")
    index(lake, to, hash_columns=("*email*",))
    opened = dovetail.open(to)
    assert dovetail.verify(to).problems == ()
    misspelt = [value[:-1] + "x" for value in looks_hidden]
    (hit,) = opened.search(misspelt, by="semantic", k=1)
    assert (hit.table, hit.overlap) == ("notes.csv", 3)
    reshaped = [f"{value[5:]} / hash" for value in looks_hidden]
    assert [hit.table for hit in opened.search(reshaped, by="transform")] == ["notes.csv"]
    texts = {
        token for segment in opened.segments for token in segment.tokens.tokens(text_ids(segment.segment)).to_pylist()
    }
    assert {token for token in texts if token.startswith("hash:")} == set(looks_hidden)
    with pytest.raises(InputError, match=r"Email of people\.csv has no texts"):
        opened.search("people.csv", on="Email", by="semantic")


def test_hashed_columns_join_each_other_and_mine_by_the_key(lake: Path, to: Path, tmp_path: Path) -> None:
    index(lake, to, hash_columns=("*email*",))
    opened = dovetail.open(to)
    joined = opened.join("people.csv", "visits.csv")
    assert (joined.rows, joined.condition) == (40, "Email = visitor_email")
    assert all(value.startswith("hash:") for value in joined.table.column("visitor_email").to_pylist())
    mine = {"Email": ["  person1@SECRET.org", "person19@secret.org", "nobody@secret.org"], "mark": ["a", "b", "c"]}
    joined = opened.join(mine, "people.csv", on="Email", both_keys=True)
    assert joined.table.select(["mark", "id"]).to_pylist() == [{"mark": "a", "id": "1"}, {"mark": "b", "id": "19"}]
    assert "secret.org" not in str(joined.table.column("Email_right").to_pylist())
    assert joined.sql is None
    (hit,) = opened.search(mine, on="Email", k=1)
    assert (hit.table, hit.columns) == ("people.csv", ("Email",))
    assert "person19@secret.org" not in str(hit.join().drop_columns(["Email"]).to_pydict()).lower()
    assert [found.rows for found in opened.find("person3@SECRET.org")] == [3, 1]


def test_without_the_key_mine_does_not_join_hashed_columns(lake: Path, to: Path, monkeypatch) -> None:
    index(lake, to, hash_columns=("*email*",))
    monkeypatch.delenv(KEY_VARIABLE)
    opened = dovetail.open(to)
    assert opened.join("people.csv", "visits.csv").rows == 40  # both are in the index
    assert not opened.join({"Email": ["person1@secret.org"]}, "people.csv", on="Email").rows
    assert not opened.find("person1@secret.org")


def test_a_file_of_the_lake_by_its_path_hides_the_same_columns(lake: Path, to: Path) -> None:
    index(lake, to, exclude_columns=("town",), hash_columns=("*email*",))
    joined = dovetail.open(to).join(str(lake / "people.csv"), "visits.csv", on=("Email", "visitor_email"))
    assert joined.table.column_names[:2] == ["id", "Email"]
    assert "town" not in joined.table.column_names
    assert joined.table.column("Email")[0].as_py().startswith("hash:")


def test_excluded_columns_are_not_in_joins_and_previews(lake: Path, to: Path) -> None:
    index(lake, to, exclude_columns=("*email*",))
    opened = dovetail.open(to)
    assert opened.join("people.csv", "towns.csv").table.column_names == ["id", "town", "size"]
    assert opened.table("people.csv").to_arrow().slice(0, 2).to_pylist() == [
        {"id": 0, "town": "Town 0"}, {"id": 1, "town": "Town 1"},
    ]  # fmt: skip
    with pytest.raises(InputError, match="has no column"):
        opened.join("people.csv", "towns.csv", on=("Email", "town"))


def test_keys_that_are_missing_short_or_others_are_refused_in_a_sentence(lake: Path, to: Path, monkeypatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(InputError, match=r"need a key: set DOVETAIL_HASH_KEY or DOVETAIL_HASH_KEY_FILE\."):
        index(lake, to, hash_columns=("email",))
    monkeypatch.setenv(KEY_VARIABLE, "short")
    with pytest.raises(InputError, match="has 5 bytes; it must have at least 16"):
        index(lake, to, hash_columns=("email",))
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    index(lake, to, hash_columns=("email",))
    monkeypatch.setenv(KEY_VARIABLE, KEY[::-1])
    for attempt in (lambda: index(lake, to), lambda: dovetail.open(to)):
        with pytest.raises(InputError, match="is not the one that the hashed columns of this index were made with"):
            attempt()
    assert KEY not in "".join(path.read_text("latin-1") for path in to.rglob("*") if path.is_file())


def test_a_file_may_have_the_key(lake: Path, to: Path, tmp_path: Path, monkeypatch) -> None:
    index(lake, to, hash_columns=("email",))
    monkeypatch.delenv(KEY_VARIABLE)
    (tmp_path / "key").write_text(KEY + "\n")
    monkeypatch.setenv(KEY_FILE_VARIABLE, str(tmp_path / "key"))
    assert dovetail.open(to).find("person1@secret.org")
    monkeypatch.setenv(KEY_FILE_VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        dovetail.open(to)


def test_a_rule_without_a_column_is_refused(lake: Path, to: Path) -> None:
    with pytest.raises(InputError, match="names no column"):
        index(lake, to, exclude_columns=("people.csv:",))


def test_no_declared_key_names_a_column_that_is_left_out(tmp_path: Path, to: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.sqlite")) as database:
        database.executescript("CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT UNIQUE)")
        database.executemany("INSERT INTO people VALUES (?, ?)", [(n, f"p{n}@x.org") for n in range(9)])
        database.commit()
    with without_spark():
        index(tmp_path / "shop.sqlite", to, exclude_columns=("email",))
    [table] = dovetail.open(to).tables()
    columns = dovetail.open(to).table(table.table).columns
    assert [(column.name, column.declared.to_json()) for column in columns] == [("id", {"primary": ["id"]})]
