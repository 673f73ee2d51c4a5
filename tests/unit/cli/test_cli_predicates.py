"""`dovetail predicates`, and `dovetail join` of files on equal values."""

from __future__ import annotations

import pyarrow.parquet
import pytest

from support.command import dovetail


@pytest.fixture
def files(tmp_path):
    tables = {
        "people": "id,name,flag\n1,Ann,y\n2,Bob,n\n3,Cid,y\n",
        "orders": "no,client,flag\n7,1,y\n8,1,y\n9,3,n\n",
        "items": "order,what\n7,tea\n9,rum\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return [tmp_path / f"{name}.csv" for name in tables]


def test_predicates(files):
    said = dovetail("predicates", *files[:2], "--prefer", "groups", "-k", "2")
    assert said.code == 0
    assert [line.split() for line in said.out.splitlines()] == [
        ["groups", "joined", "rows", "predicate"],
        ["2", "5", "flag", "=", "flag"],
        ["2", "3", "id", "=", "client"],
    ]
    found = dovetail("predicates", *files[:2], "--prefer", "key", "--json").json
    assert found["predicates"][0]["pairs"] == [{"left": "id", "right": "client", "left_table": 0, "right_table": 1}]
    assert (found["predicates"][0]["joined_rows"], found["prefer"], found["complete"]) == (3, "key", True)
    likely = dovetail("predicates", *files[:2], "--json").json
    assert likely["prefer"] == "probability"
    assert all(0 <= each["score"] <= 1 for each in likely["predicates"])


def test_nothing_to_join_on(files, tmp_path):
    (tmp_path / "other.csv").write_text("x\nq\n")
    said = dovetail("predicates", files[0], tmp_path / "other.csv")
    assert (said.code, said.out) == (1, "Nothing joins. No columns with equal values connect the tables.\n")


def test_three_tables(files, tmp_path):
    said = dovetail("join", *files, "-o", tmp_path / "out.parquet", "--how", "outer", "--json").json
    assert (said["by"], said["rows"], len(said["steps"])) == ("equal", 4, 2)
    assert [step["on"] for step in said["steps"]] == [
        [{"left": "id", "right": "client"}],
        [{"left": "no", "right": "order"}],
    ]
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["what"].to_pylist() == ["tea", None, None, "rum"]
    assert "orders.no = items.order" in dovetail("predicates", *files).out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--on", "id"], "More than two tables are joined on columns that Dovetail finds; drop `on` and `by`."),
    ],
)
def test_options_that_do_not_fit_three(files, options, sentence):
    said = dovetail("join", *files, *options)
    assert (said.code, said.err.strip()) == (2, sentence)


def test_the_report(files):
    said = dovetail("join", *files[:2], "--on", "id=client", "--how", "left", "--json").json
    assert (said["by"], said["rows"], said["on"]) == ("equal", 4, [{"left": "id", "right": "client"}])
    assert (said["matched_left"], said["unmatched_left"], said["cardinality"]) == (2, 1, "1:N")
    assert (said["unmatched_left_sample"], said["repeated_left"]) == (["2"], 1)
    assert said["sql"].startswith("WITH l AS (")
