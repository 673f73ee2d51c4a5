"""How often a header is lost, and how often the first row of a table without one.

    python benchmarks/reading/headers.py --lake DIR [--lake DIR] [--fit]

Every table of the lakes counts three times: as it is, and with its last column named as its first, where its first row
should be found to be a header (not so for the tables of `headerless.txt`), and without its first row, where it should
not. Tables are halved by the hash of their file
name: the weights of `dovetail.lake.header` are fitted on the first half (`--fit` prints them anew), and the error rates
that count are those of the second.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from dovetail.errors import UnreadableTable
from dovetail.lake import header
from dovetail.lake.delimited import decoded, dialect_of, read_head
from dovetail.lake.dialect import DialectOverride
from dovetail.lake.encoding import encoding_of
from dovetail.lake.formats import format_of
from dovetail.lake.frame import ROWS_THAT_VOTE, comment_mark, first_rows, is_comment, preamble_length, usual_width
from dovetail.lake.reader import text_suffix
from dovetail.lake.streams import compression_of, reasons

Example = tuple[list[str], list[list[str]]]


@dataclass
class Half:
    with_header: list[Example] = field(default_factory=list)
    repeating: list[Example] = field(default_factory=list)
    """The same tables with two columns of one name."""
    stripped: list[Example] = field(default_factory=list)
    """Tables without the first row that they have in the lake."""
    headerless: list[Example] = field(default_factory=list)
    """Tables that have no header in the lake either."""

    def errors(self) -> str:
        lost = sum(not header.has_header(*found) for found in self.with_header)
        repeated = sum(not header.has_header(*found) for found in self.repeating)
        taken = sum(header.has_header(*found) for found in self.stripped)
        missed = sum(header.has_header(*found) for found in self.headerless)
        return (
            f"headers lost {lost:,} of {len(self.with_header):,} ({lost / len(self.with_header):.2%}), "
            f"with a name repeated {repeated:,} of {len(self.repeating):,} ({repeated / len(self.repeating):.2%}), "
            f"first rows lost {taken:,} of {len(self.stripped):,} ({taken / len(self.stripped):.1%}), "
            f"of tables without a header in the lake {missed:,} of {len(self.headerless):,}"
        )


def headerless() -> frozenset[str]:
    """Tables whose first row is no header, by reading them. Only tables that some rule took for such were read."""
    return frozenset((Path(__file__).parent / "headerless.txt").read_text(encoding="utf-8").splitlines())


def tables(lake: Path) -> Iterator[Path]:
    with (lake / "MANIFEST.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (format_of(row["table"]) or [""])[0] == "delimited":
                yield lake / row["table"]


def rows_of(path: Path) -> list[list[str]]:
    """The first rows of the table, its header first; comments and titles are left out."""
    with reasons():
        head, complete = read_head(path, compression_of(path))
    text = decoded(head, encoding_of(head, complete), complete)
    dialect, _ = dialect_of(text, text_suffix(path.name), DialectOverride())
    rows = first_rows(text, dialect, 0)
    width = usual_width([cells for _, _, cells in rows])
    comment = comment_mark(rows, width, dialect)
    kept = rows[preamble_length(rows, width, comment) :]
    return [
        cells for n, (_, _, cells) in enumerate(kept) if n == 0 or len(cells) == width or not is_comment(cells, comment)
    ]


def example(rows: list[list[str]]) -> Example | None:
    below = list(islice((row for row in rows[1:] if len(row) >= len(rows[0])), ROWS_THAT_VOTE))
    return (rows[0], below) if below else None


def repeating(table: Example) -> Example | None:
    """The table with its last column named as its first."""
    first, below = table
    return ([*first[:-1], first[0]], below) if len(first) > 2 and first[0].strip() else None


def fitted(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method, with a prior of variance 1 on the weights."""
    weights = np.zeros(values.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (truth - chance) - weights
        bend = (values.T * (chance * (1 - chance))) @ values + np.eye(len(weights))
        weights += np.linalg.solve(bend, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", type=Path, action="append", required=True)
    parser.add_argument("--fit", action="store_true", help="print the weights that fit the first half best")
    options = parser.parse_args()
    halves = Half(), Half()
    without_header = headerless()
    for lake, path in ((folder, path) for folder in options.lake for path in tables(folder)):
        try:
            rows = rows_of(path)
        except (UnreadableTable, IndexError):
            continue
        if len(rows) > 2 and (whole := example(rows)) and (stripped := example(rows[1:])):
            half = halves[hashlib.sha1(path.name.encode()).digest()[0] & 1]
            known = path.relative_to(lake).as_posix() in without_header
            (half.headerless if known else half.with_header).append(whole)
            if not known and (twice := repeating(whole)):
                half.repeating.append(twice)
            half.stripped.append(stripped)
    print("fitted on:", halves[0].errors())
    print("held out: ", halves[1].errors())
    if options.fit:
        names, data = [*halves[0].with_header, *halves[0].repeating], [*halves[0].stripped, *halves[0].headerless]
        values = np.array([[1.0, *header.header_evidence(*found).values()] for found in [*names, *data]])
        truth = np.repeat([1.0, 0.0], [len(names), len(data)])
        for name, weight in zip(("prior", *header.WEIGHTS), fitted(values, truth), strict=True):
            print(f"    {name!r}: {weight:.2f},")


if __name__ == "__main__":
    main()
