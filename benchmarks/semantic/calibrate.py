"""Fit what a cosine means for each embedder, and measure it on families that were left out.

    python benchmarks/semantic/calibrate.py TRUTH LAKE [--embedders ngrams,words,sentences] [--write]

TRUTH is the folder of `same_things.py`, LAKE a folder of CSV files. An example is a value and the value of another
column that is most similar to it, if the two are not equal: of the column where it may be found, in both directions,
and of an unrelated column of the lake. It is right where the truth says that both name the same thing; what an
unrelated column has is wrong, and counts as much as the column where it may be found. Sources count the same. Pairs of
AutoJoin are reported but not fitted: there one rule relates all values of a column ("Hebei", "Hebei Province"), which
says nothing about a pair alone. Families are left out, an eighth at a time; so are whole sources.

Joined: F1 of `dovetail join --by semantic` with curves that were fitted without the family, mean over families, and
what it joins of unrelated columns, as a share of the smaller one.
--write fits everything and stores `src/dovetail/embedders/NAME.json`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "judgement"))
from logistic import fit_logistic
from same_things import Case, cases, lake_columns

from dovetail._types import Array
from dovetail.embedders.calibration import RELATIONS, Curves
from dovetail.indexes.pexeso.core import Space, TextVectors, VectorParameters, texts_among
from dovetail.join.choose import join_tables
from dovetail.join.request import JoinRequest
from dovetail.tables.input_table import open_table

_QUERIES = 200  # values of a column, and those of the column that they are compared with: enough, and soon done
_COLUMN = 1_500
_NEAREST = 5  # of a value, among which the most similar one is an example
_FOLDS = 8
_RIDGE = 1.0  # arbitrary; others were not tried
_ROUNDS = 2  # of fitting, and choosing the most similar value by what was fitted
_LARGEST = 8_000  # values of a column that is joined, and pairs of columns of a family: soon done
_CASES = 5
_DEFAULT = 0.5  # as likely as not; the best F1 on families that were left out is within .007 of the one here
_REPORTED_ONLY = "AutoJoin"
_SEED = 0
_STORED = Path(__file__).resolve().parents[2] / "src/dovetail/embedders"


@dataclass
class Examples:
    """Values with their nearest, one row for each of a few: where they come from, and what is known of them."""

    source: Array
    fold: Array
    related: Array
    query: Array
    cosine: Array
    relation: Array
    right: Array

    @property
    def fitted(self) -> Array:
        return self.source != _REPORTED_ONLY

    def weights(self, chosen: Array) -> Array:
        """Sources count the same, and in each the related and the unrelated columns."""
        _, group = np.unique(np.char.add(self.source, np.where(self.related, "+", "-")), return_inverse=True)
        sizes = np.bincount(group[chosen], minlength=group.max() + 1)
        return np.where(chosen, 1.0 / np.maximum(sizes[group], 1), 0.0)

    def most_similar(self, scores: Array) -> Array:
        """A mask: of each value its best row."""
        order = np.lexsort((-scores, self.query))
        first = np.append(True, np.diff(self.query[order]) != 0)
        found = np.zeros(len(order), bool)
        found[order[first]] = True
        return found


class Embedded:
    """Texts that were embedded once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: dict[str, Array] = {}

    def __call__(self, texts: list[str]) -> TextVectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._space.dense(pa.array(new, pa.large_string()))
            if self._space.is_sparse:  # fast to compute, and too large to keep
                known = dict(zip(new, vectors, strict=True))
            else:
                self._known.update(zip(new, vectors, strict=True))
        known = known if new and self._space.is_sparse else self._known
        return TextVectors(
            np.array([known[text] for text in texts]), self._space.words(pa.array(texts, pa.large_string()))
        )


