"""The paper's own algorithms beside ours: learning by Algorithm 4, and the constrained similarity join of section 4.6.

    python benchmarks/transformation/ways.py TRUTH

TRUTH is as for `run.py`. Programs: every case is joined by a program that each way learns, and the ways learn from the
same sets of examples, so that their programs can be compared one by one. Similarity: every case is joined by each way,
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
from pathlib import Path
from typing import Any, NamedTuple

import synthetic

import dovetail
from dovetail.similar.columns import together
from dovetail.similar.constrained import constrained_pairs
from dovetail.transform.candidates import Example
from dovetail.transform.coverage import Coverage
from dovetail.transform.discover import learner
from dovetail.transform.examples import both_directions, example_of, example_sets, groups
from dovetail.ways import choose_way
from run import Measured, cases, fuzzy_case, read, report, scored, transform_case

_PROGRAMS = ("shortest_path", "greedy")
_SIMILAR: dict[str, dict[str, Any]] = {
    "models": {"way": "models"},
    "constrained": {"way": "constrained"},
    "constrained, values only": {"way": "constrained", "settings": {"constraints": 1}},
}
_MADE_OF = {
    "Citeseer": ("authors", "title", "year"), "NameConcat": ("first", "last"), "Time": ("hour", "minute", "second"),
    "UserID": ("first", "last"),
}  # fmt: skip


class Taught(NamedTuple):
    """What a way learned from one set of examples."""

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
    dovetail.join({"a": ["b c", "d e"]}, {"a": ["b", "d"]}, by="similar", way="constrained")
    for folder in sorted(options.truth.glob("transform_pairs/*/")):
        if options.only in (None, "programs"):
            for way in _PROGRAMS:
                found = [transform_case(case, by="transform", way=way) for case in cases(folder)]
                report(f"{folder.name}, {way}", found, options.cases)
        if options.only in (None, "examples"):
            _compare_examples(folder)
    if options.only in (None, "synthetic"):
        report("FJ-C of Table 4.2", [_constrained(name, columns) for name, columns in _MADE_OF.items()], True)
    for folder in sorted(options.truth.glob("fuzzy_pairs/*/")) if options.only in (None, "similar") else ():
        for name, way in _SIMILAR.items():
            chosen: Counter[str] = Counter()
            found = [fuzzy_case(case, chosen, **way) for case in cases(folder)]
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
    """Of the same sets of examples: how often each way learns a program, how long it takes, and what it covers."""
    taught: list[dict[str, Taught | None]] = [both for case in cases(folder) for both in _taught(case)]
    print(f"{folder.name}: {len(taught)} sets of examples")
    for way in _PROGRAMS:
        mine = [both[way] for both in taught if both[way] is not None]
        seconds = sum(each.seconds for each in mine if each)
        print(f"  {way:14} learns {len(mine)}, {seconds:6.2f} s")
    common = [both for both in taught if all(both.values())]
    for name in ("operators", "score", "cost"):
        pairs = [tuple(getattr(both[way], name) for way in _PROGRAMS) for both in common]
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
                yield {way: _learn(way, examples, group.source, columns, coverage) for way in _PROGRAMS}


def _learn(
    way: str, examples: Sequence[Example], main: str, columns: Sequence[str], coverage: Coverage
) -> Taught | None:
    begun = time.process_time()
    found = next(learner(choose_way("transform", way))(examples, main, columns, None), None)
    seconds = time.process_time() - begun
    return None if found is None else Taught(seconds, len(found.slots), coverage.score(found.program), found.cost)


if __name__ == "__main__":
    main()
