"""Auto-Join: tables that join after a transformation, or by one tokenisation, distance and threshold.

Erkang Zhu, Yeye He, Surajit Chaudhuri: Auto-Join: Joining Tables by Leveraging Transformations. PVLDB 10(10), 2017.
doi:10.14778/3115404.3115409. Algorithms and sections are those of Zhu's thesis, chapter 4.

| paper | here |
|---|---|
| Algorithm 4, TryLearnTransform; τ | `learn_greedily`; `most_operators` |
| physical operators θ; progress | `Candidate`, constants; `_Operator.rank` |
| Algorithm 5, refinement with sampled rows | the product's own discovery, which this learner is put into |
| Algorithm 6, OptimizeThreshold; δ | `greatest_threshold`; 1/2 to the power of `halvings` |
| tokenisation t, distance d, threshold s | `Configuration` |
| CheckConstraint | `constraints`: 1, no value has two keys; 2, and no key two values |

Guarantee: programs make all their examples; the constrained join is exact over all tokenisations, distances and tried
thresholds.

Departures: operators are the product's, so that the two differ in nothing but the search. Algorithm 6 prints its
branches inverted; they are put right. docs/algorithms/auto_join.md has the product's learning by shortest paths and
its similarity by fitted models.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from dovetail._deadline import Deadline
from dovetail.errors import InputError
from dovetail.join.request import SECONDS
from dovetail.papers.arguments import Answer
from dovetail.papers.auto_join.constrained import Configuration, constrained_pairs
from dovetail.papers.auto_join.greedy import GreedyWork, learn_greedily
from dovetail.tables.input_table import open_table
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.transformation import Transformation


class FuzzyMatch(NamedTuple):
    """A value, its key, and how similar they are by the distance that was chosen."""

    value: str
    key: str
    similarity: float


def learn_transformation(
    left: Any, right: Any, *, operators: int = 10, tried: int = 1500, seconds: float = SECONDS
) -> Answer[Transformation, GreedyWork]:
    """The transformation that joins two tables, if one does, by programs that Algorithm 4 learns from examples.

    `operators` is the paper's τ; `tried` the number of operators after which no program is looked for.
    `dovetail.join(left, right, by=…)` joins by what is found.
    """
    sides = [open_table(data, name) for data, name in ((left, "left_table"), (right, "right_table"))]
    mine, theirs = ({name: table.values(name) for name in table.names} for table in sides)
    deadline, work = Deadline(seconds), GreedyWork()
    learning = partial(learn_greedily, most_operators=operators, most_tried=tried, work=work)
    found = discover(mine, theirs, deadline=deadline, learning=learning)
    found = found or discover_composite(mine, theirs, deadline, learning)
    if found is None:
        return Answer([], work)
    return Answer([Transformation(found.programs, found.reversed, found.target, found.key)], work)


def constrained_join(
    values: Iterable[str], keys: Iterable[str], *, halvings: int = 10, constraints: int = 2
) -> Answer[FuzzyMatch, Configuration | None]:
    """For each value at most one key, and with two constraints for each key at most one value.

    The work is what the constraints chose; None where they allow no threshold that joins anything.
    """
    if halvings < 1 or constraints not in (1, 2):
        raise InputError("`halvings` must be at least 1, and `constraints` 1 or 2.")
    mine, theirs = list(dict.fromkeys(values)), list(dict.fromkeys(keys))
    pairs, chosen = constrained_pairs(mine, theirs, None, halvings, constraints)
    found = zip(pairs.values.tolist(), pairs.keys.tolist(), pairs.similarity.tolist(), strict=True)
    return Answer([FuzzyMatch(mine[value], theirs[key], similarity) for value, key, similarity in found], chosen)