def examples_of(space: Space, all_cases: list[Case], lake: list[list[str]]) -> Examples:
    chance = random.Random(_SEED)
    folds = _folds(all_cases)
    embedded = Embedded(space)
    rows: list[tuple[Array, ...]] = []
    queries = 0
    for case in all_cases:
        for turned in (False, True):
            mine, theirs = (case.right, case.left) if turned else (case.left, case.right)
            same = {(b, a) for a, b in case.same} if turned else case.same
            strange = chance.choice([column for column in lake if not set(column) & set(mine)])
            asked = _some(_texts(mine, set(theirs)), _QUERIES, chance)
            found = {b for a, b in same if a in set(asked)}
            column = sorted({*_some(_texts(theirs), _COLUMN, chance), *found} & set(_texts(theirs)))
            for related, places, values in ((True, column, theirs), (False, _texts(strange), strange)):
                if not asked or not places:
                    continue
                one, other = embedded([mine[place] for place in asked]), embedded([values[place] for place in places])
                products = np.asarray(one.vectors) @ np.asarray(other.vectors).T
                near = np.argsort(-products, axis=1, kind="stable")[:, :_NEAREST]
                query, at = np.repeat(np.arange(len(asked)), near.shape[1]), near.ravel()
                right = [related and (asked[a], places[b]) in same for a, b in zip(query, at, strict=True)]
                rows.append((
                    np.full(len(at), case.source, "U12"), np.full(len(at), folds[case.family]),
                    np.full(len(at), related), query + queries, products[query, at].astype(np.float64),
                    one.words.relations(query, other.words, at), np.array(right, float),
                ))  # fmt: skip
                queries += len(asked)
    return Examples(*(np.concatenate(part) for part in zip(*rows, strict=True)))


def _folds(all_cases: list[Case]) -> dict[str, int]:
    families = sorted({case.family for case in all_cases})
    random.Random(_SEED).shuffle(families)
    return {family: number % _FOLDS for number, family in enumerate(families)}


def _texts(values: list[str], without: set[str] | None = None) -> list[int]:
    marks = texts_among(pa.array(values, pa.large_string()))
    return [place for place in np.flatnonzero(marks).tolist() if values[place] not in (without or ())]


def _some(places: list[int], most: int, chance: random.Random) -> list[int]:
    return places if len(places) <= most else sorted(chance.sample(places, most))


def fit(examples: Examples, used: Array) -> Curves:
    scores = examples.cosine
    for _ in range(_ROUNDS):
        chosen = examples.most_similar(scores) & used
        weights = examples.weights(chosen)
        weights *= chosen.sum() / weights.sum()
        curves = []
        for relation in range(len(RELATIONS)):
            rows = np.flatnonzero(chosen & (examples.relation == relation))
            intercept, slope = fit_logistic(examples.cosine[rows, None], examples.right[rows], weights[rows], _RIDGE)
            assert slope[0] > 0, f"{RELATIONS[relation]}: similarity must rise with the cosine"
            curves.append((intercept, float(slope[0])))
        prior = np.average(examples.right[chosen], weights=weights[chosen])
        found = Curves(*np.array(curves).T, _DEFAULT, float(prior))
        scores = found.similarities(examples.cosine, examples.relation)
    return found


def left_out(examples: Examples, groups: Array) -> Array:
    """The similarity of each row, by curves that were fitted without its group."""
    found = np.zeros(len(groups))
    for group in np.unique(groups):
        out = groups == group
        curves = fit(examples, examples.fitted & ~out)
        found[out] = curves.similarities(examples.cosine[out], examples.relation[out])
    return found


def f1(likely: Array, right: Array, weights: Array, level: float) -> tuple[float, float, float]:
    told = likely >= level
    hits = float((weights * told * right).sum())
    said, true = float((weights * told).sum()), float((weights * right).sum())
    return hits / max(said, 1e-12), hits / max(true, 1e-12), 2 * hits / max(said + true, 1e-12)


def report(name: str, examples: Examples, similarities: Array) -> None:
    chosen = examples.most_similar(similarities)
    weights = examples.weights(chosen & examples.fitted)
    rows = np.flatnonzero(weights)
    likely, right, share = similarities[rows], examples.right[rows], weights[rows] / weights.sum()
    error = 0.0
    print(f"  {name}: told, right, share of the examples")
    for number in range(10):
        inside = np.minimum((likely * 10).astype(int), 9) == number
        if inside.any():
            told, true = (np.average(part[inside], weights=share[inside]) for part in (likely, right))
            error += share[inside].sum() * abs(told - true)
            print(f"    {told:.2f}  {true:.2f}  {share[inside].sum():.3f}")
    levels = np.arange(0.05, 1.0, 0.05)
    best = max(levels, key=lambda level: f1(likely, right, share, level)[2])
    print(f"    calibration error {error:.3f}; F1 at {_DEFAULT}: {f1(likely, right, share, _DEFAULT)[2]:.3f}", end="")
    print(f"; best F1 {f1(likely, right, share, best)[2]:.3f} at {best:.2f}")
    for source in np.unique(examples.source):
        some = chosen & (examples.source == source)
        numbers = f1(similarities[some], examples.right[some], examples.weights(some)[some], _DEFAULT)
        print("    {:10} P {:.3f}  R {:.3f}  F1 {:.3f}".format(source, *numbers), flush=True)


