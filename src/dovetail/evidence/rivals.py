"""What other references say about one: decided together, a column refers to one key, and a table has one.

Asked of the few best targets of each column, once all pairs have been measured alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._types import Array

RIVAL_FEATURES = (
    "beaten", "ahead", "called_beaten", "called_ahead", "key_of_table", "namesakes_share", "target_refers",
    "share_of_targets",
)  # fmt: skip
_MOST_ODDS = 12.0  # log-odds beyond which one is as sure as another
_MOST_AHEAD = 8.0
_LEAST_MASS = 0.01  # expected references to a table below which nobody refers to it


class Contest(NamedTuple):
    """References that are decided together, an entry for each."""

    ones: Array  # what refers: the number of a column, or of several together
    others: Array  # what it refers to
    odds: Array  # log-odds of each alone
    called: Array  # how far one is named after the other
    name: Array  # the number of the name of `ones`
    table: Array  # the number of the table of `others`
    is_own_key: Array  # whether `others` is a key that is named after its table, or just "id"


def rival_features(contest: Contest) -> Array:
    """One row for each reference, one column for each of `RIVAL_FEATURES`."""
    ones, others = contest.ones, contest.others
    odds = np.clip(contest.odds, -_MOST_ODDS, _MOST_ODDS)
    probability = 1 / (1 + np.exp(-odds))
    rival, rival_called = best_of_others(ones, odds), best_of_others(ones, contest.called)
    alone = np.isnan(rival)
    rival, rival_called = np.where(alone, odds, rival), np.where(alone, contest.called, rival_called)
    expected = probability * (odds >= rival)  # references, by the best target of each
    to_other = _sum_of_others(others, expected)
    to_table = _sum_of_others(contest.table, expected)
    _, pairs = np.unique(np.stack([contest.name, others], axis=1), axis=0, return_inverse=True)
    namesakes = _sum_of_others(pairs.ravel(), np.ones(len(ones)))
    _, first = np.unique(ones, return_index=True)
    with_name = np.bincount(contest.name[first], minlength=int(contest.name.max(initial=0)) + 1)[contest.name] - 1
    found = {
        "beaten": np.clip(rival - odds, 0, _MOST_AHEAD),
        "ahead": np.clip(odds - rival, 0, _MOST_AHEAD),
        "called_beaten": np.clip(rival_called - contest.called, 0, 1),
        "called_ahead": np.clip(contest.called - rival_called, 0, 1),
        "key_of_table": np.where(to_table > _LEAST_MASS, to_other / np.maximum(to_table, _LEAST_MASS), 0.0),
        "namesakes_share": namesakes / np.maximum(with_name, 1),
        "target_refers": _best_reference(ones, others, probability) * (1 - contest.is_own_key),
        "share_of_targets": np.maximum(odds - _log_sums(ones, odds), -_MOST_AHEAD),
    }
    assert tuple(found) == RIVAL_FEATURES
    rows: Array = np.stack([np.asarray(values, np.float64) for values in found.values()], axis=1)
    return rows


def best_of_others(groups: Array, values: Array) -> Array:
    """For each entry, the greatest value of the others of its group; NaN where it is alone."""
    order = np.lexsort((-values, groups))
    ordered, sorted_groups = values[order], groups[order]
    first = np.searchsorted(sorted_groups, sorted_groups)
    alone = np.searchsorted(sorted_groups, sorted_groups, side="right") - first == 1
    second = ordered[np.minimum(first + 1, max(0, len(ordered) - 1))]
    found = np.empty(len(values))
    found[order] = np.where(alone, np.nan, np.where(np.arange(len(order)) == first, second, ordered[first]))
    return found


def share_among_targets(ones: Array, probability: Array) -> Array:
    """Probabilities of which those of one column sum up to 1 at most: it refers to one thing."""
    _, groups = np.unique(ones, return_inverse=True)
    whole: Array = probability / np.maximum(1.0, np.bincount(groups, weights=probability)[groups])
    return whole


def _sum_of_others(groups: Array, values: Array) -> Array:
    _, numbers = np.unique(groups, return_inverse=True)
    return np.maximum(0.0, np.bincount(numbers, weights=values)[numbers] - values)


def _log_sums(groups: Array, odds: Array) -> Array:
    """For each entry, the logarithm of the sum of the odds of its group, whose logarithms are given."""
    _, numbers = np.unique(groups, return_inverse=True)
    sums: Array = np.log(np.bincount(numbers, weights=np.exp(odds))[numbers])
    return sums


def _best_reference(ones: Array, others: Array, probability: Array) -> Array:
    """How likely the target itself refers to something."""
    best = np.zeros(int(max(ones.max(initial=0), others.max(initial=0))) + 1)
    np.maximum.at(best, ones, probability)
    found: Array = best[others]
    return found
