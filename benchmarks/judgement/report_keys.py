"""How right left-out scores of foreign keys are: F1 at the number of declared keys, and calibration."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from declared_keys import Candidates, Declared

from dovetail._types import Array

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_BINS = 10
_WORTH, _LIKELY = 0.1, 0.5  # probabilities from which on calibration and precision are reported
_DRAWS, _SEED = 2_000, 0  # of the bootstrap
_INTERVAL = (5, 95)  # percent


def found_first(scores: Array, is_true: Array, number: int) -> Array:
    """The places of the true ones among the first."""
    first = np.argsort(-scores, kind="stable")[:number]
    return first[is_true[first] == 1]


def calibration_error(scores: Array, is_true: Array, weights: Array) -> float:
    """Expected calibration error in bins of equal weight."""
    order = np.argsort(scores, kind="stable")
    share = weights[order] / max(weights.sum(), 1e-9)
    bins = np.minimum(_BINS - 1, ((np.cumsum(share) - share / 2) * _BINS).astype(int))
    return float(np.abs(np.bincount(bins, share * (scores - is_true)[order], _BINS)).sum())


def report(
    databases: dict[str, Declared], lakes: Sequence[tuple[Candidates, Array]], partly_declared: Sequence[str]
) -> None:
    """Each database as a lake of its own, then all in one, in folders and flat."""
    names = list(databases)
    totals = np.array([[len(truth.keys), truth.testable] for truth in databases.values()])
    found = np.stack(
        [_within(names, totals, lakes)] + [_in_one(names, totals, *lake) for lake in lakes[len(names) :]], axis=1
    )  # databases × lakes × (all declared, testable)
    shares = found / totals[:, None, :]
    print("| database | declared | testable | within | … testable | one lake | … testable | flat | … testable |")
    print("|:--" + "|--:" * 8 + "|")
    for name, total, share in zip(names, totals.tolist(), shares, strict=True):
        _line(name, total, [f"{value:.2f}" for value in share.ravel()])
    _line("**mean of databases**", totals.sum(axis=0).tolist(), [f"**{v:.3f}**" for v in shares.mean(axis=0).ravel()])
    intervals = [_interval(values) for values in shares.reshape(len(names), -1).T]
    _line("90% interval", ["", ""], ["–".join(f"{bound:.2f}" for bound in interval) for interval in intervals])
    within_share, one_lake_share = shares.mean(axis=0)[:2, 0]
    record(
        databases=len(names),
        within=within_share,
        within_interval=intervals[0],
        one_lake=one_lake_share,
        one_lake_interval=intervals[2],
    )
    whole = found.sum(axis=0) / totals.sum(axis=0)
    _line("all keys", totals.sum(axis=0).tolist(), [f"{value:.3f}" for value in whole.ravel()])
    within = (
        Candidates.join([kept for kept, _ in lakes[: len(names)]]),
        np.concatenate([scores for _, scores in lakes[: len(names)]]),
    )
    for label, (kept, scores) in zip(
        ("within", "one lake", "flat"), (within, *lakes[len(names) :]), strict=True
    ):  # fmt: skip
        every = np.ones(len(kept), bool)
        sure = ~np.isin(kept.database, partly_declared)
        print(f"\n{label}, from {_WORTH} on:")
        _calibration("all", kept, scores, every)
        _calibration("testable", kept, scores, kept.is_testable)
        _calibration(f"without {', '.join(partly_declared)}", kept, scores, sure)


def _within(names: list[str], totals: Array, lakes: Sequence[tuple[Candidates, Array]]) -> Array:
    found = [
        _found(kept, scores, total)[1] for _, total, (kept, scores) in zip(names, totals.tolist(), lakes, strict=False)
    ]
    return np.array(found, float)


def _in_one(names: list[str], totals: Array, kept: Candidates, scores: Array) -> Array:
    places, _ = _found(kept, scores, totals.sum(axis=0).tolist())
    return np.array([[np.sum(kept.database[one] == name) for one in places] for name in names], float)


def _found(kept: Candidates, scores: Array, numbers: list[int]) -> tuple[list[Array], list[int]]:
    """The true ones among the first, of all candidates and of testable ones alone."""
    testable = np.flatnonzero(kept.is_testable)
    places = [
        found_first(scores, kept.is_true, numbers[0]),
        testable[found_first(scores[testable], kept.is_true[testable], numbers[1])],
    ]
    return places, [len(one) for one in places]


def _interval(values: Array) -> list[float]:
    rng = np.random.default_rng(_SEED)
    means = rng.choice(values, (_DRAWS, len(values))).mean(axis=1)
    bounds: list[float] = np.percentile(means, _INTERVAL).tolist()
    return bounds


def _line(name: str, totals: list[object], values: list[str]) -> None:
    print(f"| {name} | " + " | ".join([*map(str, totals), *values]) + " |")


def _calibration(label: str, kept: Candidates, scores: Array, chosen: Array) -> None:
    worth = np.flatnonzero(chosen & (scores >= _WORTH))
    likely = chosen & (scores >= _LIKELY)
    _, group, counts = np.unique(kept.database[worth], return_inverse=True, return_counts=True)
    same = calibration_error(scores[worth], kept.is_true[worth], 1 / counts[group])
    each = calibration_error(scores[worth], kept.is_true[worth], np.ones(len(worth)))
    print(
        f"- {label}: {len(worth):,} candidates, calibration error {same:.3f} with the same weight for each database, "
        f"{each:.3f} for each candidate; {likely.sum():,} from {_LIKELY} on, {kept.is_true[likely].mean():.2f} declared"
    )
