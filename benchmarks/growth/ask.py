"""Asks an index one kind of question about tables of its lake, in a process of its own; prints the times as JSON.

python benchmarks/growth/ask.py INDEX 'one column' [--questions 20] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import dovetail
from dovetail.api.lake import Lake

_ROUNDS = 2  # of which the faster counts, so that what else runs on the machine counts less
_SECONDS = 20.0  # of the processor, after which no further question is asked
_ROWS = (5, 10_000)  # of tables that are asked about

Question = tuple[str, list[str], str]
"""A table, its columns of texts, and another table."""

KINDS: dict[str, Callable[[Lake, Question], Any]] = {
    "one column": lambda lake, asked: lake.search(asked[0], on=asked[1][0]),
    "several columns": lambda lake, asked: lake.search(asked[0], on=asked[1][:2], include_self=True),
    "semantic": lambda lake, asked: lake.search(asked[0], on=asked[1][0], by="semantic", k=10),
    "transform": lambda lake, asked: lake.search(asked[0], on=asked[1][0], by="transform"),
    "through": lambda lake, asked: lake.search(asked[0], on=asked[1][0], by="through"),
    "nothing said": lambda lake, asked: lake.search(asked[0]),
    "path": lambda lake, asked: lake.paths(asked[0], asked[2]),
}


def questions(lake: Lake, seed: int) -> Iterator[Question]:
    """Tables with two columns of texts or more, in a random order."""
    names = [line.table for line in lake.tables() if not line.error and _ROWS[0] <= line.rows <= _ROWS[1]]
    drawn = random.Random(seed)
    for name in drawn.sample(names, len(names)):
        texts = [column.name for column in lake.table(name).columns if column.type == "text"]
        if len(texts) > 1:
            yield name, texts, drawn.choice(names)


def ask(index: Path, kind: str, number: int, seed: int) -> dict[str, Any]:
    lake, answer = dovetail.open(index), KINDS[kind]
    first, *rest = islice(questions(lake, seed), number + 1)
    answer(lake, first)  # opens and compiles what it needs
    ends = time.process_time() + _SECONDS
    times: list[tuple[float, float]] = []
    found = 0
    for question in rest:
        if time.process_time() > ends:
            break
        found += len(answer(lake, question))
        times.append(min(_timed(answer, lake, question) for _ in range(_ROUNDS)))
    return {"cpu_ms": [cpu for cpu, _ in times], "wall_ms": [wall for _, wall in times], "hits": found}


def _timed(answer: Callable[[Lake, Question], Any], lake: Lake, question: Question) -> tuple[float, float]:
    """Milliseconds of the processor, and by the clock."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer(lake, question)
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(json.dumps(ask(given.index, given.kind, given.questions, given.seed)))


if __name__ == "__main__":
    main()
