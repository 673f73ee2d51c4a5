"""What the names, paths and values of two columns have in common, beside a plain definition of each feature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.evidence.features import INTEGER, Side
from dovetail.evidence.names import KEY_WORDS, words
from dovetail.evidence.reference_kernels import PAIR_FEATURES, measure_pairs, score_pairs
from dovetail.evidence.references import HERE_FEATURES, REFERENCE_FEATURES, THERE_FEATURES, References
from dovetail.evidence.vocabulary import ColumnNames

WORDS = ("artist", "art", "artisan", "nation", "nationality", "national", "team", "id", "key", "x", "7", "owner", "by")
name = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map("_".join)
tables = st.lists(st.tuples(st.sampled_from(["", "a/", "a/b/", "c/"]), name), min_size=1, max_size=4, unique=True)


class Lake:
    """Columns as plain Python values: a table, a name and numbers of values, from 1 or 100 on."""

    def __init__(self, columns: list[tuple[str, str, int, int]]) -> None:
        self.columns = columns
        distinct = sorted({name for _, name, _, _ in columns})
        paths = sorted({table for table, _, _, _ in columns})
        sizes, lows = (np.array([column[place] for column in columns], float) for place in (2, 3))
        zero, one = np.zeros(len(columns)), np.ones(len(columns))
        side = Side(sizes, sizes, sizes, np.full(len(columns), INTEGER), lows, lows + sizes - 1, one, zero, zero, zero)
        names = ColumnNames(
            distinct,
            np.array([distinct.index(name) for _, name, _, _ in columns]),
            paths,
            np.array([paths.index(table) for table, _, _, _ in columns]),
            np.ones(len(columns), bool),
        )
        self.references = References(side, names, np.ones(len(columns), bool))

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, other = (places.ravel() for places in np.indices((len(self.columns),) * 2))
        sizes = np.array([column[2] for column in self.columns])
        return one, other, np.minimum(sizes[one], sizes[other])


@st.composite
def lakes(draw) -> Lake:
    columns = []
    for folder, table in draw(tables):
        for column in draw(st.lists(name, min_size=1, max_size=3, unique=True)):
            columns.append((f"{folder}{table}.csv", column, draw(st.integers(1, 40)), draw(st.sampled_from([1, 100]))))
    return Lake(columns)


def is_key_word(word: str) -> bool:
    return word in KEY_WORDS or len(word) == 1 or word.isdigit()


def similar(one: str, other: str) -> float:
    """Equal words, a word and its beginning, and words that begin alike; words of any key are similar to nothing."""
    if is_key_word(one) or is_key_word(other):
        return 0.0
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    share = common / max(len(one), len(other))
    if one != other and common < 3:
        return 0.0
    if common == min(len(one), len(other)):
        return 1.0 if one == other else 0.5 + share / 2
    return share if share >= 0.6 else 0.0


def named(lake: Lake, one: int, other: int) -> dict[str, float]:
    """The features of names, from the words themselves."""
    stem = {table: words(table.rpartition("/")[2].removesuffix(".csv")) for table, _, _, _ in lake.columns}
    held = {table: set(own) for table, own in stem.items()}
    for table, column, _, _ in lake.columns:
        held[table] |= set(words(column))
    number = max(2, len(stem))

    def weight(word: str) -> float:
        tables_with_it = sum(word in found for found in held.values())
        return 0.0 if is_key_word(word) else math.log1p(number / tables_with_it) / math.log1p(number)

    def best(word: str, among: list[str]) -> float:
        return max((similar(word, mine) for mine in among), default=0.0)

    def head(found: list[str]) -> str | None:
        return next((word for word in reversed(found) if not is_key_word(word)), None)

    (table, column, _, _), (their_table, their_column, _, _) = lake.columns[one], lake.columns[other]
    mine, home = list(dict.fromkeys(words(column))), stem[table]
    theirs, their_home = list(dict.fromkeys(words(their_column))), list(dict.fromkeys(stem[their_table]))
    of_table = sum(weight(word) * best(word, mine) for word in their_home)
    of_name = sum(weight(word) * best(word, mine) for word in theirs)
    whole = sum(map(weight, their_home))
    unknown = sum(weight(word) * (1 - max(0, best(word, home) - best(word, mine))) for word in their_home)
    found = {"theirs_found": 0.0, "tables_similar": 0.0, "called": 0.0, "head": 0.0}
    if table != their_table and whole > 0:
        found["tables_similar"] = sum(weight(w) * max(best(w, mine), best(w, home)) for w in their_home) / whole
    if of_table + of_name > 0:
        own = dict.fromkeys(mine, 0.0)  # each of their words is one of mine: the first that is most similar
        for word in [*their_home, *theirs]:
            if best(word, mine) > 0:
                owner = next(w for w in mine if similar(word, w) == best(word, mine))
                own[owner] = max(own[owner], best(word, mine))
        needed = sum(weight(word) * max(own[word], 1 - best(word, home)) for word in mine)
        explained = sum(weight(word) * own[word] for word in mine) / needed if needed > 0 else 0.0
        found["theirs_found"] = of_table / unknown if of_table > 0 else 0.0
        together = max(sum(map(weight, mine)) + sum(map(weight, theirs)) - of_name, of_name)
        by_name = of_name / together * min(1.0, 2 * of_name)
        found["called"] = max(explained * found["theirs_found"], by_name)
        for word in (head(their_home), head(theirs)):
            if word and best(word, mine) > 0:
                owner = next(w for w in mine if similar(word, w) == best(word, mine))
                if owner == head(mine):
                    found["head"] = max(found["head"], best(word, mine))
    return found


def measured(lake: Lake) -> list[dict[str, float]]:
    rows = lake.references.features(*lake.pairs())
    return [dict(zip(REFERENCE_FEATURES, row, strict=True)) for row in rows.tolist()]


@settings(max_examples=150, deadline=None)
@given(lakes())
def test_names_are_compared_by_their_words(lake):
    found = measured(lake)
    for one, other, row in zip(*lake.pairs()[:2], found, strict=True):
        expected = named(lake, one, other)
        assert {name: row[name] for name in expected} == pytest.approx(expected), (one, other, lake.columns)


@settings(max_examples=60, deadline=None)
@given(lakes())
def test_folders_and_values(lake):
    for one, other, overlap, row in zip(*lake.pairs(), measured(lake), strict=True):
        (table, _, size, low), (their_table, _, their_size, their_low) = lake.columns[one], lake.columns[other]
        parts, theirs = table.split("/")[:-1], their_table.split("/")[:-1]
        deepest = max(len(parts), len(theirs))
        common = next((n for n in range(deepest) if parts[n : n + 1] != theirs[n : n + 1]), deepest)
        inside = len(set(range(low, low + size)) & set(range(their_low, their_low + their_size)))
        from_one = float(their_size > 1 and low == their_low == 1)
        expected = {
            "other_folder": 1 - common / deepest if deepest else 0,
            "contained": overlap / size,
            "missing": math.log2(1 + size - overlap) / 10,
            "spread": inside / their_size if their_size > 1 else 1,
            "from_one": from_one,
            "covered_from_one": from_one * overlap / their_size,
            "copy": (overlap / their_size) ** 2 if table == their_table else 0,
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def features_of(columns: list[tuple[str, str]], one: int, other: int) -> dict[str, float]:
    lake = Lake([(*column, 9, 1) for column in columns])
    return measured(lake)[one * len(columns) + other]


def test_words_for_another_row_of_the_same_table():
    columns = [("areas.csv", "id"), ("areas.csv", "parent"), ("kinds.csv", "id"), ("areas.csv", "label")]
    assert features_of(columns, 1, 0)["previous"] == 1
    assert features_of(columns, 1, 2)["previous"] == 0, "another table"
    assert features_of(columns, 3, 0)["previous"] == 0, "another word"


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("users", "changed_by", 1), ("person", "creator", 0.5), ("users", "colour", 0), ("user_kinds", "creator", 0)],
)
def test_roles_refer_to_people(table, column, value):
    columns = [(f"{table}.csv", "id"), ("orders.csv", column)]
    assert features_of(columns, 1, 0)["role"] == value


@settings(max_examples=20, deadline=None)
@given(lakes(), st.integers(0, 2**32))
def test_log_odds_are_the_weighted_features(lake, seed):
    """However many pairs are measured at a time."""
    one, other, overlaps = (np.tile(values, 1 + 3000 // len(lake.columns) ** 2) for values in lake.pairs())
    weights = np.random.default_rng(seed).normal(size=len(REFERENCE_FEATURES))
    ends = len(HERE_FEATURES), len(HERE_FEATURES) + len(THERE_FEATURES)
    features = lake.references.features(one, other, overlaps)
    here, there = np.zeros((2, len(lake.columns)))
    here[one] = features[:, : ends[0]] @ weights[: ends[0]]
    there[other] = features[:, ends[0] : ends[1]] @ weights[ends[0] : ends[1]]
    columns = lake.references.feature("called").columns
    odds = score_pairs(one, other, overlaps, columns, weights[ends[1] :], here, there)
    assert odds == pytest.approx(features @ weights)


@settings(max_examples=15, deadline=None)
@given(lakes())
def test_every_feature_of_a_pair_is_written(lake):
    columns = lake.references.feature("called").columns
    one, other, overlaps = lake.pairs()
    rows = np.full((len(one), len(PAIR_FEATURES)), np.nan)
    measure_pairs(one, other, overlaps, columns, rows)
    assert not np.isnan(rows).any()
