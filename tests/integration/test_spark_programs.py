"""A learned program as a Spark expression gives what it gives in Python."""

from __future__ import annotations

import pytest

from dovetail._spark.session import SparkRequest, spark_session
from dovetail.transform import Constant, Extract, Program, Split
from dovetail.transform.explain import as_spark

ROWS = ["O Neil, john (1961)", "Van De Beek, Al, x (2)", "x", "Bush, Jr(", "", "a.b|c, d'e (f)", "ünal, öz (7)"]
SLICES = [(0, None), (0, 1), (0, -1), (1, None), (-2, None), (1, 3), (-3, -1), (1, -1)]
SPLITS = [(), (Split(", ", 1, 1),), (Split(" ", 0, -2),), (Split("(", 1, -1), Split(")", 0, 0)), (Split(".", -1, -1),)]
CASES = ["as is", "lower", "upper", "title"]


@pytest.mark.full
def test_spark_gives_the_same():
    programs = [
        Program((Extract("my`s", splits, *ends, CASES[(place + number) % 4]), Constant("'\\ "), Extract("my`s")))
        for number, splits in enumerate(SPLITS)
        for place, ends in enumerate(SLICES)
    ]
    with spark_session(SparkRequest(master="local[1]")) as spark:
        frame = spark.session.createDataFrame([(row,) for row in ROWS], "`my``s` string")
        answer = frame.selectExpr(
            *(f"{as_spark(program)} AS p{place}" for place, program in enumerate(programs))
        ).collect()
    for place, program in enumerate(programs):
        assert [row[place] for row in answer] == program.apply({"my`s": ROWS}), program
