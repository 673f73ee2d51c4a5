"""Fits the `join` model, and reports how right it is on databases and data sets that it was not fitted on.

    python benchmarks/judgement/fit.py MEASURED ... [--write] [--cases]

MEASURED are files of `measure.py`. Groups (databases, data sets) are dealt into folds; a case is judged by a model that
was fitted without the folds of its groups. With --write, the model that is fitted on all cases is stored in the package.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from cases import f1
from logistic import fit_logistic
from measure import MeasuredCase, read_measured

from dovetail._types import Array
from dovetail.evidence.features import FEATURES

FOLDS = 10
PENALTY = 3.0
LIKELY = 0.5
NOT_USED = ("near", "same_table")
"""Features of a lake, which two tables do not have."""
BINS = 10
RESAMPLES = 1_000
SHARES = {
    "declared keys": 1.0,
    "strangers": 1.0,
    "AutoJoin": 0.5,
    "All_TDE": 0.2,
    "autofj": 0.5,
    "autofj with ids": 0.5,
}
"""How much a family counts in the fit, set beforehand: questions that people ask often more than puzzles."""
OTHER_SHARE = 0.1


def fold_of(groups: Iterable[str]) -> dict[str, int]:
    """Dealt in the order of their names, data sets of one kind over all folds."""
    return {group: place % FOLDS for place, group in enumerate(sorted(set(groups)))}


class Fitter:
    """Fits models that leave folds out, each once."""

    def __init__(self, cases: list[MeasuredCase]) -> None:
        self._cases = [case for case in cases if len(case.scores)]
        self.folds = fold_of(group for case in cases for group in case.groups)
        self._used = np.array([feature not in NOT_USED for feature in FEATURES])
        self.without = cache(self._fit)

    def _fit(self, left_out: frozenset[int]) -> tuple[float, Array]:
        chosen = [case for case in self._cases if not left_out & {self.folds[group] for group in case.groups}]
        number: dict[str, int] = defaultdict(int)
        for case in chosen:
            number[case.family] += 1
        features = np.concatenate([case.features for case in chosen]) * self._used
        labels = np.concatenate([np.array(list(map(f1, case.scores.tolist()))) for case in chosen])
        # A case counts the same however many candidates it has; of many, most are like others.
        weights = np.concatenate(
            [
                np.full(len(case.scores), SHARES.get(case.family, OTHER_SHARE) / number[case.family])
                / np.sqrt(len(case.scores))
                for case in chosen
            ]
        )
        return fit_logistic(features, labels, weights * len(weights) / weights.sum(), PENALTY)

    def probabilities(self, case: MeasuredCase) -> Array:
        intercept, weights = self.without(frozenset(self.folds[group] for group in case.groups))
        found: Array = 1 / (1 + np.exp(-np.clip(intercept + case.features @ weights, -30, 30)))
        return found


def judged(fitter: Fitter, case: MeasuredCase) -> tuple[float, tuple[float, float] | None, int]:
    """The probability of the best candidate, its precision and recall if it is taken, and its place."""
    if not len(case.scores):
        return 0.0, None, -1
    chances = fitter.probabilities(case)
    best = int(chances.argmax())
    taken = chances[best] >= LIKELY
    return float(chances[best]), tuple(case.scores[best].tolist()) if taken else None, best


def report(fitter: Fitter, cases: list[MeasuredCase], every: bool) -> None:
    families: dict[str, dict[str, list[tuple[float, tuple[float, float] | None]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    told: list[tuple[float, float]] = []
    for case in cases:
        chance, score, best = judged(fitter, case)
        families[case.family][case.groups[0]].append((chance, score))
        right = f1(score) if score else None
        nothing_is_right = case.family == "strangers" or not max(map(f1, case.scores.tolist()), default=0)
        told.append((chance, right) if right is not None else (1 - chance, float(nothing_is_right)))
        if every:
            what = f"{case.by[best]} {case.columns[best]}" if best >= 0 else "nothing"
            print(
                f"  {case.family:16}{case.name[:50]:52}{chance:6.2f} {'–' if right is None else f'{right:.2f}':>5} {what[:80]}"
            )
    print(
        f"{'family':18}{'groups':>7}{'cases':>7}{'precision':>11}{'recall':>8}{'F1':>7}{'95% interval':>16}{'taken':>7}"
    )
    for family, groups in families.items():
        means = np.array([np.mean([f1(s) if s else 0.0 for _, s in group]) for group in groups.values()])
        draws = np.random.default_rng(1).choice(means, (RESAMPLES, len(means))).mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        all_scores = [score for group in groups.values() for _, score in group]
        taken = [score for score in all_scores if score]
        precision = np.mean([score[0] for score in taken]) if taken else 0.0
        recall = np.mean([score[1] if score else 0.0 for score in all_scores])
        print(
            f"{family:18}{len(groups):7}{len(all_scores):7}{precision:11.3f}{recall:8.3f}{means.mean():7.3f}"
            f"   {low:.3f} to {high:.3f}{len(taken) / len(all_scores):7.2f}"
        )
    reliability(told)


def reliability(told: list[tuple[float, float]]) -> None:
    """Of the answers told with some probability, how many are right: ten bins of equal size."""
    chances, rights = np.array(sorted(told)).T
    error = 0.0
    print("told   right  answers")
    for some in np.array_split(np.arange(len(chances)), BINS):
        error += abs(chances[some].mean() - rights[some].mean()) * len(some) / len(chances)
        print(f"{chances[some].mean():.3f}  {rights[some].mean():.3f}{len(some):8}")
    print(f"expected calibration error {error:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cases", action="store_true", help="print every case")
    options = parser.parse_args()
    cases = [case for path in options.measured for case in read_measured(path).values()]
    fitter = Fitter(cases)
    report(fitter, cases, options.cases)
    if options.write:
        intercept, weights = fitter.without(frozenset())
        stored = {
            "made_by": {
                "program": "benchmarks/judgement/fit.py",
                "date": datetime.date.today().isoformat(),
                "data": sorted({case.family for case in cases}),
                "cases": len(cases),
            },
            "intercept": round(intercept, 4),
            "weights": {name: round(value, 4) for name, value in zip(FEATURES, weights.tolist(), strict=True) if value},
        }
        path = resources.files("dovetail.evidence").joinpath("join.json")
        Path(str(path)).write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
