"""Search on several columns together equals brute force over all mappings, whatever the segments and their history."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.papers import mate
from dovetail.pipeline.maintain import remove_tables
from dovetail.settings import Settings
from dovetail.tables.input_table import open_table
from support.contents import contents_of
from support.pipeline import index, without_spark

cells = st.sampled_from(["a", "b", "c", "Ä", "жук", "北京", "1", "2", "", "N/A"])
rows = st.integers(2, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), max_size=10))
lakes = st.lists(rows, min_size=1, max_size=6)
queries = st.integers(2, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=10))
XASH = Settings(segment_mb=1, slice_mb=1, memory_mb=1, super_key_xash=1, super_key_bits=256)


def write_lake(folder: Path, tables: list[list[tuple[str, ...]]]) -> Path:
    lake = folder / "lake"
    lake.mkdir()
    for number, rows in enumerate(tables):
        header = ",".join(f"c{place}" for place in range(len(rows[0]) if rows else 2))
        lines = [header, *(",".join(f'"{cell}"' for cell in row) for row in rows)]
        (lake / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lake


def mine_of(data: dict[str, list[str]], lake: Lake) -> set[tuple[str, ...]]:
    """My distinct tuples of tokens; those with a null are none."""
    columns = open_table(data, segments=lake.segments).columns
    tokens = [[*column.tokens.to_pylist(), None] for column in columns]
    cells = [[names[code] for code in column.codes()] for names, column in zip(tokens, columns, strict=True)]
    return {row for row in zip(*cells, strict=True) if None not in row}


def brute_force(lake: Lake, mine: set[tuple[str, ...]], width: int) -> list[tuple[str, tuple[str, ...], int]]:
    found = []
    for table, content in contents_of(lake).items():
        names = [column.column for column in content["columns"]]
        best = (0, ())
        for mapping in itertools.permutations(range(len(names)), width):
            theirs = set(zip(*(content["rows"][place] for place in mapping), strict=True))
            if len(mine & theirs) > best[0]:
                best = (len(mine & theirs), mapping)
        if best[0]:
            found.append((-best[0], table, tuple(names[place] for place in best[1])))
    return [(table, columns, -overlap) for overlap, table, columns in sorted(found)]


def answers(hits) -> list[tuple[str, tuple[str, ...], int]]:
    """In the order of the truth: hits themselves come by rows per match where they share as many tuples."""
    assert [hit.order for hit in hits] == sorted(hit.order for hit in hits)
    found = [(hit.table, hit.columns, hit.overlap) for hit in hits]
    return sorted(found, key=lambda hit: (-hit[2], hit[0]))


@settings(max_examples=20)
@given(tables=lakes, query=queries, k=st.integers(1, 6), share=st.sampled_from(["0.1", "0.5", "1"]))
@pytest.mark.parametrize(
    ("megabyte", "options"),
    [(1_000_000, {}), (30, {}), (30, {"settings": XASH})],
    ids=["one segment", "many segments", "many segments by XASH"],
)
def test_equals_brute_force_and_the_join_keeps_the_promise(
    tmp_path_factory, tables, query, k, share, megabyte, options
):
    folder = tmp_path_factory.mktemp("keys")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx", **options)
        remove_tables(folder / "idx", ["t3.csv"])
    lake = Lake(folder / "idx")
    on = [f"k{place}" for place in range(len(query[0]))]
    data = {name: [row[place] for row in query] for place, name in enumerate(on)}
    mine = mine_of(data, lake)
    if not mine:
        with pytest.raises(InputError, match="No row of query has a value in all of"):
            lake.search(data, on=on)
        return
    truth = brute_force(lake, mine, len(on))
    hits = lake.search(data, on=on, k=k, copies=True)
    assert hits.exact
    assert answers(hits) == truth[:k]
    assert mate.top_k(lake, data, k, start=on[-1]).matches == truth[:k]
    contained = [hit for hit in truth if Fraction(hit[2], len(mine)) >= Fraction(share)]
    assert answers(lake.search(data, on=on, threshold=share)) == contained
    assert answers(lake.search(data, on=on, min_overlap=2, copies=True)) == [hit for hit in truth if hit[2] >= 2][:10]
    for hit in hits:
        assert hit.query_size == len(mine)
        pairs = list(zip(hit.on, hit.columns, strict=True))
        inner = lake.join(data, hit.table, on=pairs, how="inner")
        assert inner.table.num_rows == hit.joined_rows
        assert (inner.matched_left, inner.matched_right) == (hit.matched_rows, hit.matched_table_rows)
