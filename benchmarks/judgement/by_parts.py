"""Which columns hold several values in a cell, whether they join by their parts, and what that does to other joins.

    python benchmarks/judgement/by_parts.py INDEX [--truth TRUTH] [--cases 100] [--pairs 200] [--shown 50] [--seed 1]

INDEX is the index of a lake whose files are there. Three things are measured:

recognised  the columns of the lake that hold several values; some at random are printed, to be judged by eye
joined      for some of these, their table is joined with a table made for it: most of the column's parts in another
            case, as many other values of the lake, and a second column. Right is the join that pairs exactly the rows
            that plain loops pair. The made column has the name of the other, or a name that says nothing.
unharmed    with TRUTH: joins of declared keys and of strangers (see `cases.py`), with and without joins by parts
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cases import declared_keys, strangers

import dovetail
from dovetail.catalog.decisions import NO_DECISIONS
from dovetail.join import choose
from dovetail.join.choose import join_tables
from dovetail.join.request import JoinRequest
from dovetail.normalise.classes import NULL_MARKERS
from dovetail.normalise.parts import LIST, find_separator
from dovetail.tables.input_table import InputTable, lake_table, open_table

_LEFT_OUT = 0.2  # of the parts, from the made table
_MOST_ROWS = 20_000


class Found(NamedTuple):
    segment: int
    table: int
    column: str
    separator: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--shown", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    lake = dovetail.open(options.index)
    found = recognised(lake, rng, options.shown)
    rng.shuffle(found)
    for name in ("the same name", "another name"):
        joined(lake, found, name == "the same name", options.cases, random.Random(options.seed))
    if options.truth:
        unharmed(options.truth, options.pairs)


def recognised(lake: dovetail.Lake, rng: random.Random, shown: int) -> list[Found]:
    found: list[Found] = []
    columns, seconds = 0, 0.0
    for number, segment in enumerate(lake.segments):
        about = segment.catalog.columns.select(["kind", "table", "column"]).to_pylist()
        for place, row in enumerate(about):
            if row["kind"] not in ("text", "mixed") or not segment.alive[row["table"]]:
                continue
            tokens = segment.tokens.tokens(segment.tokens.set_of(place)[0])
            begun = time.perf_counter()
            separator = find_separator(tokens)
            seconds += time.perf_counter() - begun
            columns += 1
            if separator:
                found.append(Found(number, row["table"], row["column"], separator))
    print(f"recognised: {len(found):,} of {columns:,} text columns in {seconds:.1f} s")
    for each in rng.sample(found, min(shown, len(found))):
        segment = lake.segments[each.segment]
        text = lake_table(segment, each.table).column(each.column).tokens
        cells = [cell[:40] for cell in text.to_pylist() if each.separator in cell or each.separator == LIST]
        print(f"  {each.separator}  {segment.names[each.table][-40:]}  {each.column[:30]}: {cells[:3]}")
    return found


def joined(lake: dovetail.Lake, found: list[Found], same_name: bool, most: int, rng: random.Random) -> None:
    right = by_parts = cases = 0
    for mine, made, pairs in islice(made_cases(lake, found, same_name, rng), most):
        result = join_tables(mine, made, JoinRequest(max_growth=1e9))
        cases += 1
        by_parts += result.by == "parts"
        got = set(zip(result.matches.left.tolist(), result.matches.right.tolist(), strict=True))
        right += got == pairs
        if got != pairs:
            print(f"  missed {mine.name}: {result.sentence[:150]}")
    print(f"joined, with {'the same' if same_name else 'another'} name: {right} of {cases} right, {by_parts} by parts")


def made_cases(
    lake: dovetail.Lake, found: list[Found], same_name: bool, rng: random.Random
) -> Iterator[tuple[InputTable, InputTable, set[tuple[int, int]]]]:
    for each in found:
        segment = lake.segments[each.segment]
        mine = lake_table(segment, each.table)
        if mine.rows > _MOST_ROWS:
            continue
        cells = [_parts(cell, each.separator) for cell in mine.text.column(each.column).to_pylist()]
        parts = sorted({part for cell in cells for part in cell})
        kept = [part for part in parts if rng.random() >= _LEFT_OUT]
        others = {token for token in _others(lake, rng, len(parts)) if token.casefold() not in parts}
        values = [part.upper() if rng.random() < 0.5 else part.title() for part in kept] + sorted(others)
        rng.shuffle(values)
        head = each.column if same_name else "label"
        made = open_table({head: values, "extra": [f"x{rng.randrange(10**6)}" for _ in values]}, "made")
        rows: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            rows.setdefault(value.casefold(), []).append(row)
        yield (
            mine,
            made,
            {(row, other) for row, cell in enumerate(cells) for part in cell for other in rows.get(part, ())},
        )


def _parts(cell: str | None, separator: str) -> set[str]:
    if cell is None:
        return set()
    parts = json.loads(cell) if separator == LIST else cell.split(separator)
    return {" ".join(str(part).split()).casefold() for part in parts} - set(NULL_MARKERS)


def _others(lake: dovetail.Lake, rng: random.Random, number: int) -> list[str]:
    segment = rng.choice(lake.segments)
    ids = [rng.randrange(segment.tokens.arrays.tokens) for _ in range(number)]
    return [token for token in segment.tokens.tokens(ids).to_pylist() if ";" not in token and "," not in token]


def unharmed(truth: Path, pairs: int) -> None:
    likely = choose.likely_by_parts
    for family, cases in (("declared keys", declared_keys), ("strangers", strangers)):
        differ, seconds, number = 0, {True: 0.0, False: 0.0}, 0
        for case in islice(cases(truth / "relational", 7), pairs):
            mine, theirs = case.tables()
            results = {}
            for with_parts in (False, True):
                choose.likely_by_parts = likely if with_parts else lambda *_: None
                begun = time.perf_counter()
                results[with_parts] = join_tables(mine, theirs, JoinRequest(), decisions=NO_DECISIONS)
                seconds[with_parts] += time.perf_counter() - begun
            number += 1
            if (results[True].by, results[True].columns) != (results[False].by, results[False].columns):
                differ += 1
                print(f"  {case.name}: {results[True].sentence[:120]} {results[True].why[:100]}")
        print(
            f"unharmed, {family}: {number - differ} of {number} as without joins by parts; "
            f"{seconds[False]:.1f} s without, {seconds[True]:.1f} s with"
        )
    choose.likely_by_parts = likely


if __name__ == "__main__":
    main()
