"""The constrained similarity join equals Algorithm 6 over all tokenisations, distances and thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.papers.auto_join import constrained_join
from dovetail.papers.auto_join.constrained import DISTANCES, TOKENISATIONS, constrained_pairs

TEXTS = st.lists(st.text("abC -", min_size=1, max_size=8), min_size=1, max_size=6, unique=True)
HALVINGS = 6
EMAILS = ["schowdhury@forsyth.k12.ga.us", "mpaluzzi@forsyth.k12.ga.us", "mpayne@forsyth.k12.ga.us",
          "ccraddock@forsyth.k12.ga.us", "kmoore@forsyth.k12.ga.us"]  # fmt: skip


def _distance(name, mine, theirs, most):
    common = len(mine & theirs)
    if not common:
        return 1.0
    return (
        1.0
        - {
            "intersect": common / most,
            "jaccard": common / len(mine | theirs),
            "dice": 2 * common / (len(mine) + len(theirs)),
            "cosine": common / math.sqrt(len(mine) * len(theirs)),
            "max inclusion": common / min(len(mine), len(theirs)),
        }[name]
    )


def _check(matrix, threshold, constraints):
    """CheckConstraint: no value has two keys, and no key two values."""
    near = matrix <= threshold
    return near.sum(axis=1).max() <= 1 and (constraints == 1 or near.sum(axis=0).max() <= 1)


def _brute(values, keys, blocks, constraints):
    """The greatest number of keys over all configurations, and the pairs of the first that has it."""
    best = 0, None, set()
    for token_name, tokenise in TOKENISATIONS.items():
        sets = [[frozenset(tokenise(text)) for text in side] for side in (values, keys)]
        same = np.equal.outer(*blocks)
        most = max([len(a & b) for i, a in enumerate(sets[0]) for j, b in enumerate(sets[1]) if same[i, j]] + [1])
        for name in DISTANCES:
            matrix = np.array([[_distance(name, a, b, most) for b in sets[1]] for a in sets[0]])
            matrix = np.where(same, matrix, 1.0)
            steps = [step / 2**HALVINGS for step in range(1, 2**HALVINGS)]
            allowed = [step for step in steps if _check(matrix, step, constraints)]
            if allowed:
                near = matrix <= allowed[-1]
                covered = int(near.any(axis=0).sum())
                if covered > best[0]:
                    best = covered, (token_name, name, allowed[-1]), set(zip(*np.nonzero(near), strict=True))
    return best


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([1, 2]), st.booleans())
def test_it_equals_brute_force(values, keys, constraints, blocked):
    blocks = tuple(np.arange(len(side)) % (2 if blocked else 1) for side in (values, keys))
    found, chosen = constrained_pairs(values, keys, blocks, HALVINGS, constraints)
    covered, configuration, pairs = _brute(values, keys, blocks, constraints)
    assert (chosen is None) == (covered == 0)
    if chosen is not None:
        assert (chosen.keys, chosen[:3]) == (covered, configuration)
        assert set(zip(found.values.tolist(), found.keys.tolist(), strict=True)) == pairs


def test_the_example_of_the_thesis():
    """Two spellings of one address join, and no threshold is so lax that a second address does."""
    theirs = [text.replace("mpayne", "mipayne") for text in EMAILS]
    joined, chosen = vars(constrained_join(EMAILS, theirs)).values()
    assert [match[:2] for match in joined] == list(zip(EMAILS, theirs, strict=True))
    assert chosen.keys == 5 and chosen.words.startswith("Tokens: ")


def test_two_similar_keys_forbid_every_join():
    _, chosen = constrained_pairs(["a b"], ["b a", "a  b"], halvings=10)
    assert chosen is None or chosen.tokenisation not in ("word", "split")
    joined = constrained_join(["ab", "AB"], ["ab"]).matches
    assert [match[:2] for match in joined] == [("ab", "ab")]  # as they are written, one of the two is equal
    assert constrained_join(["x"], ["y"]).work is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"constraints": 3}, "`constraints` 1 or 2"), ({"halvings": 0}, "`halvings` must be at least 1")],
)
def test_what_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        constrained_join(["a"], ["a"], **options)
