"""Kinds of join, their report, and the SQL that does the same."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail
from dovetail.errors import InputError, UnknownName
from dovetail.join.request import KINDS

PEOPLE = """ID,Tel.,Name,Home,Clerk
P1,001,Alice,Main St.,Steve
P2,002,Alice,Royal Rd.,Steve
P3,003,Bob,Robson St.,Ada
P4,004,Lucy,Univ Dr.,Steve
P5,005,Steve,Main St.,Steve
P6,006,Tom,Beta Ave.,Steve
"""
ORDERS = """ID,Client,Address,Tel.,Date,Manager
O1,Alice,Main St.,001,Apr 1,Steve
O2,Bob,Royal Rd.,010,Apr 1,Alice
O3,Bob,Robson St.,003,Apr 2,Steve
O4,Alice,Main St.,001,Apr 3,Steve
O5,Tom,Beta Ave.,006,Apr 4,Steve
O6,Peter,Main St.,011,Apr 5,Alice
"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("people.csv", PEOPLE), ("orders.csv", ORDERS)):
        (tmp_path / name).write_text(text)
    return tmp_path / "people.csv", tmp_path / "orders.csv"


@pytest.mark.parametrize(
    ("prefer", "columns", "score"),
    [
        ("coverage", ["Home"], 11),
        ("groups", ["Home"], 4),
        ("compact", ["Name", "Home"], 3),
        ("balance", ["Name", "Home"], 1.5),
        ("strength", ["Home"], 0.733333333),
    ],
)
def test_the_example_of_the_paper(files, prefer, columns, score):
    found = dovetail.predicates(*files, prefer=prefer, k=2)
    assert [pair.left for pair in found[0].pairs] == columns
    assert found[0].score == score
    assert found.complete


def expected(left, right, how):
    """By nested loops; `left` and `right` are lists of keys."""
    pairs = [(i, k) for i, a in enumerate(left) for k, b in enumerate(right) if a is not None and a == b]
    matched = {i for i, _ in pairs}, {k for _, k in pairs}
    if how in ("semi", "anti"):
        return [(i, None) for i in range(len(left)) if (i in matched[0]) == (how == "semi")]
    if how in ("left", "outer"):
        pairs += [(i, None) for i in range(len(left)) if i not in matched[0]]
    pairs.sort(key=lambda pair: (pair[0], -1 if pair[1] is None else pair[1]))
    if how in ("right", "outer"):
        pairs += [(None, k) for k in range(len(right)) if k not in matched[1]]
    return pairs


KEYS = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=6)


@given(KEYS, KEYS, st.sampled_from(KINDS))
def test_every_kind_equals_nested_loops(left, right, how):
    mine = {"key": pa.array(left, pa.string()), "row": pa.array([str(i) for i in range(len(left))], pa.string())}
    theirs = {"key": pa.array(right, pa.string()), "place": pa.array([str(k) for k in range(len(right))], pa.string())}
    joined = dovetail.join(pa.table(mine), pa.table(theirs), on="key", how=how)
    columns = joined.table.to_pydict()
    places = [None] * joined.rows if how in ("semi", "anti") else columns["place"]
    found = [
        (None if i is None else int(i), None if k is None else int(k))
        for i, k in zip(columns["row"], places, strict=True)
    ]
    assert found == expected(left, right, how)
    assert joined.matched_left == sum(key is not None and key in right for key in left)
    assert joined.matched_right == sum(key is not None and key in left for key in right)


MESSY = (
    ["1", "2.0", " 3", "NA", "", "5"], ["Bern", "ZÜRICH", " genève ", "NA", "", "Basel"],
    ["2024-01-02", "03.04.2024", "x", "", "NA", "y"], ["Ann  Lee", "Ann Lee", "bob", "BOB", "", "n/a"],
)  # fmt: skip


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_sql_gives_the_same_rows(tmp_path, how, suffix):
    """Run as it is printed, on keys that only the normaliser makes equal."""
    for number, (mine, theirs) in enumerate(zip(MESSY, (*MESSY[:2], MESSY[2], MESSY[1]), strict=True)):
        paths = []
        for name, keys in (("l", mine), ("r", [*theirs[::-1], theirs[0].upper(), "2"])):
            table = pa.table({"key": keys, "it's": [f'"{name}, {place}"' for place in range(len(keys))]})
            paths.append(tmp_path / f"{name}{number}{suffix}")
            if suffix == ".csv":
                table.to_pandas().to_csv(paths[-1], index=False)
            else:
                pyarrow.parquet.write_table(table, paths[-1])
        joined = dovetail.join(*paths, on="key", how=how)
        with duckdb.connect() as connection:
            said = connection.sql(joined.sql).to_arrow_table()
        assert said.column_names == joined.table.column_names
        assert said.to_pydict() == joined.table.to_pydict()


