"""The paper's own algorithms beside ours: learning by Algorithm 4, and the constrained similarity join of section 4.6.

    python benchmarks/transformation/published.py TRUTH

TRUTH is as for `run.py`. Programs: every case is joined by a program that each algorithm learns, and they learn from
the same sets of examples, so that their programs can be compared one by one. Similarity: every case is joined by each,
on the same columns; and the row FJ-C of the paper's Table 4.2, on the columns that make the keys of its synthetic
tables.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import synthetic

import dovetail
from dovetail._deadline import Deadline
from dovetail.join.request import SECONDS
from dovetail.join.result import JoinResult
from dovetail.papers.auto_join import constrained_join, learn_transformation
from dovetail.papers.auto_join.constrained import constrained_pairs
from dovetail.papers.auto_join.greedy import learn_greedily
from dovetail.similar.columns import choose_columns, together
from dovetail.tables.input_table import open_table
from dovetail.transform.candidates import Example
from dovetail.transform.coverage import Coverage
from dovetail.transform.discover import Learn
from dovetail.transform.examples import both_directions, example_of, example_sets, groups
from dovetail.transform.learn import learn
from run import Columns, Measured, by_similarity, cases, fuzzy_case, read, report, scored, transform_case

_LEARNERS = {"shortest path": learn, "greedy": learn_greedily}


def _by_transform(left: Columns, right: Columns) -> JoinResult:
    return dovetail.join(left, right, by="transform")


def _by_algorithm_4(left: Columns, right: Columns) -> JoinResult | None:
    learned = learn_transformation(left, right).matches
    return dovetail.join(left, right, by=learned[0]) if learned else None


def _by_constraints(left: Columns, right: Columns, constraints: int = 2) -> tuple[set[tuple[int, int]], str]:
    """As `by_similarity`, on the columns that the product chooses."""
    tables = open_table(left), open_table(right)
    texts = [{name: of.values(name) for name in of.names if of.column(name).is_text} for of in tables]
    compared = choose_columns(*texts, Deadline(SECONDS))
    if compared is None:
        return set(), "No text columns correspond."
    source, target = texts[::-1] if compared.reversed else texts
    values, keys = _rows(together(source, compared.source)), _rows(together(target, compared.target))
    found, chosen = vars(constrained_join(values, keys, constraints=constraints)).values()
    pairs = {(a, b) for match in found for a in values[match.value] for b in keys[match.key]}
    return {pair[::-1] for pair in pairs} if compared.reversed else pairs, chosen.words if chosen else "Nothing."


def _rows(texts: Sequence[str | None]) -> dict[str, list[int]]:
    """The rows of each text."""
    found: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if text:
            found.setdefault(text, []).append(row)
    return found


_PROGRAMS = {"shortest path": _by_transform, "greedy": _by_algorithm_4}
_SIMILAR = {
    "models": by_similarity,
    "constrained": _by_constraints,
    "constrained, values only": partial(_by_constraints, constraints=1),
}
_MADE_OF = {
    "Citeseer": ("authors", "title", "year"), "NameConcat": ("first", "last"), "Time": ("hour", "minute", "second"),
    "UserID": ("first", "last"),
}  # fmt: skip


class Taught(NamedTuple):
    """What an algorithm learned from one set of examples."""

    seconds: float
    operators: int
    score: float  # the share of the keys that the program reaches
    cost: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--cases", action="store_true", help="print every case")
    parser.add_argument("--only", choices=("programs", "examples", "similar", "synthetic"))
    options = parser.parse_args()
    dovetail.join({"a": ["b c", "d e", "f g"]}, {"a": ["b", "d", "f"]})  # compiles, or loads what was compiled
    constrained_join(["b c", "d e"], ["b", "d"])
    for folder in sorted(options.truth.glob("transform_pairs/*/")):
        if options.only in (None, "programs"):
            for name, join in _PROGRAMS.items():
                found = [transform_case(case, join) for case in cases(folder)]
                report(f"{folder.name}, {name}", found, options.cases)
        if options.only in (None, "examples"):
            _compare_examples(folder)
    if options.only in (None, "synthetic"):
        report("FJ-C of Table 4.2", [_constrained(name, columns) for name, columns in _MADE_OF.items()], True)
    for folder in sorted(options.truth.glob("fuzzy_pairs/*/")) if options.only in (None, "similar") else ():
        for name, fuzzy in _SIMILAR.items():
            chosen: Counter[str] = Counter()
            found = [fuzzy_case(case, chosen, fuzzy) for case in cases(folder)]
            report(f"{folder.name}, {name}", found, options.cases)
            if name != "models":
                print("  " + "; ".join(f"{words} {number}" for words, number in chosen.most_common(6)), flush=True)


def _constrained(name: str, columns: Sequence[str]) -> Measured:
    left, right, truth = synthetic.CASES[name](1_000, random.Random(1_000))
    begun = time.process_time()
    keys = [text or "" for text in next(iter(right.values()))]
    found, chosen = constrained_pairs([text or "" for text in together(left, columns)], keys)
    pairs = set(zip(found.values.tolist(), found.keys.tolist(), strict=True))
    words = name if chosen is None else f"{name}: {chosen.tokenisation}, {chosen.distance}"
    return scored(words, pairs, truth, time.process_time() - begun)


def _compare_examples(folder: Path) -> None:
    """Of the same sets of examples: how often each learns a program, how long it takes, and what it covers."""
    taught: list[dict[str, Taught | None]] = [both for case in cases(folder) for both in _taught(case)]
    print(f"{folder.name}: {len(taught)} sets of examples")
    for learner in _LEARNERS:
        mine = [both[learner] for both in taught if both[learner] is not None]
        seconds = sum(each.seconds for each in mine if each)
        print(f"  {learner:14} learns {len(mine)}, {seconds:6.2f} s")
    common = [both for both in taught if all(both.values())]
    for name in ("operators", "score", "cost"):
        pairs = [tuple(getattr(both[learner], name) for learner in _LEARNERS) for both in common]
        means = [statistics.mean(pair[place] for pair in pairs or [(0, 0)]) for place in (0, 1)]
        less, more = (sum(test(*pair) for pair in pairs) for test in (lambda a, b: b < a, lambda a, b: b > a))
        print(
            f"  {name:10} {means[0]:.3f} and {means[1]:.3f}; greedy has less in {less}, more in {more}, of {len(pairs)}"
        )


def _taught(case: Path) -> Iterator[dict[str, Taught | None]]:
    for direction, group in groups(both_directions(read(case / "source.csv"), read(case / "target.csv"))):
        coverage = Coverage(direction.source, direction.target, group.target)
        for pairs in example_sets(group.pairs):
            if len(pairs) > 1:
                examples = [example_of(direction, group, pair) for pair in pairs]
                columns = list(direction.source.columns)
                yield {
                    name: _learn(learner, examples, group.source, columns, coverage)
                    for name, learner in _LEARNERS.items()
                }


def _learn(
    learner: Learn, examples: Sequence[Example], main: str, columns: Sequence[str], coverage: Coverage
) -> Taught | None:
    begun = time.process_time()
    found = next(learner(examples, main, columns, None), None)
    seconds = time.process_time() - begun
    return None if found is None else Taught(seconds, len(found.slots), coverage.score(found.program), found.cost)


if __name__ == "__main__":
    main()
