"""Cut real tables into pieces of which it is known which can be appended to each other, and which join.

    python benchmarks/union/splits.py INDEX FOLDER --sources GLOB [...] [--horizontal 40] [--vertical 20] [--seed 1]

INDEX is the index of a lake. Base tables are drawn at random from the tables that match a glob, at most two from each
folder: 110 to 5,000 rows, 5 to 30 columns, of which at least two are texts, as TUS and SANTOS have it.

Horizontal: eleven pieces, in the order of the rows or at random. Each piece drops a fifth of its columns, renames a
third of them (abbreviated, without vowels, in another style, with a prefix, or as a column without a name), shuffles
them, and is written as one of five formats. The pieces of every second base are called after it, the others are not.

Vertical: two pieces of a table with a key of texts. Both have the key, each has half of the other columns and a random
four fifths of the rows. `truth.json` says which file belongs to which base, with which of its columns.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.random import Generator

import dovetail
from dovetail._output import csv_text

PIECES = 11
ROWS, COLUMNS, TEXTS = (110, 5_000), (5, 30), 2
MOST_OF_FOLDER = 2
_DROPPED, _RENAMED = 0.2, 1 / 3
_KEPT_ROWS = 0.8  # of a vertical piece
_FORMATS = (".csv", ".semicolon.csv", ".tsv", ".jsonl", ".parquet")


def bases(
    lake: dovetail.Lake, globs: list[str], numbers: tuple[int, int], draw: Generator
) -> Iterator[tuple[str, str]]:
    """Tables to cut, in random order, with the key of those that are cut vertically. No two have the same file name."""
    lines = [line for line in lake.tables() if any(fnmatch(line.table, glob) for glob in globs) and not line.error]
    fit = [line.table for line in lines if _within(line.rows, ROWS) and _within(line.columns, COLUMNS)]
    folders: Counter[str] = Counter()
    stems: set[str] = set()
    horizontal, vertical = numbers
    for place in draw.permutation(len(fit)):
        folder, stem = fit[place].rpartition("/")[0], Path(fit[place]).stem
        if folders[folder] == MOST_OF_FOLDER or stem in stems:
            continue
        columns = [column for column in lake.table(fit[place]).columns if column.type in ("text", "mixed")]
        key = next((column.name for column in columns if column.key), "")
        if sum(column.distinct > 1 for column in columns) < TEXTS:
            continue
        if key and vertical:
            vertical -= 1
        elif horizontal:
            horizontal, key = horizontal - 1, ""
        else:
            continue
        folders[folder] += 1
        stems.add(stem)
        yield fit[place], key


def _within(value: int, limits: tuple[int, int]) -> bool:
    return limits[0] <= value <= limits[1]


Piece = tuple[pa.Table, list[str]]  # and the columns of the base that it has


def horizontal(table: pa.Table, draw: Generator) -> Iterator[Piece]:
    """Pieces with other rows."""
    order = draw.permutation(table.num_rows) if draw.random() < 0.5 else np.arange(table.num_rows)
    for rows in np.array_split(order, PIECES):
        names = [name for name in table.column_names if draw.random() >= _DROPPED]
        names = names if len(names) > 2 else list(table.column_names)
        names = [names[place] for place in draw.permutation(len(names))]
        piece = table.select(names).take(pa.array(np.sort(rows)))
        yield piece.rename_columns(_distinct([renamed(name, place, draw) for place, name in enumerate(names)])), names


def vertical(table: pa.Table, key: str, draw: Generator) -> Iterator[Piece]:
    """Two pieces with other columns and the same key."""
    others = [name for name in table.column_names if name != key]
    order = draw.permutation(len(others))
    for half in np.array_split(order, 2):
        rows = draw.permutation(table.num_rows)[: int(table.num_rows * _KEPT_ROWS)]
        names = [key, *(others[place] for place in half)]
        yield table.select(names).take(pa.array(rows)), names


def renamed(name: str, place: int, draw: Generator) -> str:
    if draw.random() >= _RENAMED:
        return name
    words = re.findall(r"[^\W_]+", name) or ["column"]
    styles = (
        "_".join(word[:3] for word in words),
        "".join([words[0].lower(), *(word.title() for word in words[1:])]),
        re.sub(r"(?<=.)[aeiou]", "", "_".join(words)),
        f"my_{'_'.join(words).lower()}",
        f"column_{place + 1}",
    )
    return styles[draw.integers(len(styles))]


def _distinct(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name.casefold()] += 1
        found.append(name if seen[name.casefold()] == 1 else f"{name}_{seen[name.casefold()]}")
    return found


def write(table: pa.Table, stem: Path, format: str) -> Path:
    path = Path(f"{stem}{format}")
    if format == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif format == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist()))
    elif format == ".csv":
        path.write_text("".join(csv_text(table)))
    else:
        options = pyarrow.csv.WriteOptions(delimiter=";" if "semicolon" in format else "\t")
        pyarrow.csv.write_csv(table, path, options)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sources", nargs="+", required=True)
    parser.add_argument("--horizontal", type=int, default=40)
    parser.add_argument("--vertical", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    lake = dovetail.open(options.index)
    options.folder.mkdir(parents=True, exist_ok=True)
    truth = []
    count = 0
    chosen = list(bases(lake, options.sources, (options.horizontal, options.vertical), draw))
    for number, (base, key) in enumerate(chosen):
        text = lake.table(base).open().text
        pieces = list(vertical(text, key, draw) if key else horizontal(text, draw))
        told = number % 2 == 0
        files = {}
        for place, (piece, names) in enumerate(pieces):
            stem = f"{Path(base).stem}_{place + 1}" if told else f"t{draw.integers(10**9):09}"
            format = _FORMATS[draw.integers(len(_FORMATS))]
            files[write(piece, options.folder / stem, format).name] = names
            count += 1
        cut = "vertical" if key else "horizontal"
        truth.append({"base": base, "cut": cut, "key": key, "called_after": told, "files": files})
    (options.folder / "truth.json").write_text(json.dumps(truth, indent=1))
    print(f"{count} pieces of {len(truth)} tables")


if __name__ == "__main__":
    main()
