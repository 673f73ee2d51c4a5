"""Similarity: neighbours equal brute force, negative rules keep keys apart, constraints choose the columns."""

from __future__ import annotations

import itertools
import math
import random
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dovetail
from dovetail._deadline import Deadline, OutOfTime
from dovetail.errors import InputError, UnknownName
from dovetail.join.keys import TextRows, sampled_similar_keys, similar_keys
from dovetail.normalise import plain
from dovetail.similar import texts as similar_texts
from dovetail.similar.columns import choose_columns, corresponding, ways_to_compare
from dovetail.similar.matching import (
    LEAST_LIKELY,
    MEASURED,
    PAIR_FEATURES,
    best_keys,
    compare,
    least_probability,
    negative_rules,
    similar_pairs,
)
from dovetail.similar.pair_kernels import _one_edit_apart, measure_pairs
from dovetail.similar.texts import nearest, weigh, words_of


def pairs(values, keys, **options) -> list[tuple[int, int]]:
    found = similar_pairs(values, keys, **options)
    return list(zip(found.values.tolist(), found.keys.tolist(), strict=True))


texts = st.lists(st.text("abcé 1-", min_size=1, max_size=9), min_size=1, max_size=8, unique=True)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", plain(text))


def bag(text: str) -> set[str]:
    found = words(text)
    padded = f" {' '.join(found)} " if found else ""
    return {f"={word}" for word in found} | {padded[i : i + 3] for i in range(len(padded) - 2)}


def cosine(a: str, b: str, everything: list[str]) -> float:
    bags = [bag(text) for text in everything]

    def weight(tokens: set[str]) -> float:
        return sum(math.log1p(len(bags) / sum(token in other for other in bags)) ** 2 for token in tokens)

    common = weight(bag(a) & bag(b))
    return common / math.sqrt(weight(bag(a)) * weight(bag(b))) if common else 0.0


@settings(max_examples=60)
@given(values=texts, keys=texts)
def test_neighbours_are_those_of_brute_force(values, keys):
    sides = words_of(values), words_of(keys)
    weighed = weigh(*sides)
    distinct = {token for text in (*values, *keys) for token in bag(text)}
    assume(len(weighed.weights) == len(distinct))  # tokens are known by few bits: these fall together
    found, similarity = (np.concatenate(parts) for parts in list(zip(*nearest(weighed), strict=True))[1:])
    for row, value in enumerate(values):
        expected = [cosine(value, key, [*values, *keys]) for key in keys]
        got = {int(key): float(like) for key, like in zip(found[row], similarity[row], strict=True) if key >= 0}
        assert set(got) == {place for place, like in enumerate(expected) if like > 0}
        for key, like in got.items():
            assert like == pytest.approx(expected[key], abs=1e-3)


def test_some_texts_at_a_time_find_what_all_at_once_do(monkeypatch):
    draw = random.Random(3)
    values, keys = (["".join(draw.choices("abcde ", k=9)) for _ in range(40)] for _ in range(2))
    whole = best_keys(values, keys)
    monkeypatch.setattr(similar_texts, "SLICE", 7)
    parts = best_keys(values, keys)
    assert whole.keys.tolist() == parts.keys.tolist()
    assert np.array_equal(whole.features, parts.features)


def test_similarity_stops_at_its_deadline():
    with pytest.raises(OutOfTime):
        similar_pairs(["Springfield"], ["Springfeld"], deadline=Deadline(-1))


def test_words_are_those_of_the_plain_text():
    texts = ["Zoë’s Café_9", "", "-", "ÅB c1 𝒳y"]
    found = words_of(texts)
    starts = found.starts.tolist()
    spelled = ["".join(map(chr, found.codes[a:b].tolist())) for a, b in itertools.pairwise(starts)]
    first = found.first.tolist()
    assert [spelled[a:b] for a, b in itertools.pairwise(first)] == [words(text) for text in texts]


def test_words_that_distinguish_keys():
    keys = ["Epsom Oaks", "Epsom Derby", "Ascot Stakes", "Kentucky Derby"]
    assert len(negative_rules(words_of(keys))) == 2  # oaks and derby, epsom and kentucky
    assert pairs(["Ascott Stakes"], keys) == [(0, 2)]


def test_a_rule_is_a_feature_of_the_pair():
    """The same words as often, but only in the first table do two keys differ in oaks and derby alone."""
    ruled, free = (["Kentucky Derby", "Ascot Oaks", other, "Ripon"] for other in ("Ascot Derby", "Ripon Derby"))

    def distinguished(keys: list[str]) -> float:
        candidates, slices = compare(["Kentucky Oaks"], keys)
        ((_, features),) = slices
        return features[0, candidates[0].tolist().index(0), PAIR_FEATURES.index("distinguished")]

    assert (distinguished(ruled), distinguished(free)) == (1, 0)


