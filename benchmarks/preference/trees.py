"""The best predicate of three tables or more (section V.D of the paper): is it the declared keys, and in what time?

    python benchmarks/preference/trees.py --relational DIR [--tpch DIR] [--tables 3] [--sets 10] [--seconds 10]

Sets of tables are drawn at random among those that declared keys connect. F1 is that of the paper's Table III, over
pairs of columns that are equal, directly or not; of several keys between two tables, the nearest counts. Beside the
best predicate of all tables together: the best of every two tables, put together along the best spanning tree (greedy),
as one would do without the paper. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from databases import TablePair, declared, tpch

from dovetail.join.best_predicate.many import spanning_tree
from dovetail.join.best_predicate.predicates import named_predicates
from dovetail.join.best_predicate.scores import PREFERENCES, preference_of
from dovetail.tables.input_table import InputTable, open_table

Column = tuple[int, str]  # of a table of the set
Pairs = frozenset[tuple[Column, Column]]
_MOST_TRUTHS = 200  # combinations of keys, where two tables have several


@dataclass
class Scores:
    """Of one preference on one database."""

    best: list[float]
    greedy: list[float]
    seconds: list[float]
    cut: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relational", type=Path, help="a folder of databases with truth.json")
    parser.add_argument("--tpch", type=Path, help="a folder of TPC-H's tables as CSV")
    parser.add_argument("--databases", default="", help="names of databases, separated by commas; all without it")
    parser.add_argument("--tables", type=int, default=3, help="of a set")
    parser.add_argument("--sets", type=int, default=10, help="of a database, at most")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each search")
    parser.add_argument("--prefer", default=",".join(PREFERENCES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    databases = {"TPC-H": tpch(options.tpch)} if options.tpch else {}
    for folder in sorted(options.relational.glob("*/")) if options.relational else ():
        databases[folder.name] = declared(folder)
    named = options.databases.split(",") if options.databases else list(databases)
    print("| database | sets | preference | F1 | greedy F1 | median s | mean s | stopped |\n" + "|---" * 8 + "|")
    total: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name in named:
        for preference, scores in measure(databases[name], options).items():
            best, greedy = statistics.mean(scores.best), statistics.mean(scores.greedy)
            total[preference].append((best, greedy))
            print(
                f"| {name} | {len(scores.best)} | {preference} | {best:.3f} | {greedy:.3f} | "
                f"{statistics.median(scores.seconds):.2f} | {statistics.mean(scores.seconds):.2f} | {scores.cut} |",
                flush=True,
            )
    for preference, means in total.items():
        best, greedy = (statistics.mean(each) for each in zip(*means, strict=True))
        print(f"| mean of {len(means)} | | {preference} | {best:.3f} | {greedy:.3f} | | | |")


def measure(keys: list[TablePair], options: argparse.Namespace) -> dict[str, Scores]:
    found = {}
    sets = connected_sets(keys, options.tables, options.sets, random.Random(options.seed))
    opened = {path: open_table(path) for path in {path for each in sets for path in each}}
    for preference in options.prefer.split(","):
        scores = Scores([], [], [])
        for paths in sets:
            tables, truths = [opened[path] for path in paths], truths_of(keys, paths)
            begun = time.process_time()
            answer = named_predicates(tables, preference, 1, options.seconds)
            scores.seconds.append(time.process_time() - begun)
            scores.cut += not answer.complete
            pairs = answer[0].pairs if len(answer) else ()
            said = closed(((each.left_table, each.left), (each.right_table, each.right)) for each in pairs)
            scores.best.append(f1(said, truths))
            scores.greedy.append(f1(greedy(tables, preference, options.seconds), truths))
        if sets:
            found[preference] = scores
    return found


def connected_sets(keys: list[TablePair], size: int, most: int, draw: random.Random) -> list[tuple[Path, ...]]:
    """Sets of tables that the keys connect, drawn by growing each from a key drawn at random."""
    near: dict[Path, set[Path]] = defaultdict(set)
    for key in keys:
        near[key.left].add(key.right)
        near[key.right].add(key.left)
    found: dict[frozenset[Path], None] = {}
    for _ in range(20 * most):
        key = draw.choice(keys)
        members = {key.left, key.right}
        while len(members) < size and (border := sorted(set().union(*(near[each] for each in members)) - members)):
            members.add(draw.choice(border))
        if len(members) == size and len(found) < most:
            found[frozenset(members)] = None
    return [tuple(sorted(members)) for members in found]


def truths_of(keys: list[TablePair], paths: Sequence[Path]) -> list[Pairs]:
    """The keys between the tables, with every choice among several between two of them."""
    choices = []
    for key in keys:
        if key.left in paths and key.right in paths:
            x, y = paths.index(key.left), paths.index(key.right)
            choices.append([[((x, a), (y, b)) for a, b in truth] for truth in key.truths])
    combinations = itertools.islice(itertools.product(*choices), _MOST_TRUTHS)
    return [closed(pair for truth in chosen for pair in truth) for chosen in combinations]


def greedy(tables: Sequence[InputTable], preference: str, seconds: float) -> Pairs:
    best = {}
    for x, y in itertools.combinations(range(len(tables)), 2):
        answer = named_predicates([tables[x], tables[y]], preference, 1, seconds)
        if len(answer):
            best[x, y] = answer[0]
    rank = preference_of(preference).rank
    edges = spanning_tree(len(tables), sorted(best, key=lambda edge: rank(best[edge].joined)))
    return closed(((x, each.left), (y, each.right)) for x, y in edges for each in best[x, y].pairs)


def closed(pairs: Iterable[tuple[Column, Column]]) -> Pairs:
    """All pairs of columns of different tables that are equal, directly or not."""
    classes: dict[Column, set[Column]] = {}
    for one, other in pairs:
        both = classes.get(one, {one}) | classes.get(other, {other})
        classes |= dict.fromkeys(both, both)
    return frozenset((one, other) for one in classes for other in classes[one] if one[0] < other[0])


def f1(found: Pairs, truths: Sequence[Pairs]) -> float:
    return max((2 * len(found & truth) / (len(found) + len(truth)) for truth in truths), default=0.0)


if __name__ == "__main__":
    main()
