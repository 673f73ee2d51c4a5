"""Fit the model that ranks the hits of a search with no column named, and measure it on databases that were left out.

    python benchmarks/judgement/fit_search.py INDEX DATABASES [--write]

INDEX and DATABASES are those of search.py, which also says what counts as right. Databases are left out three at a
time: a model is fitted to the others, and the whole search answers the questions with it. Each question is asked twice,
as a file of the lake and from outside of it, so that the place of a file helps where it is known and is not needed.
--write fits all databases and stores `src/dovetail/evidence/search.json`.

A logistic model is too sure of databases that it does not know. Its log-odds are scaled so that the probabilities of
the hits fit where their databases were left out; the order of the hits stays.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from search import (
    Answer,
    Question,
    References,
    ask,
    figures,
    how_right,
    lists_my_names,
    questions,
    references_of,
    report,
    table_paths,
)

import dovetail
from dovetail._model import Model
from dovetail._types import Array
from dovetail.evidence.features import TEXT
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.search.overlap import search as column_search
from dovetail.search.overlap.evidence import Evidence
from dovetail.search.ranking.features import FEATURES, Pairs
from dovetail.search.ranking.rank import Ranker
from dovetail.tables.input_table import InputTable, open_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_LEFT_OUT = 3  # databases
_SHORTLIST = 40  # tables whose pairs of columns are examples
_POOR = column_search.SHOWN_HIT
_RIDGE = 3.0  # arbitrary: 0.3 to 30 differ by less than .01
_STEPS = 25
_WRONG_OF = 5  # one in so many wrong pairs is an example, and stands for the others
_SEED = 0
_STORED = Path(__file__).resolve().parents[2] / "src/dovetail/evidence/search.json"

SIGNS = {
    "contained": 1, "matched": 1, "missing": -1, "partners_there": -1, "unique_there": 1, "bits": 1, "chance": -1,
    "from_one": -1, "integer": -1, "real": -1, "date": -1, "flag": -1, "same_kind": 1, "length_differs": -1,
    "called": 1, "same_name": 1, "generic_there": 0, "leading_there": 1, "first_there": 1, "filled_there": 1, "near": 1,
    "rare_values": 1, "rare_bits": 1, "rivals": -1, "rare_name": 1, "called_alike": 1, "shared_names": 1,
    "shared_values": 1, "lookup": 1, "near_called": 1, "near_key": 1, "called_key": 1, "contained_key": 1,
    "called_back": 1, "ends_alike": 1, "ends_alike_key": 1,
}  # fmt: skip
"""The features that may have a weight, and the sign that their meaning allows; 0 for both.

