"""Frames go into Arrow and come back as what they were."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.tables.frames import like, to_arrow, typed

ROWS = pa.array([1, None, 0, 1])
OTHERS = pa.table({"there": ["a", "b", "c", "d"]})


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (pd.Series([1, 2], name="n"), "n"),
        (pd.Series([1, 2]), "values"),
        (pd.Index([1, 2]), "values"),
        (pl.Series("n", [1, 2]), "n"),
        (pl.LazyFrame({"n": [1, 2]}), "n"),
        (np.array([1, 2]), "values"),
        (pa.array([1, 2]), "values"),
        ((1, 2), "values"),
        ({"n": [1, 2]}, "n"),
        (pa.record_batch({"n": [1, 2]}), "n"),
    ],
)
def test_values_of_every_kind_become_a_column(data, name):
    table = to_arrow(data)
    assert table.column_names == [name]
    assert table[name].to_pylist() == [1, 2]


def test_a_column_of_several_types_becomes_text():
    assert to_arrow(pd.DataFrame({"n": [1, "x", None]}))["n"].to_pylist() == ["1", "x", None]


def test_what_is_no_frame_is_named():
    with pytest.raises(InputError, match="A int is not a table"):
        to_arrow(7)


def test_pandas_keeps_its_own_types():
    frame = pd.DataFrame({"n": pd.array([1, 2], "Int64"), "c": pd.Categorical(["x", "y"]), "m": [1, "z"]}, [7, 7])
    frame.columns = ["n", "c", "n"]
    wide = like(frame, ROWS, OTHERS)
    assert [str(kind) for kind in wide.dtypes] == ["Int64", "category", "object", "object"]
    assert wide.columns.tolist() == ["n", "c", "n", "there"]
    assert wide.index.tolist() == [0, 1, 2, 3]
    assert wide.iloc[0].tolist() == [2, "y", "z", "a"]
    assert wide.iloc[1, :3].isna().all()
    whole = like(pd.DataFrame({"n": [1, 2]}), pa.array([1, 0]), pa.table({"there": ["a", "b"]}))
    assert whole.dtypes["n"] == np.int64


def test_others_keep_theirs():
    frame = pl.DataFrame({"n": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})
    wide = like(frame, ROWS, OTHERS)
    assert wide.schema["c"] == pl.Categorical
    assert wide.rows() == [(2, "y", "a"), (None, None, "b"), (1, "x", "c"), (2, "y", "d")]
    assert like({"n": [1, 2]}, ROWS, OTHERS)["n"].to_pylist() == [2, None, 1, 2]


def test_text_gets_types_where_a_column_holds_nothing_else():
    text = {
        "whole": ["1", "2.0", "N/A"],
        "part": ["0.5", "1e3", ""],
        "day": ["13/6/2004", "1/7/2004", None],
        "either": ["TRUE", "false", "NA"],
        "code": ["01", "2", "3"],
        "long": ["12345678901234567890", "1", "2"],
        "word": ["a", "1", ""],
    }
    table = typed(pa.table({name: pa.array(values, pa.string()) for name, values in text.items()}))
    assert table["whole"].to_pylist() == [1, 2, None]
    assert table["part"].to_pylist() == [0.5, 1000.0, None]
    assert table["day"].to_pylist() == [datetime.date(2004, 6, 13), datetime.date(2004, 7, 1), None]
    assert table["either"].to_pylist() == [True, False, None]
    assert [table[name].to_pylist() for name in ("code", "long", "word")] == [text["code"], text["long"], text["word"]]


@pytest.mark.parametrize("library", [pd, pl])
def test_datetimes_match_dates_and_their_text(library):
    days = [datetime.datetime(2024, 1, day) for day in (1, 2, 3)]
    left = library.DataFrame({"day": days})
    for right in (
        {"day": ["2024-01-02", "2024-01-03"]},
        {"day": [datetime.date(2024, 1, 2), datetime.date(2024, 1, 3)]},
    ):
        assert dovetail.join(left, right, on="day").rows == 2
    hours = library.DataFrame({"day": [each + datetime.timedelta(hours=5) for each in days]})
    assert dovetail.join(hours, {"day": ["2024-01-02T05:00:00", "2024-01-03"]}, on="day").rows == 1


def test_whole_numbers_stay_whole_where_rows_have_no_partner():
    left = pd.DataFrame({"city": ["a", "b", "c"], "founded": [1960, 1961, 1962]})
    right = pd.DataFrame({"city": ["a", "b", "x"], "year": [1990, 1991, 1992], "old": [True, False, True]})
    wide = dovetail.join(left, right, on="city", how="outer").frame
    assert wide["year"].tolist() == [1990, 1991, pd.NA, 1992]
    assert wide["founded"].tolist() == [1960, 1961, 1962, pd.NA]
    assert (str(wide["year"].dtype), str(wide["old"].dtype), str(wide["founded"].dtype)) == (
        "Int64",
        "boolean",
        "Int64",
    )
    assert dovetail.join(left, right, on="city").frame["year"].dtype == "int64"
