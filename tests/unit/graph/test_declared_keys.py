"""Keys that a database declares come first in every answer, with what its rows say against them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest

import dovetail
from dovetail.indexes.verify import verify_index
from support.command import dovetail as command
from support.pipeline import without_spark

SCRIPT = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, mail TEXT UNIQUE);
    CREATE TABLE staff (nr INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer INTEGER REFERENCES customers, clerk INTEGER REFERENCES staff);
    CREATE TABLE lines (doc INTEGER REFERENCES orders, line INTEGER, PRIMARY KEY (doc, line));
    CREATE TABLE notes (doc INTEGER, line INTEGER, note TEXT, FOREIGN KEY (doc, line) REFERENCES lines);
    CREATE TABLE empty (buyer INTEGER REFERENCES customers);
"""
SHOP = "shop.sqlite::"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("declared")
    (folder / "lake").mkdir()
    with closing(sqlite3.connect(folder / "lake" / "shop.sqlite")) as shop:
        shop.executescript(SCRIPT)
        shop.executemany("INSERT INTO customers VALUES (?, ?)", [(i, f"m{i}@x.org") for i in range(1, 41)])
        shop.executemany("INSERT INTO staff VALUES (?, ?)", [(i, f"Name {i}") for i in range(1, 41)])
        shop.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(500 + i, i % 45 + 1, i % 40 + 1) for i in range(90)])
        shop.executemany("INSERT INTO lines VALUES (?, ?)", [(500 + i, n) for i in range(90) for n in (1, 2)])
        shop.executemany("INSERT INTO notes VALUES (?, ?, ?)", [(500 + i, 2, f"note {i}") for i in range(0, 90, 9)])
        shop.commit()
    with without_spark():
        dovetail.index(folder / "lake", folder / "idx")
    return folder


@pytest.fixture
def lake(made, tmp_path):
    return dovetail.open(shutil.copytree(made / "idx", tmp_path / "idx"))


def test_columns(made, lake):
    table = lake.table(f"{SHOP}orders")
    assert table.declared.primary == ("id",)
    assert table.column("buyer").to_dict()["declared"] == {
        "primary": [], "unique": [],
        "foreign": [{"columns": ["buyer"], "table": f"{SHOP}customers", "referenced": ["id"]}],
    }  # fmt: skip
    assert lake.table(f"{SHOP}notes").column("note").to_dict()["declared"] is None
    shown = command("columns", made / "idx", f"{SHOP}lines").out
    assert f"primary key of doc, line; → {SHOP}orders (id)" in shown
    assert "unique" in command("columns", made / "idx", f"{SHOP}customers").out.splitlines()[-1]


def test_foreign_keys_come_first_with_what_the_data_says_against_them(lake):
    rows = [row for row in lake.foreign_keys(0).to_dicts() if row["declared"]]
    assert rows == lake.foreign_keys(0).to_dicts()[: len(rows)]
    said = {(*row["dependent_columns"], row["referenced_table"]): row for row in rows if row["containment"]}
    assert set(said) == {
        ("buyer", f"{SHOP}customers"), ("clerk", f"{SHOP}staff"), ("doc", f"{SHOP}orders"),
        ("doc", "line", f"{SHOP}lines"),
    }  # fmt: skip
    assert all(row["score"] == 1 and row["reasons"][0] == "declared in the database" for row in rows)
    assert all(row["decided"] is None for row in rows)
    assert said["buyer", f"{SHOP}customers"]["reasons"][1:] == [
        "40 of 45 values occur among its 40", "but 5 of 45 refer to nothing",
    ]  # fmt: skip
    assert len(said["clerk", f"{SHOP}staff"]["reasons"]) == 2


def test_a_declared_column_refers_to_nothing_else_in_its_database(lake):
    """By their values, clerk could as well refer to customers, and each key to the other."""
    targets = [
        row["referenced_table"] for row in lake.foreign_keys(0).to_dicts() if row["dependent_columns"] == ["clerk"]
    ]
    assert targets == [f"{SHOP}staff"]


def test_candidate_keys(lake):
    found = {(row["table"], *row["columns"]): row for row in lake.keys().to_dicts()}
    assert found[f"{SHOP}lines", "doc", "line"]["score"] == 1
    assert found[f"{SHOP}lines", "doc", "line"]["reasons"][0] == "declared as the primary key"
    assert found[f"{SHOP}customers", "mail"]["reasons"][0] == "declared unique"
    assert {row["score"] for row in lake.keys().to_dicts()[:4]} == {1.0}


