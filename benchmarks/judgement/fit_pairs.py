"""Fits the two models of pairs of spellings, and reports how right they are on data sets they were not fitted on.

    python benchmarks/judgement/fit_pairs.py TRUTH [--write] [--left-out FOLDER]

TRUTH is a folder with `fuzzy_pairs`. The first model chooses the best of a value's candidates (`pair_rank`), the second
says how likely it is right (`pair`). Data sets are dealt into folds, and each is judged by models that were fitted
without its fold. With --write, the models that are fitted on all data sets are stored in the package; with --left-out,
those without each fold go to a folder, where `measure.py --pair-models` finds them.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cases import fold_of_pairs, similar_texts
from logistic import fit_logistic
from store import write_model

from dovetail._model import Model
from dovetail._types import Array
from dovetail.similar import matching
from dovetail.similar.matching import CHOSEN_FEATURES, PAIR_FEATURES, compare, least_probability

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

RANK_PENALTY, ACCEPT_PENALTY = 1.0, 1.0  # set before any left-out score was seen; neither was searched for
SMALL = 30
"""Values of a small table: most tables are smaller than the data sets."""
KEPT = 0.5
"""Of the keys, where some are missing: in most of the data sets every value has its key, in most lakes not."""
_FIGURES = "autofj"  # the data sets of docs/benchmarks.md
VERSIONS = {"whole": 1.0, "keys missing": 0.5, "small": 0.5}
"""How much the versions of a data set count in the fit; set by hand."""


@dataclass(frozen=True)
class Part:
    """A data set, or a version of it, with the candidates of its values."""

    name: str
    version: str
    candidates: Array
    features: Array
    right: Array  # which candidates are right
    true_pairs: int


def versions(name: str, values: list[str], keys: list[str], truth: set[tuple[str, str]]) -> Iterator[Part]:
    draw = random.Random(name)
    yield part(name, "whole", values, keys, truth)
    yield part(name, "keys missing", values, draw.sample(keys, int(KEPT * len(keys))), truth)
    for _ in range(3):
        few = draw.sample(values, min(SMALL, len(values)))
        theirs = sorted({key for value, key in truth if value in set(few)})
        theirs = draw.sample(theirs, int(0.7 * len(theirs))) + draw.sample(keys, min(SMALL // 2, len(keys)))
        yield part(name, "small", few, sorted(set(theirs)), truth)


def part(name: str, version: str, values: list[str], keys: list[str], truth: set[tuple[str, str]]) -> Part:
    candidates, slices = compare(values, keys)
    features = np.concatenate([found for _, found in slices])
    right = np.array(
        [
            [key >= 0 and (value, keys[key]) in truth for key in row]
            for value, row in zip(values, candidates.tolist(), strict=True)
        ]
    )
    known = set(keys)
    pairs = sum(value in set(values) and key in known for value, key in truth) if version != "whole" else len(truth)
    return Part(name, version, candidates, features, right, pairs)


def fit(parts: list[Part]) -> tuple[Model, Model]:
    exists = [each.candidates >= 0 for each in parts]
    rank = _fitted(
        "pair_rank", PAIR_FEATURES,
        [each.features[there] for each, there in zip(parts, exists, strict=True)],
        [each.right[there] for each, there in zip(parts, exists, strict=True)],
        parts, RANK_PENALTY,
    )  # fmt: skip
    chosen = [best(rank, each) for each in parts]
    features, right = [each[0] for each in chosen], [each[1] for each in chosen]
    return rank, _fitted("pair", CHOSEN_FEATURES, features, right, parts, ACCEPT_PENALTY)


def _fitted(
    name: str, names: tuple[str, ...], features: list[Array], right: list[Array], parts: list[Part], penalty: float
) -> Model:
    """Every data set counts as much as any other."""
    number = [sum(one.name == other.name and one.version == other.version for other in parts) for one in parts]
    weights = [
        np.full(len(rows), VERSIONS[each.version] / count / max(1, len(rows)))
        for rows, each, count in zip(right, parts, number, strict=True)
    ]
    rows, labels, shares = np.concatenate(features), np.concatenate(right), np.concatenate(weights)
    shares = shares * len(labels) / shares.sum()
    intercept, found = fit_logistic(rows.astype(np.float64), labels.astype(np.float64), shares, penalty)
    return Model(name, names, intercept, found, np.zeros(len(names)), {})


def best(rank: Model, each: Part) -> tuple[Array, Array]:
    """The features of each value's best candidate, and whether it is right; of values that have one."""
    matching.rank_model = lambda: rank  # type: ignore[assignment]
    found = matching.choose(each.candidates, [(slice(0, len(each.candidates)), each.features)])
    rows = np.flatnonzero(found.keys >= 0)
    right = [
        bool(each.right[row][each.candidates[row] == key].any())
        for row, key in zip(rows.tolist(), found.keys[rows].tolist(), strict=True)
    ]
    return found.features[rows], np.array(right, bool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--left-out", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    sets = list(similar_texts(options.truth / "fuzzy_pairs"))
    parts = [each for case in sets for each in versions(*case)]
    folds = fold_of_pairs(options.truth / "fuzzy_pairs")
    models = {fold: fit([each for each in parts if folds[each.name] != fold]) for fold in sorted(set(folds.values()))}
    lines: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    told = []
    for each in parts:
        rank, accept = models[folds[each.name]]
        features, right = best(rank, each)
        chance = accept.probability(features)
        taken = chance >= least_probability(chance)
        told.append(np.column_stack([chance, right]))
        precision, recall = right[taken].mean() if taken.any() else 0.0, right[taken].sum() / max(1, each.true_pairs)
        score = 2 * precision * recall / max(1e-9, precision + recall)
        lines.setdefault((each.name.split("/")[0], each.version), []).append((precision, recall, score))
        if each.version == "whole":
            print(f"{each.name:36}{precision:7.3f}{recall:7.3f}{score:7.3f}")
    for (family, version), scores in lines.items():
        print(f"{family:12}{version:16}{len(scores):4}" + "".join(f"{mean:7.3f}" for mean in np.mean(scores, axis=0)))
    precision, recall, _ = np.mean(lines[_FIGURES, "whole"], axis=0)
    record(similar_sets=len(lines[_FIGURES, "whole"]), similar_precision=precision, similar_recall=recall)
    chances, right = np.concatenate(told)[np.argsort(np.concatenate(told)[:, 0])].T
    for some in np.array_split(np.arange(len(chances)), 10):
        print(f"told {chances[some].mean():.3f}, right {right[some].mean():.3f}")
    if options.left_out:
        options.left_out.mkdir(parents=True, exist_ok=True)
        for fold, pair in models.items():
            for model in pair:
                write_model(model, options.left_out / f"{model.name}-{fold}.json", "fit_pairs.py", ["fuzzy_pairs"], 0)
    if options.write:
        for model in fit(parts):
            write_model(model, None, "fit_pairs.py", sorted(folds), len(parts))


if __name__ == "__main__":
    main()
