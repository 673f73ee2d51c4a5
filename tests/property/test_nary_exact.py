"""Dependencies of several columns equal brute force over rows, whatever the segments."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.graph import row_tuples
from support.pipeline import index, without_spark
from support.small_lake import write_lake

cells = st.sampled_from([*"abc", "zürich", ""])
tables = st.lists(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8), min_size=1, max_size=4)


def rows_of(lake: Lake) -> dict[str, list[tuple[str | None, ...]]]:
    found = {}
    for segment in lake.segments:
        for table, name in enumerate(segment.names):
            columns = []
            for column in segment.catalog.column_range(table):
                tokens = segment.tokens.tokens(segment.tokens.set_of(column)[0]).to_pylist()
                columns.append([tokens[code] if code >= 0 else None for code in segment.rows.codes(column)])
            found[name] = list(zip(*columns, strict=True))
    return found


def projected(rows, columns) -> list[tuple[str, ...]]:
    picked = (tuple(row[column] for column in columns) for row in rows)
    return [values for values in picked if None not in values]


def brute_force(lake: Lake, most: int, coverage: Fraction, non_unique: bool) -> set[tuple[object, ...]]:
    tables = rows_of(lake)

    def holds(table, ones, other, others) -> bool:
        mine, theirs = set(projected(tables[table], ones)), set(projected(tables[other], others))
        return bool(mine) and mine <= theirs

    found = set()
    for (table, rows), (other, their_rows) in itertools.product(tables.items(), repeat=2):
        for number in range(2, most + 1):
            for ones in itertools.combinations(range(len(rows[0]) if rows else 0), number):
                for others in itertools.permutations(range(len(their_rows[0]) if their_rows else 0), number):
                    if (table, ones) == (other, others):
                        continue
                    parts = (p for k in range(1, number + 1) for p in itertools.combinations(range(number), k))
                    if not all(holds(table, [ones[i] for i in p], other, [others[i] for i in p]) for p in parts):
                        continue
                    theirs = projected(their_rows, others)
                    covered = Fraction(len(set(projected(rows, ones))), len(set(theirs)))
                    if covered >= coverage and (non_unique or len(theirs) == len(set(theirs))):
                        found.add((table, ones, other, others))
    return found


@settings(max_examples=10)
@given(
    tables=tables, coverage=st.sampled_from([0, "0.2", 1]), non_unique=st.booleans(), room=st.sampled_from([1, 1 << 62])
)
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
def test_equals_brute_force(tmp_path_factory, megabyte, tables, coverage, non_unique, room):
    folder = tmp_path_factory.mktemp("nary")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx")
    lake = Lake(folder / "idx")
    place = {"one": 0, "two": 1, "three": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_tuples, "_ROOM", room)
        rows = lake.inds(nary=3, coverage=coverage, non_unique=non_unique, integers=True).to_dicts()
    found = [
        (
            row["dependent_table"], tuple(place[name] for name in row["dependent_columns"]),
            row["referenced_table"], tuple(place[name] for name in row["referenced_columns"]),
        )
        for row in rows
    ]  # fmt: skip
    assert len(found) == len(set(found))
    assert set(found) == brute_force(lake, 3, Fraction(coverage), non_unique)
