"""Profiles against counting by hand, and the same however a column is cut."""

from __future__ import annotations

import itertools
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.catalog.profile import RawColumn, count_values, profile_column
from dovetail.catalog.records import ColumnRecord
from dovetail.normalise import TypeEvidence, normalise_value

values = st.lists(
    st.none()
    | st.sampled_from(["", "a", "A ", "b", "NA", "n/a", "null", "x" * 300, "é", "e\u0301"])
    | st.integers(-50, 50).map(str)
    | st.integers(10**19, 10**19 + 5).map(str)
    | st.sampled_from(["1.0", "1.50", "0.5", "-2.25"]),
    max_size=40,
)


def profile(slices: list[list[str | None]]) -> tuple[ColumnRecord, Counter[str]]:
    counted = [count_values(pa.chunked_array([pa.array(part, pa.string())])) for part in slices]
    evidence = TypeEvidence()
    for part in counted:
        evidence += part.evidence
    found: Counter[str] = Counter()

    def emit(tokens):
        for token, rows in zip(tokens.tokens.to_pylist(), tokens.counts.tolist(), strict=True):
            found[token] += rows

    return profile_column(RawColumn("c", sum(map(len, slices)), evidence, lambda: iter(counted)), emit), found


@given(values, st.lists(st.integers(0, 40), max_size=4))
def test_a_cut_column_is_the_same_column(rows, places):
    edges = [0, *sorted(place for place in places if place <= len(rows)), len(rows)]
    slices = [rows[start:stop] for start, stop in itertools.pairwise(edges)]
    assert profile(slices) == profile([rows])


@given(values)
def test_equals_counting_by_hand(rows):
    record, tokens = profile([rows])
    filled = [
        (raw, token) for raw in rows if raw is not None and (token := normalise_value(raw, record.type)) is not None
    ]
    assert tokens == Counter(token for _, token in filled)
    assert record.rows == len(rows)
    assert record.nulls == len(rows) - len(filled)
    raw_counts = Counter(raw for raw, _ in filled)
    assert record.raw_distinct == len(raw_counts)
    shown = {raw if len(raw) <= 200 else raw[:199] + "…": count for raw, count in raw_counts.items()}
    assert list(record.top) == Counter(shown).most_common(5)
    assert list(record.sample) == list(shown)[:5]
    if filled:
        lengths = [len(raw) for raw, _ in filled]
        assert record.max_length == max(lengths)
        assert record.mean_length == pytest.approx(sum(lengths) / len(lengths))
        order = Decimal if record.type.kind in ("integer", "real") else str.encode
        ends = [min(tokens, key=order), max(tokens, key=order)]
        assert [record.minimum, record.maximum] == [end if len(end) <= 200 else end[:199] + "…" for end in ends]
    else:
        assert (record.minimum, record.maximum, record.mean_length, record.top) == ("", "", 0.0, ())


def test_the_most_frequent_of_very_many():
    """Above some hundred distinct values they are found without sorting all."""
    rows = [str(i) for i in range(3_000)] + ["7", "2999", "2999", "1500"] + ["0"] * 3
    for slices in ([rows], [rows[:1_000], rows[1_000:]]):
        record, _ = profile(slices)
        assert record.top == (("0", 4), ("2999", 3), ("7", 2), ("1500", 2), ("1", 1))
        assert record.raw_distinct == 3_000


@pytest.mark.parametrize(
    ("distinct", "rows", "nulls", "unique", "key", "uniqueness"),
    [
        (3, 3, 0, True, True, 1.0),
        (3, 4, 1, True, False, 1.0),
        (2, 4, 0, False, False, 0.5),
        (0, 4, 4, False, False, 0.0),
    ],
)
def test_keys(distinct, rows, nulls, unique, key, uniqueness):
    record, _ = profile([[]])
    record = ColumnRecord(**{**vars(record), "distinct": distinct, "rows": rows, "nulls": nulls})
    assert (record.is_unique, record.is_key, record.uniqueness) == (unique, key, uniqueness)


def test_counting_keeps_the_order_of_appearance():
    counted = count_values(pa.chunked_array([["b", None, "a"], ["b", "c"]]))
    assert counted.values.to_pylist() == ["b", "a", "c"]
    assert counted.counts.tolist() == [2, 1, 1]
    assert counted.counts.dtype == np.int64
