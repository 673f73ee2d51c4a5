"""The join graph: components, hubs, paths that a database can run, and files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import duckdb
import pyarrow.parquet
import pytest

from dovetail.errors import InputError
from dovetail.graph.join_graph import JoinGraph
from dovetail.graph.join_paths import JoinEdge


def edge(table: str, other: str, score: float = 0.9, column: str = "code") -> JoinEdge:
    return JoinEdge(table, (column,), other, (column,), score, 1.0, (False,))


def test_a_hub_of_country_codes_is_one_hub():
    """Sixty tables that all refer to each other, and some edges of something else."""
    tables = [f"t{n}" for n in range(60)]
    edges = [edge(one, other) for one in tables for other in tables if one != other] + [edge("a", "b", column="x")]
    graph = JoinGraph([*tables, "a", "b", "alone"], edges)
    hubs = graph.hubs()
    assert [(hub.column, hub.columns, hub.tables, hub.edges) for hub in hubs] == [
        ("code", 60, 60, 3540),
        ("x", 2, 2, 1),
    ]
    assert [len(part) for part in graph.components()] == [60, 2]


def test_the_path_of_a_shop_runs(shop):
    graph = shop.graph()
    (path, *_) = graph.paths("orders.csv", "countries.csv")
    assert path.tables == ["orders.csv", "customers.csv", "countries.csv"]
    with duckdb.connect() as database:
        for name in path.tables:
            source = next(s.catalog.table(n).path for s in shop.segments for n, t in enumerate(s.names) if t == name)
            database.execute(f"CREATE TABLE \"{name}\" AS FROM read_csv('{source}')")
        assert len(database.execute(path.sql()).fetchall()) == 30


def test_paths_are_best_first_and_no_longer_than_asked():
    edges = [edge("a", "b", 0.9), edge("b", "c", 0.9), edge("a", "c", 0.5), edge("a", "d"), edge("c", "d", 0.6)]
    graph = JoinGraph("abcd", edges)
    assert [path.tables for path in graph.paths("a", "c", hops=2)] == [["a", "b", "c"], ["a", "c"], ["a", "d", "c"]]
    assert [path.tables for path in graph.paths("a", "c", hops=1)] == [["a", "c"]]
    assert [path.tables for path in graph.paths("a", "c", k=1)] == [["a", "b", "c"]]
    assert graph.paths("a", "d")[-1].to_dict()["joins"][0]["cardinality"] in ("N:1", "1:N")


def test_an_edge_each_way_is_one_join():
    graph = JoinGraph("ab", [edge("a", "b", 0.8), edge("b", "a", 0.7)])
    (path,) = graph.paths("a", "b")
    assert (path.score, path.steps[0].forward) == (0.8, True)


def test_from_a_table_to_itself(shop):
    with pytest.raises(InputError, match="two different tables"):
        shop.graph().paths("orders.csv", "orders.csv")


def test_names_that_sql_and_xml_must_quote(tmp_path):
    graph = JoinGraph(['a"b.csv', "<c>&.csv"], [edge('a"b.csv', "<c>&.csv", column='x"\x01')])
    (path,) = graph.paths('a"b.csv', "<c>&.csv")
    assert path.sql().startswith('SELECT * FROM "a""b.csv" AS t0\nJOIN "<c>&.csv" AS t1 ON t0."x""')
    graph.write(tmp_path / "g.graphml")
    root = ElementTree.parse(tmp_path / "g.graphml").getroot()
    names = [node.get("id") for node in root.iter("{http://graphml.graphdrawing.org/xmlns}node")]
    assert names == ["<c>&.csv", 'a"b.csv']


def test_files(shop, tmp_path):
    graph = shop.graph()
    graph.write(tmp_path / "g.json")
    written = json.loads((tmp_path / "g.json").read_text())
    assert written["tables"] == ["countries.csv", "customers.csv", "notes.csv", "orders.csv"]
    graph.write(tmp_path / "g.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "g.parquet").to_pylist() == written["edges"]
    assert len(written["edges"]) == len(graph.edges) >= 2
    with pytest.raises(InputError, match=r"use .graphml, .json, .parquet"):
        graph.write(tmp_path / "g.xml")


def test_networkx_if_it_is_there(shop, monkeypatch):
    try:
        found = shop.graph().to_networkx()
    except InputError as error:
        assert "pip install networkx" in str(error)
    else:
        assert found.number_of_nodes() == 4