def test_numbers_that_differ_keep_apart():
    keys = ["Season 1999 of the northern league", "Harbour bridge", "Old town hall"]
    assert pairs(["Harbor bridge", "Season 2004 of the northern league"], keys)[0] == (0, 1)


def test_a_column_that_must_be_equal_beside_the_similar_one():
    left = {"film": ["The Fly", "The Flyy", "Solaris"], "year": ["1958", "1986", "1972"]}
    right = {"title": ["Fly, The", "Fly, The!", "Solariss"], "released": ["1986", "1958", "2002"]}
    joined = dovetail.join(left, right, by="similar", equal=("year", "released"))
    assert joined.pairs.select(["left_row", "right_row"]).to_pylist() == [
        {"left_row": 0, "right_row": 1},
        {"left_row": 1, "right_row": 0},
    ]
    with pytest.raises(UnknownName, match='no column "yer"'):
        dovetail.join(left, right, by="similar", equal=("yer", "released"))
    with pytest.raises(InputError, match="needs `by='similar'`"):
        dovetail.join(left, right, equal=("year", "released"))


def people(size: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The same people twice, with a typing error in each field of every other: no column alone is enough."""
    draw = random.Random(3)

    def word() -> str:
        return "".join(draw.choice(["ka", "ro", "mi", "ten", "sal", "bur", "lo"]) for _ in range(3))

    def typed(text: str) -> str:
        place = draw.randrange(len(text))
        return text[:place] + draw.choice("xyz") + text[place + 1 :] if draw.random() < 0.5 else text

    names = [word() for _ in range(size // 4)], [word() for _ in range(size // 4)]
    rows = [(draw.choice(names[0]), draw.choice(names[1]), word(), word()) for _ in range(size)]
    columns = ("given", "family", "street", "town")
    return (
        {name: [row[place] for row in rows] for place, name in enumerate(columns)},
        {name.upper(): [typed(row[place]) for row in rows] for place, name in enumerate(columns)},
    )


def test_all_columns_together_where_they_join_more():
    left, right = people(200)
    assert set(corresponding(left, right)) == {(name, name.upper()) for name in left}
    way = choose_columns(left, right)
    assert way is not None
    assert {name.lower() for name in way.source} == set(left)
    joined = dovetail.join(left, right, by="similar").pairs
    right_ones = sum(row["left_row"] == row["right_row"] for row in joined.to_pylist())
    assert right_ones >= 0.95 * joined.num_rows
    assert joined.num_rows >= 120


def test_frequent_grams_are_not_read():
    """Every value shares a word with every key: the budget bounds what is read, the rare word finds the partner."""
    keys = [f"limited company number {np.base_repr(n * 7919, 36).lower()}" for n in range(25_000)]
    found = pairs([key.replace("company", "compny") for key in keys[:50]], keys)
    assert sum(a == b for a, b in found) == len(found) >= 40


def test_a_value_between_two_keys_joins_neither():
    keys = ["Springfield North", "Springfield South", "Shelbyville"]
    assert pairs(["Springfield", "Shelbyvile"], keys) == [(1, 2)]


def test_several_values_may_join_one_key():
    values, keys = ["Shelbyvile", "Shelbyvill of old"], ["Shelbyville", "Ogdenville"]
    assert pairs(values, keys) == [(0, 0), (1, 0)]
    assert pairs(values, keys, one_to_one=True) == [(0, 0)]
    assert pairs(values, keys, one_to_one=True, taken=[0]) == []


def test_a_least_similarity_takes_the_nearest_whatever_the_second():
    keys = ["Springfield North", "Springfield South"]
    assert pairs(["Springfield"], keys) == []
    found = similar_pairs(["Springfield"], keys, min_similarity=0.2)
    assert found.keys.tolist() == [0] and 0.2 <= found.similarity[0] < 1
    assert pairs(["Springfield"], keys, min_similarity=0.95) == []


def typing_errors(rows: int, keys: int) -> tuple[list[str], list[str]]:
    draw = random.Random(rows)
    names = ["".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12)) for _ in range(keys)]

    def typed(text: str) -> str:
        place = draw.randrange(len(text))
        return text[:place] + "é" + text[place + 1 :]

    return [typed(names[row % keys]) for row in range(rows)], names


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("by", ["similar", None])
def test_many_rows_for_one_key(swapped, by):
    """Each of 200 rows is one typing error away from one of 20 keys, whichever table comes first."""
    values, keys = typing_errors(200, 20)
    tables = {"spelling": values}, {"name": keys}
    joined = dovetail.join(*(tables[::-1] if swapped else tables), by=by).pairs.to_pylist()
    assert len(joined) >= 190
    assert all(row["left_row"] % 20 == row["right_row"] % 20 for row in joined)
    assert {row["origin"] for row in joined} == {"similar"}


@settings(max_examples=40)
@given(values=texts, keys=texts)
def test_pairs_are_measured_as_by_the_plain_kernel(values, keys):
    mine, theirs = words_of(values), words_of(keys)
    weights = [np.linspace(1, 2, len(side.hashes)).astype(np.float32) for side in (mine, theirs)]
    candidates = np.tile(np.arange(len(keys), dtype=np.int32), (len(values), 1))

    def measured(kernel) -> np.ndarray:
        found = np.zeros((*candidates.shape, len(MEASURED)), np.float32)
        sides = [(side.codes, side.starts, side.first, side.hashes) for side in (mine, theirs)]
        kernel(candidates, *sides[0], weights[0], *sides[1], weights[1], negative_rules(theirs), found)
        return found

    assert measured(measure_pairs) == pytest.approx(measured(measure_pairs.py_func), abs=1e-5)


def test_what_is_measured_of_a_pair():
    (row,) = next(compare(["Harbor bridge 9"], ["Harbour bridge of 7"])[1])[1]
    found = dict(zip(PAIR_FEATURES, row[0].tolist(), strict=True))
    assert found["misspelled"] == pytest.approx(1 / 5)  # harbor; `of` has no match, and numbers are never misspelled
    assert (found["numbers_differ"], found["first_word"], found["key_inside"]) == (1, 1, 0)
    assert 0 < found["unmatched_value"] < found["unmatched_key"] < 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_threshold_makes_the_expected_f1_greatest(chances):
    chances = np.array(chances)
    least = least_probability(chances)
    assert least >= LEAST_LIKELY

    def expected(threshold: float) -> float:
        taken = chances[chances >= threshold]
        return 2 * taken.sum() / (len(taken) + max(chances.sum(), LEAST_LIKELY))

    assert expected(least) == pytest.approx(
        max(expected(chance) for chance in {*chances.tolist(), least} if chance >= LEAST_LIKELY)
    )


def test_a_value_as_near_to_two_keys_is_more_likely_wrong():
    best = best_keys(["Springfield"], ["Springfield North", "Springfield South"])
    assert best.probability[0] <= 0.5


def test_misspelled_words_are_compared_in_columns_without_a_common_word():
    values, keys = typing_errors(60, 60)
    left = {"note": ["x"] * 60, "spelling": values}
    right = {"name": keys, "comment": ["y"] * 60}
    assert corresponding(left, right) == []
    (way, *_) = ways_to_compare(left, right)
    assert {(*way.source, *way.target)} <= {("spelling", "name"), ("name", "spelling")}
    assert way.found > 0.8


def test_a_sample_of_texts_keeps_the_rows_that_have_them():
    rows = TextRows.of_rows(["a", "b", None, "a", "c", "d"])
    few = rows.sampled(2)
    assert len(few.texts) == 2
    for row, code in enumerate(few.codes.tolist()):
        if code >= 0:
            assert few.texts[code] == rows.texts[rows.codes[row]]
    assert rows.sampled(9).texts == rows.texts


def test_a_sample_tells_how_many_rows_would_join():
    values, keys = typing_errors(3_000, 1_500)
    rows = TextRows.of_rows(values), TextRows.of_rows(keys)
    tried, share = sampled_similar_keys(*rows, 0, (300, 1_000), Deadline(60))
    assert share == pytest.approx(300 / len(rows[0].texts) * 1_000 / 1_500)
    everything = similar_keys(*rows, 0)
    found, wanted = ((each.of_source >= 0).sum() for each in (tried, everything))
    assert found / share == pytest.approx(wanted, rel=0.15)
    joined = np.flatnonzero(tried.of_source >= 0)
    assert (tried.of_source[joined] == everything.of_source[joined]).mean() > 0.99
    assert sampled_similar_keys(*rows, 0, (9_999, 9_999), Deadline(60))[1] == 1


def edits(text: str) -> set[str]:
    """All texts of the letters a, b, c that are one typing error away."""
    cuts = [(text[:place], text[place:]) for place in range(len(text) + 1)]
    found = {head + tail[1:] for head, tail in cuts if tail}
    found |= {head + letter + tail[1:] for head, tail in cuts if tail for letter in "abc"}
    found |= {head + letter + tail for head, tail in cuts for letter in "abc"}
    return found | {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6))
def test_one_typing_error(one, other):
    a, b = (np.array(list(map(ord, text)), np.uint32) for text in (one, other))
    assert _one_edit_apart(a, 0, len(a), b, 0, len(b)) == (other in edits(one) | {one})


def test_two_letters_swapped_in_a_short_name():
    assert pairs(["Chicgo", "Zargaoza"], ["Chicago", "Zaragoza", "Helsinki", "Palermo"]) == [(0, 0), (1, 1)]