Others (the size of either table, the place of my column, how many columns a table has) say how databases are made
rather than what joins: without them, more is found in databases that were left out. Numbers are never better evidence
than texts: databases use them for keys, but other tables for anything.
"""

FIRST_WEIGHTS = {"contained": 3, "near": 4, "called": 4, "unique_there": 2, "leading_there": 1, "same_name": 1,
                 "near_called": 2, "rare_values": 2, "chance": -1}  # fmt: skip
"""Of the model that draws up the shortlists for the examples; set by hand before anything was fitted."""


@dataclass(frozen=True)
class Example:
    """The pairs of columns of one question."""

    database: str
    features: Array
    right: Array  # from 0 to 1; NaN: does not count


def first_model() -> Model:
    weights = np.array([float(FIRST_WEIGHTS.get(name, 0)) for name in FEATURES])
    return Model("first", FEATURES, 0.0, weights, np.zeros(len(FEATURES)), {})


class Examples:
    """Asks an open lake for the pairs of columns of its most promising tables."""

    def __init__(self, lake: dovetail.Lake) -> None:
        self._lake = LakeColumns(lake.segments)
        self._paths = [Path(path) for path in self._lake.paths.to_pylist()]
        self._model = first_model()

    def of_databases(self, folder: Path) -> Iterator[Example]:
        for question in questions(folder):
            known = references_of(folder / question.database)
            for outside in (False, True):
                yield self._example(question, outside, known)

    def _pairs(self, query: Path, outside: bool) -> tuple[InputTable, Pairs, Array]:
        table = open_table(query)
        segments = self._lake.segments
        allowed = np.concatenate([segment.allowed((), str(query))[segment.table_of] for segment in segments])
        if outside:
            table.path = table.address = None
        evidence = [Evidence(segments, column) for column in table.columns]
        ranker = Ranker(self._lake, table, allowed, evidence, [1] * len(evidence))
        ranker.find()
        return table, *ranker.counted(self._lake.table_of[ranker.promising(self._model)[:_SHORTLIST]])

    def _example(self, question: Question, outside: bool, known: References) -> Example:
        table, pairs, features = self._pairs(question.query, outside)
        tables = [self._paths[place] for place in self._lake.table_of[pairs.theirs].tolist()]
        mine = [table.names[place] for place in pairs.mine.tolist()]
        repeats = (pairs.joined > pairs.rows_here).tolist()
        told = zip(mine, tables, self._lake.names_of(pairs.theirs).to_pylist(), repeats, strict=True)
        right = np.array([how_right(known, question.query, *each) for each in told])
        is_text = np.array([column.is_text for column in table.columns], bool)[pairs.mine]
        is_text &= self._lake.side(pairs.theirs, np.zeros(len(mine))).kind == TEXT
        sizes = np.array([column.size for column in table.columns])[pairs.mine]
        names = lists_my_names(is_text, pairs.joined > pairs.rows_here, pairs.keys / sizes, pairs.keys)
        right[names & (right == 0)] = 1.0
        return Example(question.database, features, right)


def fit(examples: Iterable[Example]) -> Model:
    """Weights of the wrong sign are set to 0 one by one, the largest first, and the others fitted again.

    Questions weigh less the more their database has, by the root of their number: a few databases are large.
    """
    examples = list(examples)
    number = Counter(example.database for example in examples)
    draw = np.random.default_rng(_SEED)
    parts = []
    for example in examples:
        wrong = example.right == 0
        counted = (example.right > 0) | (wrong & (draw.random(len(wrong)) < 1 / _WRONG_OF))
        each = np.where(wrong[counted], _WRONG_OF, 1) * number[example.database] ** -0.5
        parts.append((example.features[counted], example.right[counted], each))
    features, right, weight = (np.concatenate(values) for values in zip(*parts, strict=True))
    signs = np.array([SIGNS.get(name, 0) for name in FEATURES])
    used = np.array([name in SIGNS for name in FEATURES]) & (features.std(axis=0) > 0)
    while True:
        intercept, weights = _logistic(features[:, used], right, weight / weight.mean())
        wrong = weights * signs[used] < 0
        if not wrong.any():
            break
        worst = np.flatnonzero(used)[np.argmax(np.abs(weights * features[:, used].std(axis=0)) * wrong)]
        used[worst] = False
    every = np.zeros(len(FEATURES))
    every[used] = weights
    return Model("search", FEATURES, intercept, every, np.average(features, axis=0, weights=weight), {})


def _logistic(features: Array, right: Array, weight: Array) -> tuple[float, Array]:
    """Logistic regression with a ridge on standardised features, by Newton's method."""
    mean = np.average(features, axis=0, weights=weight)
    deviation = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weight))
    known = np.column_stack([np.ones(len(features)), (features - mean) / deviation])
    ridge = np.diag([1e-6] + [_RIDGE] * features.shape[1])
    found = np.zeros(known.shape[1])
    for _ in range(_STEPS):
        probability = 1 / (1 + np.exp(-np.clip(known @ found, -30, 30)))
        gradient = known.T @ (weight * (probability - right)) + ridge @ found
        curvature = (known * (weight * np.maximum(probability * (1 - probability), 1e-6))[:, None]).T @ known + ridge
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-5:
            break
    weights = found[1:] / deviation
    return float(found[0] - weights @ mean), weights


def folds(databases: Iterable[str]) -> list[set[str]]:
    """Databases in groups, at random."""
    names = sorted(set(databases))
    names = [names[place] for place in np.random.default_rng(_SEED).permutation(len(names))]
    return [set(names[place : place + _LEFT_OUT]) for place in range(0, len(names), _LEFT_OUT)]


