"""Tables of many columns whose keys are codes with more digits than letters: rows, precision, recall, seconds.

    python benchmarks/transformation/codes.py [--rows 60] [--columns 1 4 8 16]

Each key is a code that the other table writes by another rule. Beside it are columns that have nothing to do with the
join, drawn for each table from the same pools: counts, years, amounts, dates, towns, words and names of people. Without
options, and by transformation alone.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator

from synthetic import Case, Columns, case_of, word

import dovetail
from run import Measured, pairs_of, report, scored

Draw = random.Random
_PAIRS = 3  # of tables, for each rule and number of columns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 4, 8, 16], help="beside the key, of each table")
    parser.add_argument("--cases", action="store_true", help="print every case")
    options = parser.parse_args()
    dovetail.join({"a": ["b c", "d e", "f g"]}, {"a": ["b", "d", "f"]})  # compiles, or loads what was compiled
    for columns in options.columns:
        for by in ("transform", None):
            measured = [_measure(name, case, by) for name, case in cases(options.rows, columns)]
            report(f"{columns:2} {by or 'unasked'}", measured, options.cases)
            print(f"{'':12}{statistics.mean(each.seconds for each in measured):.2f} s in the mean", flush=True)


def cases(rows: int, columns: int) -> Iterator[tuple[str, Case]]:
    """Pairs of tables with as many columns beside the key, the same in every run."""
    for name, rule in RULES.items():
        for number in range(_PAIRS):
            draw = random.Random(f"{name} {columns} {number}")
            yield name, _pair(rule, rows, columns, draw)


def _pair(rule: Callable[[Draw], tuple[str, str]], rows: int, columns: int, draw: Draw) -> Case:
    """The key is the last column on the left and the first one on the right."""
    codes: dict[str, str] = {}
    while len(codes) < rows:
        theirs, mine = rule(draw)[::-1]
        codes.setdefault(theirs, mine)
    left, right, truth = case_of(
        draw, {**_beside(rows, columns, draw), "code": list(codes.values())}, list(codes), "key"
    )
    return left, {**right, **_beside(rows, columns, draw)}, truth


def _beside(rows: int, columns: int, draw: Draw) -> Columns:
    """Columns that have nothing to do with the join."""
    kinds = draw.sample(list(_KINDS), columns % len(_KINDS)) + list(_KINDS) * (columns // len(_KINDS))
    return {f"{kind}_{place}": [_KINDS[kind](draw) for _ in range(rows)] for place, kind in enumerate(kinds)}


def _measure(name: str, case: Case, by: str | None) -> Measured:
    left, right, truth = case
    begun = time.process_time()
    pairs = set(pairs_of(dovetail.join(left, right, by=by)))
    return scored(name, pairs, truth, time.process_time() - begun)


def _part(draw: Draw) -> tuple[str, str]:
    letter, number, last = draw.choice("ABCDEF"), draw.randint(100, 99_999), draw.choice("xyz")
    return f"{letter}{number}/{last}", f"{letter}{number}{last}"


def _order(draw: Draw) -> tuple[str, str]:
    year, number = draw.randint(2001, 2024), draw.randint(1, 99_999)
    return f"{year}-{number:05}", f"PO{number:05}/{year % 100:02}"


def _account(draw: Draw) -> tuple[str, str]:
    land, bank, number = draw.choice(("DE", "FR", "NL")), draw.randint(1000, 1040), draw.randint(10_000, 999_999)
    return f"{land} {bank} {number}", f"{bank}-{number}"


def _plate(draw: Draw) -> tuple[str, str]:
    letters, number = "".join(draw.choices("KLMNPRST", k=2)), draw.randint(1000, 9999)
    return f"{letters}-{number}", f"{number} {letters.lower()}"


RULES = {"part": _part, "order": _order, "account": _account, "plate": _plate}
_KINDS: dict[str, Callable[[Draw], str]] = {
    "quantity": lambda draw: str(draw.randint(1, 99)),
    "year": lambda draw: str(draw.randint(1980, 2024)),
    "amount": lambda draw: f"{draw.uniform(1, 5000):.2f}",
    "date": lambda draw: f"{draw.randint(1990, 2024)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
    "town": lambda draw: word(draw, 1, 2).title(),
    "note": lambda draw: " ".join(word(draw, 1, 2) for _ in range(4)),
    "person": lambda draw: f"{word(draw, 1, 3).title()} {word(draw, 1, 3).title()}",
}

if __name__ == "__main__":
    main()
