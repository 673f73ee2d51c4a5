"""What super keys bring: where a search starts, how its rows are filtered, by which hash (the paper's Tables 2 and 3).

    python benchmarks/multi_column/super_keys.py --index DIR [--queries 20] [--bits 128,256,512] [--parts starts,…]

Queries are keys of 2, 3, 5 and 10 columns of the index's own tables, the table being no hit of itself, k = 10; the
largest segment is asked. All queries count: one that spends its --effort counts with the time and the rows up to there,
and the tables say how many did. Super keys are made in memory, and every hash goes through the same kernels. Times are
of the processor, so that a busy machine does not matter.

    starts   {ours, the paper's} start × {no, fitted, XASH} super keys, at every number of bits
    ones     XASH with 2 to 8 ones, as published
    hashes   time and precision by hash, as published: the paper's Tables 2 and 3, by tuples of the key
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from hashes import NAMES, HashedReader, bits_of, fitted, frequent_characters, unfiltered, xash
from queries import Question, draw

from dovetail._storage.directory import open_snapshot
from dovetail.indexes.mate.core import SIZES, alpha
from dovetail.indexes.mate.query import MOST_EFFORT, KeyMatches, KeyWork, MateReader
from dovetail.indexes.open_segment import OpenSegment
from dovetail.papers import mate

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

WIDTHS = (2, 3, 5, 10)
K = 10
ONES = (2, 3, 4, 5, 6, 8)
TUPLES = (100, 1_000, 10_000)  # of a key, at most: the paper's OD (100), (1k) and (10k)
ONLY_128 = ("md5", "murmur")  # as in the paper
_STARTS = {"cover": "ours: a cover", "mate": "the paper's: a column"}
_SEARCHES = {"cover": MateReader.search, "mate": mate.search}
HASHES = ("none", *NAMES, "xash", "fitted")
_FEW = 300_000  # tuples that a query holds against rows
_QUICK = 0.02  # seconds below which a search is timed three times


@dataclass(frozen=True)
class Run:
    """The searches of all queries from one kind of start with one kind of super keys."""

    times: np.ndarray  # milliseconds
    works: list[KeyWork]

    @property
    def precision(self) -> np.ndarray:
        """TP / (TP + FP) of each query; 1 where nothing got through, and NaN where nothing was checked."""
        shares = [w.matched / w.passed if w.passed else 1.0 for w in self.works]
        return np.where([w.checked > 0 for w in self.works], shares, np.nan)

    def precision_of_few(self) -> float:
        """The mean over the queries that hold few tuples against rows."""
        return float(np.nanmean(self.precision[[w.checked <= _FEW for w in self.works]]))

    def line(self) -> str:
        checked, passed, matched = (
            sum(getattr(w, name) for w in self.works) for name in ("checked", "passed", "matched")
        )
        cut = sum(w.cut > 0 for w in self.works)
        return (
            f"{np.median(self.times):.2f} | {self.times.mean():.0f} | {np.nanmean(self.precision):.3f} | {checked:,} | "
            f"{passed:,} | {matched:,} | {cut}"
        )


HEAD = "median ms | mean ms | precision | tuples held against rows | verified | matching | effort spent"


@dataclass(frozen=True)
class Setting:
    """What is asked of which segment."""

    segment: OpenSegment
    questions: list[Question]
    sizes: list[int]
    starts: list[str]
    hashes: list[str]
    effort: int

    def run(self, reader: MateReader, start: str) -> Run:
        return run(reader, self.questions, _SEARCHES[start], self.effort)

    @cached_property
    def characters(self) -> str:
        return frequent_characters(self.segment)

    def alpha(self, bits: int) -> int:
        """By Equation 5."""
        return alpha(bits, self.segment.tokens.arrays.tokens)

    def reader(self, name: str, bits: int) -> MateReader:
        """With super keys by this hash, or without any."""
        if name == "none":
            return unfiltered(self.segment)
        if name == "xash":
            return self.xash(bits)
        if name == "fitted":
            return fitted(self.segment, bits)
        return HashedReader(self.segment.segment, bits_of(name, self.segment.mate, bits))

    def xash(self, bits: int, ones: int | None = None) -> MateReader:
        return xash(self.segment, bits, ones or self.alpha(bits), self.characters)


def run(reader: MateReader, questions: list[Question], search: Callable[..., KeyMatches], effort: int) -> Run:
    times, works = [], []
    smallest = min(questions, key=lambda question: len(question.tuples))
    for question in (smallest, *questions):  # the first one compiles
        allowed = question.allowed(len(reader.store.first_rows) - 1)
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            found = search(reader, question.tokens, question.tuples, K, 1, allowed, effort=effort)
            best = min(best, time.process_time() - begun)
            if best > _QUICK:
                break
        times.append(1000 * best)
        works.append(found.work)
    return Run(np.array(times[1:]), works[1:])


def starts(setting: Setting) -> Iterator[str]:
    """Both starts with every kind of super keys."""
    yield f"| start | super keys | bits | {HEAD} |"
    yield "|---" * 10 + "|"
    for name in setting.starts:
        title = _STARTS[name]
        yield f"| {title} | none | – | {setting.run(setting.reader('none', 0), name).line()} |"
        for bits in setting.sizes:
            yield f"| {title} | fitted | {bits} | {setting.run(fitted(setting.segment, bits), name).line()} |"
            yield f"| {title} | XASH | {bits} | {setting.run(setting.xash(bits), name).line()} |"


def ones(setting: Setting) -> Iterator[str]:
    """XASH by the number of bits that a value sets."""
    yield f"α by Equation 5: {', '.join(f'{setting.alpha(bits)} at {bits} bits' for bits in setting.sizes)}."
    yield ""
    yield f"| XASH, ones | bits | {HEAD} |"
    yield "|---" * 9 + "|"
    for bits in setting.sizes:
        for number in ONES:
            yield f"| {number} | {bits} | {setting.run(setting.xash(bits, number), 'mate').line()} |"


def hashes(setting: Setting) -> Iterator[str]:
    """Mean seconds and mean precision, by hash and tuples of the key."""
    number = np.array([len(question.tuples) for question in setting.questions])
    limits = zip((0, *TUPLES[:-1]), TUPLES, strict=True)
    groups = {f"up to {most:,}": (number <= most) & (number > least) for least, most in limits}
    heads = " | ".join(f"{name} tuples ({members.sum()})" for name, members in groups.items())
    yield f"| mean s, mean precision; hash | bits | {heads} | all ({len(number)}) | effort spent |"
    yield "|---" * (len(groups) + 4) + "|"

    def line(name: str, bits: int | str, found: Run) -> str:
        cells = []
        for members in (*groups.values(), np.ones(len(number), bool)):
            precision = np.nanmean(found.precision[members]) if members.any() else float("nan")
            cells.append(f"{found.times[members].mean() / 1000:.3f}, {precision:.2f}")
        return f"| {name} | {bits} | {' | '.join(cells)} | {sum(w.cut > 0 for w in found.works)} |"

    at_128: dict[str, Run] = {}
    if "none" in setting.hashes:
        yield line("none (SCR)", "–", setting.run(setting.reader("none", 0), "mate"))
    for name in setting.hashes:
        for bits in setting.sizes:
            if name != "none" and (bits == 128 or name not in ONLY_128):
                found = setting.run(setting.reader(name, bits), "mate")
                if bits == 128:
                    at_128[name] = found
                yield line(name, bits, found)
    if set(HASHES) - {"none"} <= set(at_128):
        keep(setting, at_128)


def keep(setting: Setting, runs: dict[str, Run]) -> None:
    """The figures of docs/benchmarks.md: mean precision by hash, of all queries and of those that meet few rows."""
    precisions = {name: float(np.nanmean(found.precision)) for name, found in runs.items()}
    few = {name: found.precision_of_few() for name, found in runs.items()}
    record(
        tables=len(setting.segment.names),
        fitted=precisions["fitted"],
        xash=precisions["xash"],
        few_fitted=few["fitted"],
        few_lhbf=few["lhbf"],
        few_xash=few["xash"],
        few_best=max(precision for name, precision in few.items() if name != "fitted"),
    )


PARTS = {"starts": starts, "ones": ones, "hashes": hashes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=20, help="of each key size")
    parser.add_argument("--bits", default=",".join(map(str, SIZES)))
    parser.add_argument("--parts", default=",".join(PARTS), help=", ".join(PARTS))
    parser.add_argument("--effort", type=int, default=MOST_EFFORT, help="steps of a search, at most")
    parser.add_argument("--starts", default=",".join(_STARTS), help=", ".join(_STARTS))
    parser.add_argument("--hashes", default=",".join(HASHES), help=", ".join(HASHES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    segments = [OpenSegment(segment) for segment in open_snapshot(options.index).segments]
    segment = max(segments, key=lambda s: s.segment.counts["rows"])
    questions = [q for width in WIDTHS for q in draw(segment, width, options.queries, options.seed)]
    sizes = [int(bits) for bits in options.bits.split(",")]
    setting = Setting(segment, questions, sizes, options.starts.split(","), options.hashes.split(","), options.effort)
    print(f"{len(segment.names):,} tables, {segment.segment.counts['rows']:,} rows; {len(questions)} queries.")
    for part in options.parts.split(","):
        print()
        for text in PARTS[part](setting):
            print(text, flush=True)


if __name__ == "__main__":
    main()
