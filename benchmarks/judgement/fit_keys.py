"""Fits the models that rank `inds` and `keys`, and reports how right they are on databases that were left out.

    python benchmarks/judgement/fit_keys.py DATABASES --work FOLDER [--write]

DATABASES has a folder for each database, with `tables/*.csv` and a `truth.json` that lists `foreign_keys` with
`from_table`, `from_columns`, `to_table`, `to_columns`, and `child_distinct`, the number of values of the referring
columns. Each is a lake, and all of them are one, in folders or with the database's name before the table's.
Databases are dealt into folds, and each is judged by models that were fitted on the others. F1 at N: of the N best
references, N the number of declared ones, how many are declared. Keys that the tables do not allow to find (their
target repeats values) count as missed. Testable: keys with one or two values are left out, declared and found ones.
With --write, the models that are fitted on all databases are stored in the package.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np
from declared_keys import Candidates, declared_keys, lakes_of
from report_keys import report
from signed_logistic import fit_signed

from dovetail._types import Array
from dovetail.evidence.references import REFERENCE_FEATURES
from dovetail.evidence.rivals import RIVAL_FEATURES, rival_features, share_among_targets
from dovetail.graph.reference_candidates import TARGETS
from dovetail.graph.score import as_probability

FOLDS = 7
PENALTY = 3.0
WITHIN, ACROSS = 2_000, 600  # false pairs of each database that are drawn for the first model
FALSE_PER_TRUE = 30.0  # weight of the false pairs of a database, to its true ones
PARTLY_DECLARED = ("dolibarr",)
"""Databases in which many columns that are called like a key, and are one, are not declared: of 290 columns named fk_…
62. Those count as wrong when they are found, like any other; but no model learns from them that names mean nothing."""
CALLED_AFTER = 0.25  # from which on a column is called like a key
SEED = 1

FOR = (
    "size_here", "repeats", "id_word_here", "id_of_number_here", "size_there", "own_name_there", "id_word_there",
    "id_of_number_there", "known_there", "contained", "bits", "spread", "same_kind", "near", "theirs_found",
    "tables_similar", "head", "called", "called_by_chance", "covered_from_one", "owner_of_name", "previous", "role",
    "ahead", "called_ahead", "key_of_table", "namesakes_share", "share_of_targets",
)  # fmt: skip
AGAINST = (
    "one_value", "two_values", "real_here", "date_here", "boolean_here", "row_number_here", "key_here",
    "own_key_here", "generic_here", "chance", "numbered_there", "real_there", "date_there", "missing", "from_one",
    "length_differs", "digits_differ", "other_folder", "called_here_key", "covered_of_key", "copy",
    "called_same_table", "beaten", "called_beaten", "target_refers",
)  # fmt: skip
FEATURES = (*REFERENCE_FEATURES, *RIVAL_FEATURES)
SIGNS = np.array([1 if name in FOR else -1 if name in AGAINST else 0 for name in FEATURES])


@dataclass(frozen=True)
class Weights:
    """A fitted model."""

    intercept: float
    weights: Array

    def log_odds(self, features: Array) -> Array:
        return np.clip(self.intercept + features @ self.weights, -30, 30)


def drawn(candidates: Candidates, rng: np.random.Generator) -> tuple[Array, Array]:
    """All true candidates and some false ones of each database, and how many each stands for."""
    places, standing = [np.flatnonzero(candidates.is_true)], [np.ones(int(candidates.is_true.sum()))]
    within = candidates.database == candidates.other
    for name in np.unique(candidates.database):
        for group, most in ((within, WITHIN), (~within, ACROSS)):
            false = np.flatnonzero((candidates.database == name) & group & (candidates.is_true == 0))
            chosen = rng.choice(false, min(most, len(false)), replace=False)
            places.append(chosen)
            standing.append(np.full(len(chosen), len(false) / max(1, len(chosen))))
    return np.concatenate(places), np.concatenate(standing)


def balanced(database: Array, is_true: Array, standing: Array) -> Array:
    """Weights by which a database counts as the root of its declared keys, and false pairs not beyond measure."""
    weights = standing.copy()
    for name in np.unique(database):
        mine = database == name
        true = np.maximum(1, np.sum(is_true[mine]))
        weights[mine & (is_true == 1)] = 1 / np.sqrt(true)
        false = mine & (is_true == 0)
        weights[false] *= FALSE_PER_TRUE * np.sqrt(true) / max(weights[false].sum(), 1e-9)
    return weights * len(weights) / weights.sum()


def fit(features: Array, database: Array, is_true: Array, standing: Array) -> Weights:
    """Fitted to balanced classes, then calibrated to the true shares by a line."""
    signs = SIGNS[: features.shape[1]]
    rough = Weights(*fit_signed(features, is_true, balanced(database, is_true, standing), signs, PENALTY))
    odds = rough.log_odds(features)[:, None]
    shift, (slope,) = fit_signed(odds, is_true, standing, np.ones(1), 1e-3)
    return Weights(shift + slope * rough.intercept, slope * rough.weights)


def best_targets(candidates: Candidates, odds: Array) -> Array:
    """The best candidates of each column, one for each table."""
    ones, tables = candidates.contest.ones, candidates.contest.table
    order = np.lexsort((-odds, tables, ones))
    first = np.append(True, (np.diff(ones[order]) != 0) | (np.diff(tables[order]) != 0))
    order = order[first]
    order = order[np.lexsort((-odds[order], ones[order]))]
    place = np.arange(len(order)) - np.searchsorted(ones[order], ones[order])
    return np.sort(order[place < TARGETS])


Fit = Callable[[int | None], Weights]
"""Fits a model without the databases of a fold, or with all."""


class Judged:
    """Candidates of several lakes with the scores of models that did not see their database."""

    def __init__(self, lakes: list[Candidates], fold_of: dict[str, int]) -> None:
        self._fold_of = fold_of
        rng = np.random.default_rng(SEED)
        samples = [drawn(lake, rng) for lake in lakes]
        sample = Candidates.join([lake.take(places) for lake, (places, _) in zip(lakes, samples, strict=True)])
        standing = np.concatenate([standing for _, standing in samples])
        self.fit_inclusion = self._fitter(sample, standing)
        odds = self._left_out_odds(lakes, self.fit_inclusion)
        places = [best_targets(lake, one) for lake, one in zip(lakes, odds, strict=True)]
        kept = [lake.take(place) for lake, place in zip(lakes, places, strict=True)]
        odds = [one[place] for one, place in zip(odds, places, strict=True)]
        self.fit_draft, odds = self._decide(kept, odds)
        self.fit_reference, odds = self._decide(kept, odds)
        scores = [
            share_among_targets(one.contest.ones, as_probability(found)) for one, found in zip(kept, odds, strict=True)
        ]
        self.lakes = list(zip(kept, scores, strict=True))

    def _decide(self, kept: list[Candidates], odds: list[Array]) -> tuple[Fit, list[Array]]:
        """A model that knows the odds of the other references, and the odds by it."""
        known = [_with_rivals(lake, found) for lake, found in zip(kept, odds, strict=True)]
        every = Candidates.join(known)
        fitter = self._fitter(every, np.ones(len(every)))
        return fitter, self._left_out_odds(known, fitter)

    def _fitter(self, candidates: Candidates, standing: Array) -> Fit:
        unknown = np.isin(candidates.database, PARTLY_DECLARED) & (candidates.is_true == 0)
        unknown &= candidates.contest.called > CALLED_AFTER
        here, there = self._folds(candidates.database), self._folds(candidates.other)

        def fit_without(left_out: int | None) -> Weights:
            seen = np.flatnonzero((here != left_out) & (there != left_out) & ~unknown)
            part = candidates.take(seen)
            return fit(part.features, part.database, part.is_true, standing[seen])

        return fit_without

    def _folds(self, databases: Array) -> Array:
        return np.array([self._fold_of[name] for name in databases])

    def _left_out_odds(self, lakes: list[Candidates], fitter: Fit) -> list[Array]:
        found = [np.zeros(len(lake)) for lake in lakes]
        for fold in range(FOLDS):
            model = fitter(fold)
            for odds, lake in zip(found, lakes, strict=True):
                mine = self._folds(lake.database) == fold
                odds[mine] = model.log_odds(lake.features[mine])
        return found


def _with_rivals(lake: Candidates, odds: Array) -> Candidates:
    contest = lake.contest._replace(odds=odds)
    return replace(lake, features=np.concatenate([lake.features, rival_features(contest)], axis=1), contest=contest)


def store(name: str, model: Weights, features: tuple[str, ...], names: list[str]) -> None:
    document = {
        "made_by": {
            "program": "benchmarks/judgement/fit_keys.py",
            "data": names,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        },
        "intercept": round(model.intercept, 4),
        "weights": {
            feature: round(float(weight), 4)
            for feature, weight in zip(features, model.weights, strict=True)
            if abs(weight) >= 0.00005
        },
    }
    path = Path(str(resources.files("dovetail.evidence"))) / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(document['weights'])} weights")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where to put the lake and its index")
    parser.add_argument("--write", action="store_true", help="store the models in the package")
    given = parser.parse_args()
    databases = sorted(path.parent for path in given.databases.glob("*/truth.json"))
    names = [database.name for database in databases]
    truths = {database.name: declared_keys(database) for database in databases}
    lakes = list(lakes_of(databases, truths, given.work))
    judged = Judged(lakes, {name: place % FOLDS for place, name in enumerate(names)})
    report(truths, judged.lakes, PARTLY_DECLARED)
    if given.write:
        store("inclusion", judged.fit_inclusion(None), REFERENCE_FEATURES, names)
        store("reference_draft", judged.fit_draft(None), FEATURES, names)
        store("reference", judged.fit_reference(None), FEATURES, names)


if __name__ == "__main__":
    main()
