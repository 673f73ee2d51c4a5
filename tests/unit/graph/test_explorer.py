"""The join graph as one HTML file, and as diagrams."""

from __future__ import annotations

import json
import re

import pytest

from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.graph.diagrams import dbml, mermaid
from dovetail.graph.explorer import explorer_page
from dovetail.graph.join_graph import JoinGraph
from dovetail.graph.join_paths import JoinEdge
from support.decided_lake import make_index

HOSTILE = '</script><script>alert("x")</script>'
EDGES = [
    JoinEdge("a/orders.csv", ("customer",), "a/customers.csv", ("id",), 0.9, 1.0, (False,)),
    JoinEdge("b/orders.csv", ("year", "team"), 'te"ams\n.csv', ("year", "team"), 0.8, 1.0, (False, False)),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return Lake(make_index(tmp_path_factory.mktemp("explored"))).graph()


def data_of(page):
    return json.loads(re.search(r'<script id="graph" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_has_all_edges_with_their_reasons(graph):
    data = data_of(graph.to_html())
    keys = {
        (data["tables"][e["from"]], e["columns"], data["tables"][e["to"]], e["other_columns"]) for e in data["edges"]
    }
    assert keys == {(e.table, ", ".join(e.columns), e.other, ", ".join(e.other_columns)) for e in graph.edges} != set()
    assert all(data["phrases"][reason] for edge in data["edges"] for reason in edge["reasons"])
    assert [[data["tables"][n] for n in part] for part in data["components"]] == graph.components()


def test_inclusion_dependencies_as_edges(tmp_path_factory):
    lake = Lake(make_index(tmp_path_factory.mktemp("dependencies")))
    graph = lake.graph(edges="inds")
    ends = ("dependent", "referenced")
    found = {tuple(part for end in ends for part in (each[f"{end}_table"], *each[f"{end}_columns"]))
             for each in lake.inds().to_dicts()}  # fmt: skip
    assert {(e.table, *e.columns, e.other, *e.other_columns) for e in graph.edges} == found != set()
    data = data_of(graph.to_html())
    assert data["noun"] == "inclusion dependency" and data["note"] == "" and len(data["edges"]) == len(found)
    assert all("occur" in data["phrases"][reason] for edge in data["edges"] for reason in edge["reasons"])
    with pytest.raises(InputError, match="must be one of keys, inds"):
        lake.graph(edges="columns")
    with pytest.raises(InputError, match="min_score"):
        lake.graph(0.5, edges="inds")


def test_the_page_loads_nothing_and_names_stay_text(graph):
    page = explorer_page({**graph.explorer(), "tables": [HOSTILE]}, HOSTILE)
    assert "default-src 'none'" in page and not re.search(r'(src|href)="(?!#)', page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page
    assert HOSTILE not in page and data_of(page)["tables"] == [HOSTILE]


def test_only_a_graph_of_a_lake_can_be_explored():
    with pytest.raises(InputError, match="reasons"):
        JoinGraph(["a"], []).to_html()


def test_files_by_suffix(graph, tmp_path):
    for suffix, word in ((".html", "dovetailExplorer"), (".mmd", "erDiagram"), (".dbml", "Ref: ")):
        graph.write(tmp_path / f"graph{suffix}")
        assert word in (tmp_path / f"graph{suffix}").read_text(encoding="utf-8")


def test_a_notebook_shows_the_picture(graph):
    assert "<iframe srcdoc=" in graph._repr_html_()


def test_mermaid():
    lines = mermaid(EDGES).splitlines()
    assert lines[0] == "erDiagram" and '    a_orders_csv["a/orders.csv"] {' in lines
    assert '    a_orders_csv }o--|| a_customers_csv : "customer → id"' in lines
    assert """    te_ams_csv["te'ams .csv"] {""" in lines
    assert all(line.count('"') % 2 == 0 for line in lines)


def test_dbml():
    text = dbml(EDGES)
    assert 'Ref: "a/orders.csv"."customer" > "a/customers.csv"."id"' in text
    assert """Ref: "b/orders.csv".("year", "team") > "te'ams .csv".("year", "team")""" in text
    assert 'Table "a/customers.csv" {\n  "id" varchar\n}' in text
