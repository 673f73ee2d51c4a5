"""The words of reasons: every feature is in one group, and each kind of candidate reads as a sentence."""

from __future__ import annotations

from collections import Counter

from dovetail.join.judge import ACCEPT_FEATURES
from dovetail.join.reasons import _GROUPS, JoinWords, as_sentence, join_clauses

NOT_SAID = {"near", "same_table", "rank_score"}
"""What two tables do not have, and the sum of the others."""


def said(features: dict[str, float], moved: dict[str, float]) -> str:
    nothing = dict.fromkeys(ACCEPT_FEATURES, 0.0)
    return as_sentence(join_clauses(nothing | moved, JoinWords(nothing | features, "album", "left", "right")))


def test_every_feature_is_in_one_group():
    assert Counter(name for group in _GROUPS for name in group.features) == Counter(
        name for name in ACCEPT_FEATURES if name not in NOT_SAID
    )


def test_a_key_with_the_same_name():
    text = said({"contained": 1, "unique_there": 1, "same_name": 1}, {"contained": 3, "unique_there": 2, "called": 1})
    assert text == (
        "All values of album on the left have a match; the values are unique on the right; "
        "the columns have the same name."
    )


def test_few_values_that_match_by_chance():
    text = said({"contained": 0.25, "chance": 1}, {"contained": -2, "chance": -3})
    assert text == "Such values match by chance; only 25% of the values of album on the left have a match."


def test_what_speaks_against_a_likely_join_comes_second():
    text = said({"similar": 1, "contained": 0.9}, {"contained": 2, "similar": -1})
    assert text == "90% of the values of album on the left have a similar value; but the values are only similar."


def test_rivals_are_named_by_how_near_they_are():
    assert said({"rank_lead": -1}, {"rank_lead": -1}) == "Other columns fit better."
    assert said({"rank_lead": 0.1}, {"rank_lead": -1}) == "Other columns fit nearly as well."


def test_nothing_telling_is_no_sentence():
    assert said({}, {}) == ""
