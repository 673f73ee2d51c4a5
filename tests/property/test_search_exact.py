"""Exact search equals brute force over sets of tokens, ties included, whatever the number of segments."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.normalise import normalise_value
from dovetail.search.ranking.rank import is_tried
from dovetail.tables.input_table import open_table
from support.contents import contents_of
from support.pipeline import index, without_spark

VALUES = [*"abcdefghij", "Ä", "zürich", "new york", "1", "2", "30"]
cells = st.sampled_from([*VALUES, "", "N/A"])
tables = st.lists(st.lists(st.tuples(cells, cells), max_size=12), min_size=1, max_size=6)
queries = st.lists(st.sampled_from([*VALUES, "A ", "NEW  YORK", "never", ""]), min_size=1, max_size=15)


def write_lake(folder: Path, tables: list[list[tuple[str, str]]]) -> Path:
    lake = folder / "lake"
    lake.mkdir()
    for number, rows in enumerate(tables):
        lines = ["left col,right col", *(f'"{a}","{b}"' for a, b in rows)]
        (lake / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lake


def brute_force(lake: Lake, query: set[str]) -> list[tuple[str, str, int]]:
    found = []
    for table, content in contents_of(lake).items():
        for place, (column, tokens) in enumerate(zip(content["columns"], content["sets"], strict=True)):
            overlap = len(query & set(tokens))
            if overlap:
                found.append((-overlap, table, place, column.column))
    return [(table, column, -overlap) for overlap, table, _, column in sorted(found)]


def answers(hits) -> list[tuple[str, str, int]]:
    """In the order of the truth: hits themselves come by rows per match where they share as many values."""
    assert [hit.order for hit in hits] == sorted(hit.order for hit in hits)
    found = [(hit.table, hit.columns[0], hit.overlap) for hit in hits]
    return sorted(found, key=lambda hit: (-hit[2], hit[0], hit[1]))


@settings(max_examples=25)
@given(tables=tables, query=queries, k=st.integers(1, 8), share=st.sampled_from(["0.1", "0.5", "0.7", "1"]))
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
def test_equals_brute_force(tmp_path_factory, tables, query, k, share, megabyte):
    folder = tmp_path_factory.mktemp("search")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx")
    lake = Lake(folder / "idx")
    column = open_table(query, segments=lake.segments).columns[0]
    tokens = set(column.tokens.to_pylist())
    if not tokens:
        return
    assert tokens == {normalise_value(value, column.type) for value in query} - {None}
    truth = brute_force(lake, tokens)
    every = lake.search(query, on="values", k=len(truth) + 1, copies=True)
    assert answers(every) == truth
    best = lake.search(query, on="values", k=k, copies=True)
    assert [(hit.table, hit.columns) for hit in best] == [(hit.table, hit.columns) for hit in every[:k]]
    contained = [hit for hit in truth if Fraction(hit[2], len(tokens)) >= Fraction(share)]
    assert answers(lake.search(query, on="values", threshold=share)) == contained
    folded = lake.search(query, on="values", threshold=share, copies=False)
    opened = [(table, hit.columns[0]) for hit in folded for table in (hit.table, *hit.copies)]
    assert sorted(opened) == sorted((table, column) for table, column, _ in contained), "near-copies are not lost"
    if is_tried(column):
        by_table = lake.search({"values": query}, threshold=share)
        assert sorted(hit.table for hit in by_table) == sorted({table for table, _, _ in contained})


@settings(max_examples=15)
@given(tables=tables, mine=st.lists(st.tuples(cells, cells), min_size=1, max_size=12))
def test_the_join_has_the_rows_that_search_promised(tmp_path_factory, tables, mine):
    folder = tmp_path_factory.mktemp("join")
    with without_spark():
        index(write_lake(folder, tables), folder / "idx")
    lake = Lake(folder / "idx")
    data = {"key": [a for a, _ in mine], "other": [b for _, b in mine]}
    column = open_table(data, segments=lake.segments).columns[0]
    for hit in lake.search(data, on="key", k=20, copies=True) if column.size else []:
        inner = lake.join(data, hit.table, on=("key", hit.columns[0]), how="inner")
        assert inner.table.num_rows == hit.joined_rows
        assert (inner.matched_left, inner.matched_right) == (hit.matched_rows, hit.matched_table_rows)
        left = lake.join(data, hit.table, on=("key", hit.columns[0]), how="left")
        assert left.table.num_rows == hit.joined_rows + len(mine) - hit.matched_rows
        assert left.table["key"].to_pylist()[0] == (mine[0][0])
