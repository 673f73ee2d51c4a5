"""Measures all candidates of all cases, for `fit.py`: what each method offers, its features, and how right it is.

    python benchmarks/judgement/measure.py TRUTH MEASURED [--lake LAKE] [--families NAME ...] [--pair-models FOLDER]
    python benchmarks/judgement/measure.py TRUTH MEASURED --names NEW

TRUTH is a folder with `relational`, `transform_pairs` and `fuzzy_pairs`. MEASURED grows case by case, and cases that it
has are not measured again. With --lake, the cases are those that are made from a lake. With --pair-models, similar
texts are compared by models that were fitted without the data set (`fit_pairs.py --left-out`). With --names, the
features of names are measured anew, and the others kept: a minute instead of half an hour.
"""

from __future__ import annotations

import argparse
import pickle
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cases import Case, all_cases, f1, fold_of_pairs
from made_cases import made_cases

from dovetail._deadline import Deadline
from dovetail._model import read_model
from dovetail._types import Array
from dovetail.evidence.features import FEATURES
from dovetail.evidence.two_tables import JOIN_FEATURES, TwoTables
from dovetail.join.candidates import Candidate, Candidates
from dovetail.join.compete import in_time
from dovetail.similar import matching
from dovetail.similar.matching import CHOSEN_FEATURES, PAIR_FEATURES

SECONDS = 10.0  # the default budget of a join


@dataclass(frozen=True)
class MeasuredCase:
    family: str
    groups: tuple[str, ...]
    name: str
    rows: tuple[int, int]
    features: Array  # a row for each candidate
    scores: Array  # … its precision and recall
    by: tuple[str, ...]
    columns: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    source: tuple[int, ...]
    joined: Array
    seconds: tuple[float, float, float]  # of equal, similar and transformed candidates


def measure(case: Case) -> MeasuredCase:
    left, right = case.tables()
    candidates = Candidates(left, right, Deadline(SECONDS))
    found: list[Candidate] = []
    moments = [time.perf_counter()]
    for method in (candidates.equal, candidates.similar, candidates.transformed):
        found += in_time(method())
        moments.append(time.perf_counter())
    equal, similar, transformed = np.diff(moments).tolist()
    return MeasuredCase(
        case.family,
        case.groups,
        case.name,
        (left.rows, right.rows),
        np.array([each.features for each in found]).reshape(-1, len(JOIN_FEATURES)),
        np.array([case.score(each) for each in found]).reshape(-1, 2),
        tuple(each.by for each in found),
        tuple(each.columns for each in found),
        tuple(each.source for each in found),
        np.array([each.joined for each in found]),
        (equal, similar, transformed),
    )


def use_pair_models(folder: Path, fold: int) -> None:
    """Those that were fitted without a fold."""
    rank, accept = (
        read_model(name, features, (folder / f"{name}-{fold}.json").read_text(encoding="utf-8"))
        for name, features in (("pair_rank", PAIR_FEATURES), ("pair", CHOSEN_FEATURES))
    )
    matching.rank_model, matching.accept_model = lambda: rank, lambda: accept  # type: ignore[assignment]


def names_anew(case: Case, known: MeasuredCase) -> MeasuredCase:
    """The same with other features of names, as `join/candidates.py` and `join/measure_keys.py` have them."""
    facts = TwoTables(*case.tables())
    features = np.empty((len(known.features), len(JOIN_FEATURES)))
    features[:] = known.features
    for place, (by, columns) in enumerate(zip(known.by, known.columns, strict=True)):
        left, right = facts.positions(columns)
        mine, theirs = (right, left) if known.source[place] else (left, right)
        if by == "equal":
            said = facts.references(np.array(mine), np.array(theirs)).mean(axis=0)
        else:
            said = facts.references(np.repeat(mine, len(theirs)), np.tile(theirs, len(mine))).max(axis=0)
        features[place, len(FEATURES) : len(FEATURES) + len(said)] = said
    return replace(known, features=features)


def read_measured(path: Path) -> dict[tuple[str, str], MeasuredCase]:
    found = {}
    if path.exists():
        with path.open("rb") as file:
            while True:
                try:
                    case: MeasuredCase = pickle.load(file)
                except EOFError:
                    break
                found[case.family, case.name] = case
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("measured", type=Path)
    parser.add_argument("--families", nargs="*", help="some of the families only")
    parser.add_argument("--pair-models", type=Path, metavar="FOLDER", help="made by fit_pairs.py --left-out")
    parser.add_argument("--names", type=Path, metavar="NEW", help="write the known cases with other features of names")
    parser.add_argument("--lake", type=Path, help="measure the cases that are made from its tables")
    options = parser.parse_args()
    known = read_measured(options.measured)
    cases = all_cases(options.truth) if options.lake is None else made_cases(options.lake, options.truth / "relational")
    if options.names:
        with options.names.open("wb") as file:
            for case in cases:
                if (case.family, case.name) in known:
                    pickle.dump(names_anew(case, known[case.family, case.name]), file)
        return
    folds = fold_of_pairs(options.truth / "fuzzy_pairs")
    with options.measured.open("ab") as file:
        for case in cases:
            if (case.family, case.name) in known or (options.families and case.family not in options.families):
                continue
            if options.pair_models:
                use_pair_models(options.pair_models, folds.get(case.groups[0], 0))
            measured = measure(case)
            pickle.dump(measured, file)
            file.flush()
            best = max(map(f1, measured.scores.tolist()), default=0.0)
            print(f"{case.family:20}{case.name[:60]:62}{best:6.2f}{sum(measured.seconds):8.1f} s", flush=True)


if __name__ == "__main__":
    main()