def test_search_from_both_sides(lake):
    hits = lake.search(f"{SHOP}orders")
    first = [(hit.table, hit.on, hit.columns) for hit in hits if hit.declared]
    assert (f"{SHOP}lines", ("id",), ("doc",)) == first[0]
    assert {table for table, *_ in first} == {f"{SHOP}lines", f"{SHOP}customers", f"{SHOP}staff"}
    customers = next(hit for hit in hits if hit.table == f"{SHOP}customers")
    assert (customers.probability, customers.decided, customers.reasons) == (1.0, None, ("declared in the database",))
    assert customers.objections == (f"5 of 45 values of your buyer do not occur in id of {SHOP}customers",)
    assert customers.to_dict()["declared"] is True
    assert "declared in the database: these columns join. But 5 of 45" in customers.explain()
    back = next(hit for hit in lake.search(f"{SHOP}customers") if hit.table == f"{SHOP}orders")
    assert back.objections == (f"5 of 45 values of buyer of {SHOP}orders do not occur in your id",)


def test_join(lake):
    joined = lake.join(f"{SHOP}orders", f"{SHOP}staff")
    assert (joined.columns, joined.probability, joined.declared) == ((("clerk",), ("nr",)), 1.0, True)
    assert joined.why == "Declared in the database: these columns join."
    assert lake.join(f"{SHOP}notes", f"{SHOP}lines").columns == (("doc", "line"), ("doc", "line"))
    lost = lake.join(f"{SHOP}customers", f"{SHOP}orders")
    assert lost.why.endswith(f"But 10 of 90 rows of {SHOP}orders refer to nothing.")
    first = lake.predicates(f"{SHOP}orders", f"{SHOP}staff").predicates[0]
    assert (str(first), first.to_dict()["declared"]) == ("clerk = nr (declared)", True)


def test_paths(lake):
    path = lake.paths(f"{SHOP}notes", f"{SHOP}customers")[0]
    assert path.tables == [f"{SHOP}{name}" for name in ("notes", "lines", "orders", "customers")]
    assert path.score == 1
    assert all(step.to_dict()["declared"] for step in path.steps)
    assert path.steps[0].notes[0].startswith("declared in the database: ")


def test_the_word_of_a_person_is_the_last(lake):
    lake.decide(f"{SHOP}orders", f"{SHOP}customers", "buyer=id", "never")
    assert not any(row["dependent_columns"] == ["buyer"] and row["referenced_table"] == f"{SHOP}customers"
                   for row in lake.foreign_keys(0).to_dicts() if row["dependent_table"] == f"{SHOP}orders")  # fmt: skip
    assert not any(hit.on == ("buyer",) and hit.table == f"{SHOP}customers" for hit in lake.search(f"{SHOP}orders"))
    made = lake.decide(f"{SHOP}orders", f"{SHOP}staff", "clerk=nr", "joins")
    first = lake.search(f"{SHOP}orders")[0]
    assert (first.table, first.decided, first.declared) == (f"{SHOP}staff", made.decided, False)
    assert [each.verdict for each in lake.decisions()] == ["joins", "never"], "declared keys are no decisions"


def test_they_survive_compaction_and_go_with_their_table(made, tmp_path):
    to = shutil.copytree(made / "idx", tmp_path / "idx")
    with without_spark():
        dovetail.remove(to, f"{SHOP}staff")
        dovetail.compact(to)
    lake = dovetail.open(to)
    assert lake.table(f"{SHOP}orders").declared.foreign[1].table == f"{SHOP}staff"
    found = {row["referenced_table"] for row in lake.foreign_keys(0).to_dicts() if row["declared"]}
    assert f"{SHOP}staff" not in found
    assert f"{SHOP}customers" in found
    assert not verify_index(to).problems


def test_segments_without_declared_keys_have_no_such_array(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.csv").write_text("id,x\n1,2\n")
    with without_spark():
        dovetail.index(tmp_path / "lake", tmp_path / "idx")
    (segment,) = dovetail.open(tmp_path / "idx").segments
    assert "declared" not in segment.segment.pack("catalog").names()
    assert segment.catalog.declared == {}
