"""Fit how likely a join through the lake is right where nobody asked for it, and measure it on cases left out.

    python benchmarks/judgement/fit_through.py TRUTH INDEX [--write]

Right are the pairs of SEMA-JOIN and DataXFormer, as far as the joined values are; wrong are pairs of tables of
different databases, and those that a transformation joins (Auto-Join, TDE, FlashFill) where tables of the lake join
others. Only columns of texts count: small numbers occur beside anything, so they never join through the lake unasked.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from cases import Case, strangers, transformed
from logistic import fit_logistic

import dovetail
from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.evidence.thresholds import LIKELY_THROUGH
from dovetail.join.through import through_keys
from dovetail.through.mapping import FEATURES, mapping_features

_SEED = 7
_SECONDS = 10.0  # the default of `join`
_PENALTY = 0.3  # arbitrary; there are few cases
_STORED = Path(__file__).resolve().parents[2] / "src/dovetail/evidence/join_through.json"


@dataclass(frozen=True)
class Answer:
    family: str
    features: Array
    precision: float


def cases(truth: Path) -> Iterator[tuple[str, Case]]:
    for case in transformed(truth / "semantic_pairs"):
        yield "SEMA-JOIN", case
    for case in transformed(truth / "transform_pairs"):
        yield case.family, case
    for case in strangers(truth / "relational", _SEED):
        yield case.family, case


def answer(lake: dovetail.Lake, family: str, case: Case) -> Answer | None:
    left, right = case.tables()
    found = through_keys(lake.segments, left, right, None, Deadline(_SECONDS), unasked=True)
    if found is None or not found[2]:
        return None
    (mine, theirs), keys, mapping = found
    joined = SimpleNamespace(joined=0, keys=lambda: keys, columns=((mine,), (theirs,)), by="through")
    return Answer(family, mapping_features(mapping), case.score(joined)[0])  # type: ignore[arg-type]


def fitted(answers: list[Answer]) -> tuple[float, Array]:
    features, right = np.array([each.features for each in answers]), np.array([each.precision for each in answers])
    return fit_logistic(features, right, np.ones(len(answers)), _PENALTY)


def left_out(answers: list[Answer]) -> Array:
    """The probability of each answer, by a model that was fitted to the others."""
    likely = np.zeros(len(answers))
    for place, each in enumerate(answers):
        intercept, weights = fitted([*answers[:place], *answers[place + 1 :]])
        likely[place] = 1 / (1 + np.exp(-intercept - each.features @ weights))
    return likely


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("truth", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--write", action="store_true", help="store the model of all cases")
    options = parser.parse_args()
    lake = dovetail.Lake(options.index)
    asked: Counter[str] = Counter()
    answers = []
    for family, case in cases(options.truth):
        asked[family] += 1
        if found := answer(lake, family, case):
            answers.append(found)
    likely, right = left_out(answers), np.array([each.precision for each in answers])
    print("family        cases  columns found  joined  precision")
    for family in asked:
        mine = np.array([each.family == family for each in answers])
        taken = mine & (likely >= LIKELY_THROUGH)
        precision = f"{right[taken].mean():.2f}" if taken.any() else "-"
        print(f"{family:13s} {asked[family]:5d} {mine.sum():14d} {taken.sum():7d} {precision:>10s}")
    error = float(((likely - right) ** 2).mean())
    print(f"mean probability {likely.mean():.3f}, right {right.mean():.3f}, squared error {error:.3f}")
    if options.write:
        intercept, weights = fitted(answers)
        typical = np.mean([each.features for each in answers], axis=0)
        stored = {
            "made_by": {
                "program": "benchmarks/judgement/fit_through.py",
                "data sets": sorted(asked),
                "cases": len(answers),
                "date": datetime.date.today().isoformat(),
            },
            "intercept": round(intercept, 4),
            "weights": dict(zip(FEATURES, np.round(weights, 4).tolist(), strict=True)),
            "typical": dict(zip(FEATURES, np.round(typical, 4).tolist(), strict=True)),
        }
        _STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
