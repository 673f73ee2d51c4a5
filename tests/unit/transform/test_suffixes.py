"""Suffix arrays and best q-grams equal a plain recount."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail.transform.suffixes import best_matches, suffix_array, whole_ranges

TEXTS = st.lists(st.text("abé", min_size=1, max_size=7), min_size=1, max_size=6, unique=True)


def occurrences(gram: str, values: list[str]) -> int:
    return sum(value.startswith(gram, place) for value in values for place in range(len(value)))


@given(TEXTS)
def test_suffixes_are_sorted(values):
    array = suffix_array(values)
    whole = "".join(values)
    found = [whole[place : array.ends[place]] for place in array.order]
    assert found == sorted(value[place:] for value in values for place in range(len(value)))


@given(TEXTS, TEXTS, st.integers(1, 3))
def test_the_best_q_gram_of_each_value(source, target, least_q):
    found = best_matches(suffix_array(source), suffix_array(target), least_q)
    for place, value in enumerate(source):
        grams = {value[i:j] for i in range(len(value)) for j in range(i + least_q, len(value) + 1)}
        shared = {gram for gram in grams if occurrences(gram, target)}
        if not shared:
            assert found.q[place] == 0
            continue
        least = min(occurrences(gram, source) * occurrences(gram, target) for gram in shared)
        assert found.in_source[place] * found.in_target[place] == least
        longest = max(len(g) for g in shared if occurrences(g, source) * occurrences(g, target) == least)
        assert found.q[place] == longest


@given(TEXTS, TEXTS)
def test_where_whole_values_stand(source, target):
    low, high = whole_ranges(suffix_array(source), suffix_array(target))
    assert [b - a for a, b in zip(low, high, strict=True)] == [occurrences(value, target) for value in source]
