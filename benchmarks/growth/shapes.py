"""Makes lakes of any number of tables with the shapes that papers publish, the same for the same seed.

    python benchmarks/growth/shapes.py web DIR --tables 100000 --seed 1
    python benchmarks/growth/shapes.py open_data DIR --tables 1000 --scale 0.1
    python benchmarks/growth/shapes.py enterprise DIR --tables 200 --truth FILE

    web         12 rows and 3.5 columns on average; sets of values as Table 3.1 of Zhu's thesis has them: 10 on average,
                few of them large, a third of their values by Zipf's law from a vocabulary that all tables share
    open_data   sets of 1,540 values on average, few of them huge, that share little (the same table of the thesis);
                with --scale 0.1, a tenth of that
    enterprise  databases of a few tables with keys (enterprise.py); FILE has the foreign keys

Sets come from overlap/generate.py, columns of numbers from indexing/columns.py. Unlike in indexing/generate.py, whose
words are a fixed list, the number of distinct values grows with the tables.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "overlap"), str(HERE.parent / "indexing")]

import columns  # noqa: E402
from enterprise import make_databases  # noqa: E402
from generate import COMMON, KINDS, Kind, draw_sets  # noqa: E402
from vocabulary import make_vocabulary, spelled  # noqa: E402

_BLOCK = 5_000  # sets that tables are formed of at once
_STEPS = 4  # sizes that are taken to be the same, of each power of two
_FILES_OF_A_FOLDER = 1_000
_NUMBERS = [k for k in columns.KINDS if k.names[0] in ("id", "customer_id", "count", "year", "price", "value")]
_TEXT_NAMES = [name for kind in columns.KINDS if kind.names[0] in ("country", "city", "company", "product", "name")
               for name in kind.names]  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """What a lake's tables are like."""

    sets: Kind
    columns: float
    """Of a table, on average."""
    numbers: float
    """The share of the columns that hold numbers, which the thesis leaves out."""
    repeat: float
    """The rows of a table for each value of its largest set."""


# The thesis has 745,414 sets in 215,393 tables of open data, so 3.46 columns of texts. The shares of numbers are ours;
# so is how often values repeat: in web tables, so that rows are 12 on average.
SHAPES = {
    "web": Shape(KINDS["web_tables"], columns=3.5, numbers=0.25, repeat=1.0),
    "open_data": Shape(KINDS["open_data"], columns=6.92, numbers=0.5, repeat=2.0),
}


@dataclass
class Made:
    """What a lake has; the last four as Table 3.1 counts them, columns of texts only."""

    tables: int = 0
    columns: int = 0
    rows: int = 0
    bytes: int = 0
    sets: int = 0
    largest_set: int = 0
    values_of_sets: int = 0


def make_lake(shape: str, folder: Path, tables: int, seed: int, scale: float, truth: Path | None = None) -> Made:
    """Write the tables of a lake as CSV files."""
    made = Made()
    if shape == "enterprise":
        keys: list[tuple[str, str, str, str]] = []
        for name, names, values in make_databases(tables, seed, scale, keys):
            _write(folder / name, names, values, made)
        if truth:
            _write(truth, ("table", "column", "refers_to", "key"), list(zip(*keys, strict=True)), Made())
        return made
    for number, (names, values) in enumerate(_tables(_scaled(SHAPES[shape], scale), tables, seed, made)):
        _write(folder / f"{number // _FILES_OF_A_FOLDER:03d}" / f"t{number:06d}.csv", names, values, made)
    return made


def _scaled(shape: Shape, scale: float) -> Shape:
    sets = replace(shape.sets, mean=max(2, round(shape.sets.mean * scale)), largest=round(shape.sets.largest * scale))
    return replace(shape, sets=sets)


def _tables(shape: Shape, number: int, seed: int, made: Made) -> Iterator[tuple[list[str], list[Sequence[str]]]]:
    """The names and values of each table's columns."""
    random = np.random.default_rng([seed, 1])
    widths = 1 + random.poisson(shape.columns - 1, number)
    texts = np.maximum(1, random.binomial(widths, 1 - shape.numbers))
    sets = _words(draw_sets(shape.sets, int(texts.sum()), seed))
    for width, text in zip(widths.tolist(), texts.tolist(), strict=True):
        own = list(itertools.islice(sets, text))
        made.sets += text
        made.values_of_sets += sum(map(len, own))
        made.largest_set = max(made.largest_set, *map(len, own))
        rows = max(2, round(shape.repeat * max(map(len, own))))
        values = [_column(random, words, rows) for words in own]
        first = int(random.integers(len(_TEXT_NAMES)))
        names = [_TEXT_NAMES[(first + place) % len(_TEXT_NAMES)] for place in range(text)]
        for place in range(width - text):
            kind = _NUMBERS[int(random.integers(len(_NUMBERS)))]
            names.append(f"{kind.names[0]} {place}" if place else kind.names[0])
            values.append(list(map(str, kind.make(random, rows, _VOCABULARY).to_pylist())))
        yield names, values


def _words(sets: Iterator[pa.LargeStringArray]) -> Iterator[list[str]]:
    """The sets with words for numbers, those of about the same size after each other: a table is made of such."""
    while block := list(itertools.islice(sets, _BLOCK)):
        block.sort(key=lambda each: round(_STEPS * math.log2(len(each))))
        ends = np.cumsum([len(each) for each in block]).tolist()
        numbers = pc.cast(pa.concat_arrays(block), pa.int64()).to_numpy() + COMMON
        words = spelled(numbers).to_pylist()
        yield from (words[start:end] for start, end in zip([0, *ends], ends, strict=False))


def _column(random: np.random.Generator, words: list[str], rows: int) -> list[str]:
    """Every word once, and some again."""
    again = random.integers(0, len(words), rows - len(words)).tolist()
    return [*words, *(words[place] for place in again)]


_VOCABULARY = make_vocabulary(1)  # columns of numbers ask for one, and draw nothing from it


def _write(file: Path, names: Sequence[str], values: Sequence[Sequence[str]], made: Made) -> None:
    lines = map(",".join, zip(*values, strict=True))  # no value has a comma or a quote
    text = "\n".join([",".join(names), *lines, ""])
    try:
        file.write_text(text, encoding="utf-8")
    except FileNotFoundError:
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    made.tables += 1
    made.columns += len(names)
    made.rows += len(values[0])
    made.bytes += len(text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=[*SHAPES, "enterprise"])
    parser.add_argument("dir", type=Path, metavar="DIR", help="where to put the lake; must be empty or not there")
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sets' sizes; 1 is as published")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", type=Path, metavar="FILE", help="for the foreign keys of an enterprise's lake")
    given = parser.parse_args()
    if given.dir.exists() and any(given.dir.iterdir()):
        parser.error(f"{given.dir} is not empty")
    begun = time.perf_counter()
    made = make_lake(given.shape, given.dir, given.tables, given.seed, given.scale, given.truth)
    print(json.dumps({**asdict(made), "seconds": round(time.perf_counter() - begun, 1)}))


if __name__ == "__main__":
    main()