def test_the_sql_of_a_transformation(tmp_path):
    names = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Tony"]
    (tmp_path / "l.csv").write_text("name,n\n" + "".join(f"{name},{n}\n" for n, name in enumerate(names)))
    swapped = [" ".join(reversed(name.split())) for name in names[:5]]
    (tmp_path / "r.csv").write_text("who,x\n" + "".join(f"{name},y\n" for name in swapped))
    joined = dovetail.join(tmp_path / "l.csv", tmp_path / "r.csv", how="left", by="transform")
    assert (joined.by, joined.rows) == ("transform", 6)
    with duckdb.connect() as connection:
        assert connection.sql(joined.sql).to_arrow_table().to_pydict() == joined.table.to_pydict()


def test_sql_over_frames():
    left_table = pd.DataFrame({"id": ["1", "2"], "a": ["x", "y"]})
    right_table = pd.DataFrame({"id": ["2", "2"], "a": ["u", "v"]})
    joined = dovetail.join(left_table, right_table, on="id", how="outer")
    assert duckdb.sql(joined.sql).fetchall() == [tuple(row.values()) for row in joined.table.to_pylist()]
    assert joined.table.column_names == ["id", "a", "a_right"]


def test_the_kind_of_frame_stays(files):
    tables = [pd.read_csv(path) for path in files]
    assert isinstance(dovetail.join(*tables, on="Tel.").frame, pd.DataFrame)
    assert isinstance(dovetail.join(*map(pl.from_pandas, tables), on="Tel.", how="outer").frame, pl.DataFrame)
    assert isinstance(dovetail.join(*tables, tables[1]).frame, pd.DataFrame)


def test_which_way_and_why(files):
    given_ = dovetail.join(*files, on="Name=Client", how="left")
    assert (given_.by, given_.rows, given_.on) == ("equal", 9, (("Name", "Client"),))
    chosen = dovetail.join(*files, prefer="compact")
    assert (chosen.by, chosen.prefer, chosen.rows) == ("equal", "compact", 4)
    assert chosen.why == "These columns score best by compact: 3."
    towns = {"town_id": [f"T{number}" for number in range(20)], "people": list(range(100, 120))}
    streets = {"street": [f"S{number}" for number in range(60)], "town_id": [f"T{number % 20}" for number in range(60)]}
    key = dovetail.join(towns, streets)
    assert (key.by, key.on) == ("equal", (("town_id", "town_id"),))
    assert key.report["cardinality"] == "1:N"
    assert "all values of town_id on the right have a match" in key.why.lower()
    assert f"Likely right: {key.probability:.0%}." in key.why


def test_more_than_two_tables(tmp_path):
    tracks = {"track": ["t1", "t2", "t3", "t4"], "album": ["a1", "a1", "a2", "a9"]}
    albums = {"id": ["a1", "a2", "a3"], "artist": ["r2", "r1", "r2"]}
    artists = {"key": ["r1", "r2"], "name": ["Nina", "Miles"]}
    joined = dovetail.join(artists, tracks, albums)
    assert joined.order == (0, 2, 1)
    assert sorted(joined.table["track"].to_pylist()) == ["t1", "t2", "t3"]
    outer = dovetail.join(tracks, albums, artists, how="outer", prefer="groups")
    assert outer.rows == 5
    assert outer.table["name"].to_pylist() == ["Miles", "Miles", "Nina", None, "Miles"]
    with pytest.raises(InputError, match="A semi join takes two tables"):
        dovetail.join(tracks, albums, artists, how="semi")
    nothing = dovetail.join(tracks, albums, {"x": ["other"]})
    assert (nothing.rows, nothing.why) == (0, "No columns with equal values connect all tables.")


def test_mistakes_get_a_sentence(files):
    with pytest.raises(InputError, match="Name = Client would give 9 rows; `max_rows` is 8"):
        dovetail.join(*files, on="Name=Client", how="left", max_rows=8)
    with pytest.raises(UnknownName, match='no column "Client"'):
        dovetail.join(*files, on="Client")
    with pytest.raises(InputError, match="`prefer` is 'best'"):
        dovetail.predicates(*files, prefer="best")
    with pytest.raises(InputError, match="`how` is 'sideways'"):
        dovetail.join(*files, how="sideways")
    with pytest.raises(InputError, match="at least two tables"):
        dovetail.predicates(files[0])
