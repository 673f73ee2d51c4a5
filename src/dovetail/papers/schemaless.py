"""Schemaless join: the k best predicates of some tables by a preference on the joined rows.

Chuancong Gao, Jian Pei, Jiannan Wang, Yi Chang: Schemaless Join for Result Set Preferences. IEEE IRI 2017.
doi:10.1109/IRI.2017.89.

| paper | here |
|---|---|
| predicate p | `NamedPredicate.pairs` |
| h1 … h5 | `prefer`: coverage, groups, compact, balance, strength |
| r_k, s_k; \\|K(p)\\|; \\|R ⋈ S\\| | `Joined.matched`, `groups`, `rows` |
| closed predicates, upper bounds | the enumeration tree of `join.best_predicate.search` |

Guarantee: exact, in a defined order, unless the time was over before all else was ruled out: `work.complete`.

The product's search is the published one, and `dovetail.predicates(…, prefer=…)` the same with what people decided.
Without a preference, the product ranks by the probability that a person would accept the join; that is not the
paper's.
Departures: docs/algorithms/schemaless.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.errors import InputError
from dovetail.join.best_predicate.coding import code_tables
from dovetail.join.best_predicate.predicates import ColumnPair, NamedPredicate
from dovetail.join.best_predicate.scores import Preferred, preference_of
from dovetail.join.best_predicate.search import best_predicates
from dovetail.join.request import SECONDS
from dovetail.papers.arguments import Answer
from dovetail.tables.input_table import open_table


@dataclass(frozen=True)
class PredicateWork:
    """Predicates whose joining groups were made, and whether all others were ruled out."""

    visited: int
    complete: bool


def top_k(
    *tables: Any, prefer: Preferred = "coverage", k: int = 1, seconds: float = SECONDS
) -> Answer[NamedPredicate, PredicateWork]:
    """The k best closed predicates that connect all tables."""
    if len(tables) < 2 or k < 1:
        raise InputError("A predicate connects at least two tables, and `k` must be at least 1.")
    opened = [open_table(data, f"table_{number + 1}") for number, data in enumerate(tables)]
    coded = code_tables(opened)
    names = [[table.names[place] for place in each.columns] for table, each in zip(opened, coded.tables, strict=True)]
    best = best_predicates(coded, preference_of(prefer), k, seconds)
    found = [
        NamedPredicate(
            tuple(ColumnPair(x, names[x][a], y, names[y][b]) for x, a, y, b in each.pairs), each.score, each.joined
        )
        for each in best.predicates
    ]
    return Answer(found, PredicateWork(best.visited, best.complete))
