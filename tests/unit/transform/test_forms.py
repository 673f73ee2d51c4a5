"""Forms go through JSON, and mean the same in Python and in DuckDB; texts that they do not read give null."""

from __future__ import annotations

import json
from datetime import date

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import Transformation
from dovetail.errors import InputError
from dovetail.transform import Constant, Extract, Program
from dovetail.transform import forms as module
from dovetail.transform.explain import as_duckdb, as_python, as_spark
from dovetail.transform.forms import DATE_PARTS, DatePart, Initials, Number

WRITTEN = ("%Y-%m-%d", "%-d.%-m.%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d", "%d %B %Y", "%-d-%b-%Y", "%B %-d, %Y",
           "%Y/%m/%d 10:11", "%Y-%m-%dT10:11:12", "%Y-%b-%d")  # fmt: skip
DATES = st.builds(lambda day, how: day.strftime(how), st.dates(date(1000, 1, 1)),
                  st.sampled_from(WRITTEN))  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.integers(0, 10**9).map(lambda number: f"{number:,}"),
    st.decimals(-(10**6), 10**6, places=4).map(lambda number: f"{number:f}"),
)
TEXTS = st.one_of(DATES, NUMBERS, st.text("a1-/., ", max_size=8), st.sampled_from(["May 3 2004", "31/12/1999", "1e5"]))
FORMS = st.one_of(
    st.just(Initials()),
    st.builds(DatePart, st.sampled_from(list(DATE_PARTS)), st.booleans()),
    st.builds(
        Number,
        st.sampled_from([1.0, 2.54, 1 / 0.3048, 0.001]),
        st.sampled_from([0.0, 32.0]),
        st.just("of units"),
        st.integers(0, 6),
        st.integers(0, 6),
        st.booleans(),
        st.booleans(),
        st.integers(0, 7),
        st.booleans(),
    ),
)
PROGRAMS = FORMS.map(lambda form: Program((Extract("text", form=form, case="upper"), Constant("."))))


@given(PROGRAMS)
def test_json(program):
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program
    way = Transformation((program,), False, "key")
    assert way.to_json()["version"] == 2  # readers of version 1 would leave forms out
    assert Transformation.from_json(way.to_json()) == way


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, st.lists(TEXTS, min_size=1, max_size=6))
def test_duckdb_and_python_give_the_same(program, rows):
    made = program.apply({"text": rows})
    with duckdb.connect() as connection:
        connection.register("rows", pa.table({"text": pa.array(rows, pa.string())}))
        answer = connection.execute(f"SELECT {as_duckdb(program)} FROM rows").fetchall()
    assert [row[0] for row in answer] == made
    for text, value in zip(rows, made, strict=True):
        if value is not None:
            assert eval(as_python(program), {**vars(module), "row": {"text": text}}) == value
    assert as_spark(program) is None


@pytest.mark.parametrize(
    ("form", "text", "made"),
    [
        (Initials(), "special interest group, management-of data", "sigmod"),
        (DatePart("month name"), "7/1/2009", "July"),
        (DatePart("month name", day_first=True), "7/1/2009", "January"),
        (DatePart("weekday"), "05/13/2015", "Wednesday"),
        (DatePart("two-digit year"), "3 June 1905", "05"),
        (DatePart("day"), "2011-Jan-02", "2"),
        (DatePart("day"), "2011-02-30", None),
        (DatePart("day"), "11-02-03", None),
        (Number(width=5), "144", "00144"),
        (Number(), "1,048,576.50", "1048576.5"),
        (Number(), "12,34", None),
        (Number(decimal_comma=True), "1.234,5", "1234.5"),
        (Number(thousands=True), "1048576", "1,048,576"),
        (Number(2.54, decimals=1, fixed=True), "10", "25.4"),
        (Number(1 / 25.4, decimals=9, significant=6), "8", "0.314961"),
        (Number(1.8, 32.0), "-40", "-40"),
        (Number(-1.0, decimals=0), "0", "0"),
        (Number(), "1" * 16, None),
    ],
)
def test_what_forms_make(form, text, made):
    assert form.apply(text) == made


def test_words():
    program = Program((Extract("size", form=Number(0.1, units="mm to cm", decimals=2)),))
    assert program.words == "the number column “size” times 0.1 (mm to cm)"
    assert Program((Extract("day", form=DatePart("month name", True)),)).words == (
        "the month name of column “day”, read as a date with the day first"
    )


def test_bad_forms_are_refused():
    with pytest.raises(InputError, match="no part 'fortnight'"):
        DatePart("fortnight")
    document = Transformation((Program((Extract("a", form=Initials()),)),), False, "key").to_json()
    document["programs"][0][0]["form"]["kind"] = "rot13"
    with pytest.raises(InputError, match="no form 'rot13'"):
        Transformation.from_json(document)
