"""How many files of a lake are read with the shape that its MANIFEST.csv states, and at what cost in processor time.

    python benchmarks/reading/run.py --lake DIR [--list-misses] [--peers N] [--limit N]

The manifest counts the first line as a header always. The tables of `headerless.txt` have none, so the share is printed
twice: as the manifest states, and with these right where they are read without a header.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from headers import headerless
from peers import compare

from dovetail.errors import UnreadableTable
from dovetail.lake.reader import RowCounter, detect_layout, read

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record


@dataclass
class Outcome:
    table: str
    stated: tuple[int, int]
    found: tuple[int, int] | str
    detect_ms: float
    read_ms: float
    note: str = ""
    header: bool = True

    @property
    def right(self) -> bool:
        return self.found == self.stated


def measured(lake: Path, row: dict[str, str]) -> Outcome:
    path = lake / row["table"]
    stated = int(row["rows"]), int(row["columns"])
    counter = RowCounter()
    start = time.process_time()
    detected = start
    try:
        layout = detect_layout(path)
        detected = time.process_time()
        for _ in read(path, layout, counter=counter):
            pass
    except UnreadableTable as error:
        return Outcome(row["table"], stated, str(error), (detected - start) * 1000, 0.0)
    done = time.process_time()
    note = f"{layout.delimiter!r} header={layout.header} skip={layout.skip_lines} ragged={counter.ragged}"
    found = counter.rows, len(layout.columns)
    return Outcome(
        row["table"], stated, found, (detected - start) * 1000, (done - detected) * 1000, note, layout.header
    )


def summary(name: str, times: list[float]) -> str:
    times = sorted(times)
    mean = sum(times) / len(times)
    middle, high = times[len(times) // 2], times[-1 - len(times) // 100]
    return f"{name}: {mean:.2f} ms of processor time on average, {middle:.2f} median, {high:.2f} at 99%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument("--list-misses", action="store_true")
    parser.add_argument("--peers", type=int, default=0, metavar="N", help="also try clevercsv and DuckDB on N files")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only N files, drawn at random")
    options = parser.parse_args()
    with (options.lake / "MANIFEST.csv").open(newline="", encoding="utf-8") as file:
        manifest = list(csv.DictReader(file))
    random.Random(7).shuffle(manifest)
    outcomes = [measured(options.lake, row) for row in manifest[: options.limit or None]]
    right = sum(outcome.right for outcome in outcomes)
    print(f"{right} of {len(outcomes)} tables ({right / len(outcomes):.2%}) have the stated rows and columns")
    without_header = headerless()
    mended = sum(not o.header if o.table in without_header else o.right for o in outcomes)
    print(f"{mended} of {len(outcomes)} ({mended / len(outcomes):.2%}) with the tables that have no header corrected")
    record(
        tables=len(outcomes), right_percent=100 * right / len(outcomes), corrected_percent=100 * mended / len(outcomes)
    )
    print(summary("detect_layout", [outcome.detect_ms for outcome in outcomes]))
    print(summary("read", [outcome.read_ms for outcome in outcomes]))
    if options.list_misses:
        for outcome in sorted((o for o in outcomes if not o.right), key=lambda o: o.table):
            print(f"{outcome.table}: stated {outcome.stated}, found {outcome.found} {outcome.note}")
    if options.peers:
        text = [row for row in manifest if row["format"] != "parquet"][: options.peers]
        shapes = [(int(row["rows"]), int(row["columns"])) for row in text]
        files = [(options.lake / row["table"], row["encoding"], shape) for row, shape in zip(text, shapes, strict=True)]
        print("\n".join(compare(files)))


if __name__ == "__main__":
    main()
