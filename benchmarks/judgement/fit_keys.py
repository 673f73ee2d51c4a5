"""Fits the models that rank `inds` and `keys`, and reports how right they are on databases that were left out.

    python benchmarks/judgement/fit_keys.py DATABASES --work FOLDER [--write]

DATABASES has a folder for each database, with `tables/*.csv` and a `truth.json` that lists `foreign_keys` with
`from_table`, `from_columns`, `to_table` and `to_columns`. Each is a lake, and all of them are one, in folders or with
the database's name before the table's.
Databases are dealt into folds, and each is judged by models that were fitted on the others. F1 at N: of the N best
references, N the number of declared ones, how many are declared. Keys that the tables do not allow to find (their
target repeats values) count as missed. With --write, the models that are fitted on all databases are stored in the
package.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow as pa
from signed_logistic import fit_signed

import dovetail
from dovetail._types import Array
from dovetail.evidence.references import REFERENCE_FEATURES
from dovetail.evidence.rivals import RIVAL_FEATURES, Contest, rival_features, share_among_targets
from dovetail.graph.composite_keys import compare_rows, composite_features, natural_keys
from dovetail.graph.foreign_keys import FOREIGN_KEY_QUERY, TARGETS
from dovetail.graph.inclusion import ColumnPairs, InclusionFinder
from dovetail.graph.lake_columns import LakeColumns
from dovetail.graph.score import CALLED, Scorer

Key = tuple[str, frozenset[tuple[str, str]], str]

FOLDS = 7
PENALTY = 3.0
WITHIN, ACROSS = 2_000, 600  # false pairs of each database that are drawn for the first model
FALSE_PER_TRUE = 30.0  # weight of the false pairs of a database, to its true ones
PARTLY_DECLARED = ("dolibarr",)
"""Databases in which many columns that are called like a key, and are one, are not declared: of 290 columns named fk_…
62. Those count as wrong when they are found, like any other; but no model learns from them that names mean nothing."""
CALLED_AFTER = 0.25  # from which on a column is called like a key
FLAT = "__"  # between the names of database and table where all are in one folder
SEED = 1
BINS = 10
WORTH, LIKELY = 0.1, 0.5  # probabilities from which on calibration and precision are reported

FOR = (
    "size_here", "repeats", "id_word_here", "size_there", "own_name_there", "id_word_there", "known_there",
    "contained", "bits", "spread", "same_kind", "near", "theirs_found", "tables_similar", "head", "called",
    "called_by_chance", "owner_of_name", "ahead", "called_ahead", "key_of_table", "namesakes_share",
)  # fmt: skip
AGAINST = (
    "one_value", "two_values", "real_here", "date_here", "boolean_here", "row_number_here", "key_here",
    "own_key_here", "generic_here", "chance", "numbered_there", "real_there", "date_there", "missing", "from_one",
    "length_differs", "digits_differ", "other_folder", "called_here_key", "covered_of_key", "copy",
    "called_same_table", "beaten", "called_beaten", "target_refers", "targets",
)  # fmt: skip
FEATURES = (*REFERENCE_FEATURES, *RIVAL_FEATURES)
SIGNS = np.array([1 if name in FOR else -1 if name in AGAINST else 0 for name in FEATURES])


@dataclass(frozen=True)
class Candidates:
    """Possible references of a lake, an entry each."""

    features: Array
    is_true: Array
    database: Array  # of the dependent side
    other: Array  # of the referenced side
    contest: Contest  # `odds` are not known yet

    def __len__(self) -> int:
        return len(self.is_true)

    def take(self, places: Array) -> Candidates:
        rest = (values[places] for values in (self.features, self.is_true, self.database, self.other))
        return Candidates(*rest, Contest(*(values[places] for values in self.contest)))


@dataclass(frozen=True)
class Weights:
    """A fitted model."""

    intercept: float
    weights: Array

    def log_odds(self, features: Array) -> Array:
        return np.clip(self.intercept + features @ self.weights, -30, 30)


def probability(odds: Array) -> Array:
    return 1 / (1 + np.exp(-odds))


def declared(database: Path) -> set[Key]:
    keys = json.loads((database / "truth.json").read_text(encoding="utf-8"))["foreign_keys"]
    return {
        (
            f"{database.name}/{key['from_table']}.csv",
            frozenset(zip(key["from_columns"], key["to_columns"], strict=True)),
            f"{database.name}/{key['to_table']}.csv",
        )
        for key in keys
    }


def index_of(databases: list[Path], work: Path) -> Path:
    """The index of all databases in one lake, a folder each."""
    if not (work / "lake.idx").exists():
        for database in databases:
            shutil.copytree(database / "tables", work / "lake" / database.name)
        dovetail.index(work / "lake", work / "lake.idx")
    return work / "lake.idx"


def candidates_of(columns: LakeColumns, truth: set[Key]) -> Candidates:
    """All references that the values of the live tables allow, of one column and of several."""
    finder = InclusionFinder(columns, FOREIGN_KEY_QUERY)
    scorer = Scorer(columns, finder.sizes)
    found = list(finder)
    pairs = ColumnPairs(
        *(np.concatenate([getattr(part, name) for part in found]) for name in ("dependent", "referenced", "overlap"))
    )
    overlaps = compare_rows(columns, list(natural_keys(columns)), FOREIGN_KEY_QUERY, scorer, {})
    overlaps = {
        pairing: overlap
        for pairing, overlap in overlaps.items()
        if overlap.dependent and overlap.common >= FOREIGN_KEY_QUERY.containment * overlap.dependent
    }
    sides = [((int(one),), (int(other),)) for one, other in zip(pairs.dependent, pairs.referenced, strict=True)]
    sides += list(overlaps)
    features = [scorer.features(pairs)]
    if overlaps:
        features.append(composite_features(columns, scorer, overlaps))
    rows = np.concatenate(features)
    names, table_of = columns.names.to_pylist(), columns.table_of
    tables = [table.replace(FLAT, "/", 1) for table in columns.table_names.to_pylist()]
    numbers: dict[tuple[int, ...], int] = {(column,): column for column in range(len(columns))}
    of_names: dict[tuple[str, ...], int] = {}
    ones = [numbers.setdefault(tuple(sorted(one)), len(numbers)) for one, _ in sides]
    others = [numbers.setdefault(tuple(sorted(other)), len(numbers)) for _, other in sides]
    named = [of_names.setdefault(tuple(sorted(names[c] for c in one)), len(of_names)) for one, _ in sides]
    first = table_of[[one[0] for one, _ in sides]], table_of[[other[0] for _, other in sides]]
    keys = [
        (tables[a], frozenset((names[c], names[d]) for c, d in zip(one, other, strict=True)), tables[b])
        for (one, other), a, b in zip(sides, *first, strict=True)
    ]
    own = np.array([len(other) == 1 and scorer.references.is_own_key[other[0]] for _, other in sides], float)
    folders = np.array([table.partition("/")[0] for table in tables])
    contest = Contest(
        np.array(ones), np.array(others), np.zeros(len(ones)), rows[:, CALLED], np.array(named), first[1], own
    )
    labels = np.array([key in truth for key in keys], float)
    return Candidates(rows, labels, folders[first[0]], folders[first[1]], contest)


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


class Judged:
    """Candidates of several lakes with the odds of models that did not see their database."""

    def __init__(self, lakes: list[Candidates], fold_of: dict[str, int]) -> None:
        self.fold_of = fold_of
        rng = np.random.default_rng(SEED)
        samples = [drawn(lake, rng) for lake in lakes]
        self._sample = _joined([lake.take(places) for lake, (places, _) in zip(lakes, samples, strict=True)])
        self._standing = np.concatenate([standing for _, standing in samples])
        first = {fold: self.first_model(fold) for fold in range(FOLDS)}
        self.kept = [self._compete(lake, first) for lake in lakes]
        second = {fold: self.second_model(fold) for fold in range(FOLDS)}
        self.scores = [self._score(lake, second) for lake in self.kept]

    def first_model(self, left_out: int | None) -> Weights:
        sample = self._sample
        seen = self._without(sample, left_out)
        part = sample.take(seen)
        return fit(part.features, part.database, part.is_true, self._standing[seen])

    def second_model(self, left_out: int | None) -> Weights:
        every = _joined(self.kept)
        part = every.take(self._without(every, left_out))
        return fit(part.features, part.database, part.is_true, np.ones(len(part)))

    def _folds(self, databases: Array) -> Array:
        return np.array([self.fold_of[name] for name in databases])

    def _without(self, candidates: Candidates, left_out: int | None) -> Array:
        here, there = self._folds(candidates.database), self._folds(candidates.other)
        unknown = np.isin(candidates.database, PARTLY_DECLARED) & (candidates.is_true == 0)
        unknown &= candidates.contest.called > CALLED_AFTER
        return np.flatnonzero((here != left_out) & (there != left_out) & ~unknown)

    def _compete(self, lake: Candidates, models: dict[int, Weights]) -> Candidates:
        folds = self._folds(lake.database)
        odds = np.zeros(len(lake))
        for fold, model in models.items():
            odds[folds == fold] = model.log_odds(lake.features[folds == fold])
        places = best_targets(lake, odds)
        kept = lake.take(places)
        contest = kept.contest._replace(odds=odds[places])
        return replace(kept, features=np.concatenate([kept.features, rival_features(contest)], axis=1), contest=contest)

    def _score(self, lake: Candidates, models: dict[int, Weights]) -> Array:
        folds = self._folds(lake.database)
        odds = np.zeros(len(lake))
        for fold, model in models.items():
            odds[folds == fold] = model.log_odds(lake.features[folds == fold])
        return share_among_targets(lake.contest.ones, probability(odds))


def _joined(parts: list[Candidates]) -> Candidates:
    rest = (np.concatenate([getattr(p, name) for p in parts]) for name in ("features", "is_true", "database", "other"))
    contest = Contest(*(np.concatenate(values) for values in zip(*(part.contest for part in parts), strict=True)))
    return Candidates(*rest, contest)


def found_first(scores: Array, is_true: Array, number: int) -> Array:
    """The places of the true ones among the first."""
    first = np.argsort(-scores, kind="stable")[:number]
    return first[is_true[first] == 1]


def calibration_error(scores: Array, is_true: Array) -> float:
    """Expected calibration error in bins of equal size."""
    order = np.argsort(scores, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    errors = [len(part) * abs(scores[part].mean() - is_true[part].mean()) for part in parts]
    return float(sum(errors) / max(1, len(order)))


def report(names: list[str], judged: Judged, numbers: dict[str, int]) -> None:
    """Each database as a lake of its own, then all in one, in folders and flat."""
    every = sum(numbers.values())
    lakes = list(zip(judged.kept, judged.scores, strict=True))
    first = [kept.take(found_first(scores, kept.is_true, every)) for kept, scores in lakes[-2:]]
    rows, shown = [], []
    print("| database | declared | within: F1 at N | one lake: found | … flat |\n|:--|--:|--:|--:|--:|")
    for name, (kept, scores) in zip(names, lakes, strict=False):
        counts = [len(found_first(scores, kept.is_true, numbers[name])), *(np.sum(f.database == name) for f in first)]
        rows.append(counts)
        print(f"| {name} | {numbers[name]} | " + " | ".join(f"{count / numbers[name]:.2f}" for count in counts) + " |")
        shown.append((scores, kept.is_true))
    counted, declared_keys = np.array(rows), np.array([numbers[name] for name in names])
    for label, shares in (
        ("mean of databases", (counted / declared_keys[:, None]).mean(axis=0)),
        ("all keys", counted.sum(axis=0) / every),
    ):
        print(f"| **{label}** | {every} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    within = tuple(np.concatenate(values) for values in zip(*shown, strict=True))
    for label, (scores, true) in (
        ("within", within),
        *(
            (label, (scores, kept.is_true))
            for label, (kept, scores) in zip(("one lake", "flat"), lakes[-2:], strict=True)
        ),
    ):
        worth = scores >= WORTH
        likely = scores >= LIKELY
        print(
            f"{label}: calibration error {calibration_error(scores, true):.4f} over {len(scores):,} candidates, "
            f"{calibration_error(scores[worth], true[worth]):.3f} over the {worth.sum():,} from {WORTH} on; "
            f"{likely.sum():,} from {LIKELY} on, of which {true[likely].mean():.2f} are declared"
        )
    for kept, scores in lakes[-2:]:
        sure = ~np.isin(kept.database, PARTLY_DECLARED)
        number = every - sum(numbers.get(name, 0) for name in PARTLY_DECLARED)
        worth, likely = sure & (scores >= WORTH), sure & (scores >= LIKELY)
        print(
            f"one lake without {', '.join(PARTLY_DECLARED)}: "
            f"{len(found_first(scores[sure], kept.is_true[sure], number)) / number:.3f}, calibration error "
            f"{calibration_error(scores[worth], kept.is_true[worth]):.3f} from {WORTH} on, "
            f"{kept.is_true[likely].mean():.2f} of {likely.sum():,} from {LIKELY} on are declared"
        )


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
    truths = {database.name: declared(database) for database in databases}
    columns = LakeColumns(dovetail.open(index_of(databases, given.work)).segments)
    folders = np.array([table.partition("/")[0] for table in columns.table_names.to_pylist()])[columns.table_of]
    alive = columns.alive
    lakes = []
    for name in names:
        columns.alive = alive & (folders == name)
        lakes.append(candidates_of(columns, truths[name]))
    columns.alive = alive
    every = set().union(*truths.values())
    lakes.append(candidates_of(columns, every))
    columns.table_names = pa.array([table.replace("/", FLAT) for table in columns.table_names.to_pylist()])
    lakes.append(candidates_of(columns, every))
    judged = Judged(lakes, {name: place % FOLDS for place, name in enumerate(names)})
    report(names, judged, {name: len(truth) for name, truth in truths.items()})
    if given.write:
        store("inclusion", judged.first_model(None), REFERENCE_FEATURES, names)
        store("reference", judged.second_model(None), FEATURES, names)


if __name__ == "__main__":
    main()