def left_out(lake: dovetail.Lake, asked: list[Question], examples: list[Example], outside: Path | None) -> list[Answer]:
    """Every question is answered by the whole search, with a model that was fitted without its database."""
    answers = []
    paths = table_paths(lake)
    column_search.SHOWN_HIT = 0.0  # until the probabilities are scaled
    for fold in folds(example.database for example in examples):
        model = fit(example for example in examples if example.database not in fold)
        column_search.load_model = lambda *_, model=model: model
        answers += [ask(lake, paths, question, outside) for question in asked if question.database in fold]
    return answers


def scale(answers: Iterable[Answer]) -> tuple[float, Array]:
    """The shift and the factor of log-odds with which the probabilities of the hits fit best."""
    hits = [hit for answer in answers for hit in answer.hits if not math.isnan(hit.right)]
    odds = _log_odds(np.array([hit.score for hit in hits]))
    return _logistic(odds[:, None], np.array([hit.right for hit in hits]), np.ones(len(hits)))


def scaled(answers: list[Answer]) -> list[Answer]:
    """Answers with the probabilities as they would be told, each scaled by the other groups of databases."""
    found = []
    for fold in folds(answer.question.database for answer in answers):
        shift, factor = scale(answer for answer in answers if answer.question.database not in fold)
        for answer in answers:
            if answer.question.database in fold:
                scores = 1 / (1 + np.exp(-shift - factor * _log_odds(np.array([hit.score for hit in answer.hits]))))
                told = zip(answer.hits, scores.tolist(), strict=True)
                hits = tuple(replace(hit, score=score) for hit, score in told if score >= _POOR)
                found.append(replace(answer, hits=hits))
    return found


def _log_odds(scores: Array) -> Array:
    bounded = np.clip(scores, 1e-9, 1 - 1e-9)
    odds: Array = np.log(bounded / (1 - bounded))
    return odds


def reliability(answers: Iterable[Answer]) -> float:
    """Of all hits that are shown, in ten groups of the same size: what they are told at, and how many are right.

    Returns the expected calibration error.
    """
    hits = [hit for answer in answers for hit in answer.hits if not math.isnan(hit.right)]
    hits.sort(key=lambda hit: hit.score)
    groups = np.array_split(np.array([(hit.score, hit.right) for hit in hits]), 10)
    error = sum(len(group) * abs(group[:, 0].mean() - group[:, 1].mean()) for group in groups) / len(hits)
    for group in groups:
        print(f"told at {group[:, 0].mean():.2f}: {group[:, 1].mean():.2f} right, of {len(group)}")
    print(f"expected calibration error: {error:.3f}")
    return float(error)


def write(model: Model, shift: float, factor: float, examples: list[Example]) -> None:
    used = [place for place, weight in enumerate(model.weights) if weight]
    made_by = {
        "program": "benchmarks/judgement/fit_search.py",
        "data sets": sorted({example.database for example in examples}),
        "questions": len(examples),
        "date": datetime.date.today().isoformat(),
    }
    stored = {
        "made_by": made_by,
        "intercept": round(shift + factor * model.intercept, 4),
        "weights": {FEATURES[place]: round(factor * float(model.weights[place]), 4) for place in used},
        "typical": {FEATURES[place]: round(float(model.typical[place]), 4) for place in used},
    }
    _STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--write", action="store_true", help="store the model of all databases")
    options = parser.parse_args()
    lake, folder = dovetail.Lake(options.index), options.databases.resolve()
    measure(lake, questions(folder), list(Examples(lake).of_databases(folder)), options.write)


def measure(lake: dovetail.Lake, asked: list[Question], examples: list[Example], store: bool) -> None:
    inside = left_out(lake, asked, examples, None)
    with tempfile.TemporaryDirectory() as copies:
        outside = left_out(lake, asked, examples, Path(copies))
    if store:
        shift, factor = scale([*inside, *outside])
        write(fit(examples), shift, float(factor[0]), examples)
    for title, answers in (("Files of the lake", scaled(inside)), ("Files outside of the lake", scaled(outside))):
        print(f"\n{title}, databases left out")
        report(answers)
        error = reliability(answers)
        if title == "Files of the lake":
            found, databases = figures(answers), asked[0].query.parents[2]
            record(
                strangers=sum(not path.is_relative_to(databases) for path in table_paths(lake).values()),
                questions=len(answers),
                first_ten=found["first 10"],
                first=found["first"],
                calibration_error=error,
            )


if __name__ == "__main__":
    main()
