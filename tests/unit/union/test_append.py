"""Tables are appended under my columns, as my kind of frame."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail
from dovetail.errors import InputError

JANUARY = {
    "day": ["2024-01-01", "2024-01-02", "2024-01-03"],
    "station": ["Zürich", "Bern", "Basel"],
    "temperature": [1.5, 2.0, -3.5],
    "visitors": [10, 20, 30],
}
FEBRUARY = {
    "Station": ["Bern", "Zürich", "Basel", "Genf"],
    "visitors": [12, 19, 33, 8],
    "day": ["2024-02-01", "2024-02-02", "2024-02-03", "2024-02-04"],
    "note": ["closed at noon", "", "snow", "fog"],
}


def frames():
    return [pd.DataFrame(JANUARY), pl.DataFrame(JANUARY), pa.table(JANUARY)]


@pytest.mark.parametrize("mine", frames(), ids=["pandas", "polars", "arrow"])
def test_the_same_kind_of_frame_comes_back(mine):
    appended = dovetail.union(mine, pd.DataFrame(FEBRUARY))
    assert type(appended.frame) is type(mine)
    table = (
        pa.table(appended.frame)
        if not isinstance(appended.frame, pd.DataFrame)
        else pa.Table.from_pandas(appended.frame)
    )
    assert table.column_names == [*JANUARY, "origin"]
    assert table["station"].to_pylist() == [*JANUARY["station"], *FEBRUARY["Station"]]
    assert table["visitors"].to_pylist() == [*JANUARY["visitors"], *FEBRUARY["visitors"]]
    assert table["temperature"].to_pylist() == [*JANUARY["temperature"], *[None] * 4]
    assert table["origin"].to_pylist() == ["table_1"] * 3 + ["table_2"] * 4


def test_other_columns_are_kept_if_asked_for():
    appended = dovetail.union(JANUARY, FEBRUARY, {**FEBRUARY, "note": ["a", "b", "c", "d"]}, all_columns=True)
    assert appended.table.column_names == [*JANUARY, "note", "origin"]
    assert appended.table["note"].to_pylist() == [None] * 3 + FEBRUARY["note"] + ["a", "b", "c", "d"]


def test_a_column_called_origin_stays():
    appended = dovetail.union({**JANUARY, "origin": ["a", "b", "c"]}, JANUARY)
    assert appended.table.column_names == [*JANUARY, "origin", "origin_2"]
    assert appended.table["origin_2"].to_pylist() == ["table_1"] * 3 + ["table_2"] * 3


def test_types_give_way_where_values_do_not_fit():
    mine = pa.table({"code": [1, 2, 3], "name": ["one", "two", "three"]})
    appended = dovetail.union(mine, {"code": ["4", "5b", "6"], "name": ["four", "five", "two"]})
    assert appended.frame["code"].to_pylist() == ["1", "2", "3", "4", "5b", "6"]
    halves = dovetail.union(mine, {"code": [1.5, 2.5, 3.0], "name": ["one", "five", "two"]})
    assert halves.frame["code"].to_pylist() == [1.0, 2.0, 3.0, 1.5, 2.5, 3.0]


def test_the_report_names_every_column():
    (part,) = dovetail.union(JANUARY, FEBRUARY).report["appended"]
    pairs = {(pair["mine"], pair["theirs"]) for pair in part["columns"]}
    assert pairs == {("day", "day"), ("station", "Station"), ("visitors", "visitors")}
    assert (part["only_mine"], part["only_theirs"]) == (["temperature"], ["note"])


def test_nothing_to_append():
    with pytest.raises(InputError, match="at least two tables"):
        dovetail.union(JANUARY)
    with pytest.raises(InputError, match="No column of table_2 corresponds to a column of table_1"):
        dovetail.union({"a": ["x", "y"]}, {"flag": [True, False]})