def cosine_alone(examples: Examples) -> Array:
    """One curve for all relations, left out by family: what the relations add to."""
    found = np.zeros(len(examples.fold))
    for fold in range(_FOLDS):
        used = examples.most_similar(examples.cosine) & examples.fitted & (examples.fold != fold)
        weights = examples.weights(used)[used]
        weights *= len(weights) / weights.sum()
        intercept, slope = fit_logistic(examples.cosine[used, None], examples.right[used], weights, _RIDGE)
        out = examples.fold == fold
        found[out] = 1 / (1 + np.exp(-(intercept + slope[0] * examples.cosine[out])))
    return found


class Recalibrated:
    """An embedder with other curves."""

    def __init__(self, embedder: Any, curves: Curves) -> None:
        self._embedder, self.calibration = embedder, curves

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


def report_joins(space: Space, examples: Examples, all_cases: list[Case], lake: list[list[str]]) -> None:
    chance = random.Random(_SEED)
    folds, embedder = _folds(all_cases), space.embedder
    fitted = [fit(examples, examples.fitted & (examples.fold != fold)) for fold in range(_FOLDS)]
    found: dict[str, dict[str, list[Any]]] = {}
    wrong = []
    for case in all_cases:
        done = found.setdefault(case.source, {}).setdefault(case.family, [])
        if max(len(case.left), len(case.right)) > _LARGEST or len(done) == _CASES:
            continue
        space.embedder = Recalibrated(embedder, fitted[folds[case.family]])
        pairs = _joined(case.left, case.right, space)
        right = len(pairs & case.same)
        done.append((right / max(len(pairs), 1), right / len(case.same), 2 * right / (len(pairs) + len(case.same))))
        strange = chance.choice([column for column in lake if not set(column) & set(case.left)])
        wrong.append(len(_joined(case.left, strange, space)) / min(len(case.left), len(strange)))
    space.embedder = embedder
    print("  joined")
    for source, families in found.items():
        numbers = np.mean([np.mean(numbers, axis=0) for numbers in families.values() if numbers], axis=0)
        print("    {:10} P {:.3f}  R {:.3f}  F1 {:.3f}".format(source, *numbers))
    print(f"    of unrelated columns {np.mean(wrong):.4f}", flush=True)


def _joined(left: list[str], right: list[str], space: Space) -> set[tuple[int, int]]:
    tables = [open_table({"value": side}) for side in (left, right)]
    pairs = join_tables(*tables, JoinRequest(on="value", by="semantic"), space).pairs
    return set(zip(pairs["left_row"].to_pylist(), pairs["right_row"].to_pylist(), strict=True))


def store(space: Space, curves: Curves, data: list[str]) -> None:
    stored = {
        "made_by": {
            "program": "benchmarks/semantic/calibrate.py",
            "data": data,
            "date": datetime.date.today().isoformat(),
        },
        "version": space.embedder.version,
        "default": _DEFAULT,
        "prior": round(curves.prior, 4),
        "curves": {
            relation: [round(float(curves.intercepts[number]), 4), round(float(curves.slopes[number]), 4)]
            for number, relation in enumerate(RELATIONS)
        },
    }
    path = _STORED / f"{space.embedder.name}.json"
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"  wrote {path.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--embedders", default="ngrams,words,sentences")
    parser.add_argument("--write", action="store_true", help="store the curves that are fitted to everything")
    options = parser.parse_args()
    lake = lake_columns(options.lake)
    all_cases = cases(options.truth, lake)
    for name in options.embedders.split(","):
        space = VectorParameters.chosen(name).space()
        examples = examples_of(space, all_cases, lake)
        print(f"{name}: {len(np.unique(examples.query)):,} values, {len(all_cases)} pairs of columns", flush=True)
        report("cosine alone, families left out", examples, cosine_alone(examples))
        report("families left out", examples, left_out(examples, examples.fold))
        report("sources left out", examples, left_out(examples, examples.source))
        report_joins(space, examples, all_cases, lake)
        curves = fit(examples, examples.fitted)
        for number, relation in enumerate(RELATIONS):
            least = -curves.intercepts[number] / curves.slopes[number]
            print(
                f"    {relation:18} {curves.intercepts[number]:8.3f} {curves.slopes[number]:8.3f}   0.5 at {least:.3f}"
            )
        if options.write:
            data = sorted({*np.unique(examples.source[examples.fitted]).tolist(), "columns of a lake"})
            store(space, curves, data)


if __name__ == "__main__":
    main()
