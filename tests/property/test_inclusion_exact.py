"""Inclusion dependencies equal brute force over sets of tokens, whatever the segments, threads, filters and history."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail.api.lake import Lake
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import InclusionFilters, InclusionFinder, InclusionQuery
from dovetail.papers.many import BloomParameters, SignatureFinder
from dovetail.pipeline.maintain import remove_tables
from support.contents import contents_of
from support.pipeline import index, without_spark
from support.small_lake import write_lake

cells = st.sampled_from([*"abcdef", "zürich", "1", "2", "3", "40", "", "", "N/A"])
tables = st.lists(st.lists(st.tuples(cells, cells, cells), max_size=9), min_size=1, max_size=6)
questions = st.builds(
    InclusionQuery,
    st.builds(
        InclusionFilters,
        null=st.booleans(),
        integer=st.booleans(),
        non_unique=st.booleans(),
        coverage=st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(2, 3), Fraction(1)]),
    ),
    st.sampled_from([Fraction(1), Fraction(1), Fraction(7, 10), Fraction(1, 2), Fraction(1, 100)]),
    st.booleans(),
)
NULL = "(null)"
SIGNATURES = [
    BloomParameters(8, 1, 1),
    BloomParameters(16, 2, 2, "ref2deps"),
    BloomParameters(12, 2, 1, "dep2refs", "plain"),
    BloomParameters(),
]


def brute_force(lake: Lake, question: InclusionQuery) -> set[tuple[str, str, str, str, int]]:
    filters, equal = question.filters, question.null_is_a_value
    dependent, referenced = [], []
    for table, content in contents_of(lake).items():
        for column, tokens in zip(content["columns"], content["sets"], strict=True):
            values = set(tokens) | ({NULL} if equal and column.nulls else set())
            if filters.integer and column.type.kind == "integer":
                continue
            if not tokens and (filters.null or not equal):
                continue
            once = all(rows == 1 for rows in tokens.values()) and not (equal and column.nulls > 1)
            dependent.append((table, column.column, values))
            if once or not filters.non_unique:
                referenced.append((table, column.column, values))
    found = set()
    for table, column, values in dependent:
        for other, theirs, others in referenced:
            common = len(values & others)
            if (table, column) == (other, theirs) or (values and Fraction(common, len(values)) < question.containment):
                continue
            if (Fraction(common, len(others)) if others else Fraction(1)) >= filters.coverage:
                found.add((table, column, other, theirs, common))
    return found


def answers(
    lake: Lake, question: InclusionQuery, finder=InclusionFinder, **how: Any
) -> set[tuple[str, str, str, str, int]]:
    columns = LakeColumns(lake.segments)
    names = [
        (columns.table_names[int(table)].as_py(), name)
        for table, name in zip(columns.table_of, columns.names.to_pylist(), strict=True)
    ]
    found = [
        (*names[one], *names[other], int(common))
        for pairs in finder(columns, question, **how)
        for one, other, common in zip(pairs.dependent, pairs.referenced, pairs.overlap, strict=True)
    ]
    assert len(found) == len(set(found)), "a dependency is told once"
    return set(found)


EMPTY_IN_ALL = InclusionQuery(InclusionFilters(False, False, False, Fraction(0)), null_is_a_value=True)
NULLS_ALONE = InclusionQuery(InclusionFilters(null=False), null_is_a_value=True)


@settings(max_examples=10)
@example(tables=[[], [("a", "a", "a")]], asked=[EMPTY_IN_ALL], removed=False)
@example(tables=[[("", "a", "")], [("a", "", "a")]], asked=[NULLS_ALONE], removed=False)
@given(tables=tables, asked=st.lists(questions, min_size=4, max_size=4), removed=st.booleans())
@pytest.mark.parametrize("megabyte", [1_000_000, 30], ids=["one segment", "many segments"])
def test_equals_brute_force(tmp_path_factory, tables, asked, removed, megabyte):
    folder = tmp_path_factory.mktemp("inclusion")
    with without_spark(megabyte):
        index(write_lake(folder, tables), folder / "idx")
        if removed:
            remove_tables(folder / "idx", ["t0.csv"])
    lake = Lake(folder / "idx")
    for question in asked:
        assert answers(lake, question) == brute_force(lake, question)
        assert answers(lake, question, threads=3) == brute_force(lake, question)
        if question.containment == 1:
            for parameters in SIGNATURES:
                found = answers(lake, question, SignatureFinder, parameters=parameters, threads=2)
                assert found == brute_force(lake, question)
