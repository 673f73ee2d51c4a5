"""Programs are values: they go through JSON, and mean the same in Python and in DuckDB."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.transform import Constant, Extract, Program, Split
from dovetail.transform.explain import as_duckdb, as_python

ROWS = st.lists(st.text("aB '(", max_size=8), min_size=1, max_size=6)
PLACES = st.one_of(st.integers(-3, 2).map(lambda place: (place, place)), st.sampled_from([(0, -2), (1, -1)]))
SPLITS = st.builds(lambda separator, ends: Split(separator, *ends), st.sampled_from([" ", "'", "(", "B "]), PLACES)
SLICES = st.sampled_from([(0, None), (0, 1), (0, -1), (1, None), (-2, None), (1, 3), (-3, -1), (1, -1)])
CASES = st.sampled_from(["as is", "lower", "upper", "title"])
EXTRACTS = st.builds(
    lambda splits, ends, case: Extract('my "text"', tuple(splits), *ends, case),
    st.lists(SPLITS, max_size=2),
    SLICES,
    CASES,
)
STEPS = st.tuples(
    EXTRACTS, st.lists(st.one_of(EXTRACTS, st.builds(Constant, st.sampled_from(["'", " - "]))), max_size=2)
)
PROGRAMS = STEPS.map(lambda steps: Program((steps[0], *steps[1])))


@given(PROGRAMS)
def test_json(program):
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program


@given(PROGRAMS, ROWS)
def test_duckdb_gives_the_same(program, rows):
    table = pa.table({'my "text"': pa.array(rows, pa.string())})
    with duckdb.connect() as connection:
        connection.register("rows", table)
        answer = connection.execute(f"SELECT {as_duckdb(program)} FROM rows").fetchall()
    assert [row[0] for row in answer] == program.apply({'my "text"': rows})


@given(PROGRAMS, ROWS)
def test_python_gives_the_same_where_there_is_a_value(program, rows):
    code = compile(as_python(program), "program", "eval")
    for text, made in zip(rows, program.apply({'my "text"': rows}), strict=True):
        if made is not None:
            assert eval(code, {"row": {'my "text"': text}}) == made


def test_words():
    program = Program(
        (
            Extract("name", (Split(" (", 0, 0), Split(", ", -1, -1)), 0, 1, "lower"),
            Constant("."),
            Extract("last", (), 1),
        )
    )
    assert program.words == (
        "the first character of the last piece of the first piece of column “name” cut at “ (” cut at “, ”, "
        "in lower case, then “.”, then all but the first character of column “last”"
    )


def test_a_row_without_the_piece_gives_null():
    program = Program((Extract("a", (Split("-", 1, 1),)),))
    assert program.apply({"a": ["x-y", "xy", None, "x-"]}) == ["y", None, None, None]
