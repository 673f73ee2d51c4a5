"""How time and number of dependencies grow with the number of tables, filters on: tables of the shape of the web's.

Tables have the paper's Table 1 shape: about 5.3 columns and 11 rows. Two fifths of the columns are numbers, half of
them the rows counted; the others draw from one of many domains, some of whose values are far more frequent than others.
Segments are written directly, with tokens and catalog only: what is measured is finding and ranking, from opening on.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail._storage.segment import Segment, SegmentRef, SegmentWriter
from dovetail.catalog import records
from dovetail.catalog.records import CatalogWriter, ColumnRecord, TableRecord
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import InclusionFinder, InclusionQuery
from dovetail.graph.inclusion_dependencies import InclusionDependencies
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS
from dovetail.normalise import ColumnType

_TABLES_OF_A_SEGMENT = 20_000
_MEMORY = 1 << 30
_DOMAINS_OF_A_TABLE = 0.05
_NAMES = ("name", "city", "team", "year", "title", "country", "id", "player", "date", "type")


def make_lake(folder: Path, tables: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    domains = max(20, int(tables * _DOMAINS_OF_A_TABLE))
    refs = []
    for first in range(0, tables, _TABLES_OF_A_SEGMENT):
        refs.append(
            _segment(folder, random, range(first, min(first + _TABLES_OF_A_SEGMENT, tables)), domains).to_json()
        )
    (folder / "refs.json").write_text(json.dumps(refs))


def _segment(folder: Path, random: np.random.Generator, tables: range, domains: int) -> SegmentRef:
    writer, catalog = SegmentWriter(folder), CatalogWriter()
    with tempfile.TemporaryDirectory() as scratch:
        builder = TOKENS.builder(Path(scratch), _MEMORY, {})
        for table in tables:
            rows = int(np.clip(random.lognormal(2.0, 0.9), 1, 4670))
            kinds = []
            for number, (kind, values) in enumerate(_columns(random, rows, domains)):
                tokens, counts = np.unique(values, return_counts=True)
                builder.add(ColumnChunk(catalog.columns + number, pa.array(tokens).cast(pa.large_string()), counts))
                name, ends = _NAMES[int(random.integers(len(_NAMES)))], (str(tokens[0]), str(tokens[-1]))
                kinds.append(ColumnRecord(name, ColumnType(kind), rows, 0, len(tokens), 0, *ends))
            catalog.add_table(TableRecord(f"t{table}.csv", "", "", 0, rows), kinds)
        counts = builder.finish(writer, catalog.widths)
    distinct = np.diff(writer.pack(TOKENS.name).unpacked("set_offsets"))
    writer.write_part(records.NAME, records.VERSION, lambda pack: catalog.write(pack, distinct))
    return writer.finish(counts | catalog.counts())


def _columns(random: np.random.Generator, rows: int, domains: int) -> Iterator[tuple[str, np.ndarray]]:
    for _ in range(max(1, int(random.poisson(5.34)))):
        draw = random.random()
        if draw < 0.2:
            yield "integer", np.arange(1, rows + 1)
        elif draw < 0.4:
            yield "integer", random.integers(0, 10 ** int(random.integers(1, 6)), rows)
        else:
            domain = int(random.zipf(1.3)) % domains
            size = 20 + 7 * (domain * 7919 % 3000)
            places = (random.random(rows) ** 3 * size).astype(np.int64)
            yield "text", np.char.add(f"{domain} of ", places.astype(str))


def find(folder: Path) -> None:
    """In a process of its own: time, number and memory as JSON."""
    refs = [SegmentRef.from_json(ref) for ref in json.loads((folder / "refs.json").read_text())]

    def inclusions() -> InclusionFinder:
        return InclusionFinder(LakeColumns([OpenSegment(Segment(folder, ref)) for ref in refs]), InclusionQuery())

    number = sum(len(pairs) for pairs in inclusions())  # compiles what is not compiled yet
    InclusionDependencies(inclusions()).write(folder / "inds.parquet")
    cpu = time.process_time()
    found = inclusions()
    assert number == sum(len(pairs) for pairs in found)
    answer = {"cpu": time.process_time() - cpu}
    cpu = time.process_time()
    InclusionDependencies(inclusions()).write(folder / "inds.parquet")
    answer |= {"whole_cpu": time.process_time() - cpu, "columns": len(found.columns), "sets": len(found.sets)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({**answer, "segments": len(refs), "dependencies": number, "peak_bytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[1000, 2000, 5000, 10_000, 20_000, 50_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a plot, as .svg or .png")
    parser.add_argument("--find", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.find:
        find(given.find)
        return
    print("| tables | columns | segments | dependencies | found, CPU s | … ranked and written, CPU s | peak MB |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    points = []
    for tables in given.tables:
        folder = Path(tempfile.mkdtemp())
        make_lake(folder, tables, given.seed)
        command = [sys.executable, __file__, "--find", str(folder)]
        got = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        points.append(got | {"tables": tables})
        print(
            f"| {tables:,} | {got['columns']:,} | {got['segments']} | {got['dependencies']:,} | {got['cpu']:.2f} | "
            f"{got['whole_cpu']:.2f} | {got['peak_bytes'] / 1e6:,.0f} |",
            flush=True,
        )
        shutil.rmtree(folder)
    if given.plot:
        draw(points, given.plot)


def draw(points: list[dict[str, float]], file: Path) -> None:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise SystemExit("--plot needs matplotlib: pip install -e '.[benchmarks]'") from error
    tables = [point["tables"] for point in points]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    left.loglog(tables, [point["cpu"] for point in points], "o-", label="found")
    left.loglog(tables, [point["whole_cpu"] for point in points], "o-", label="found, ranked and written")
    left.set(title="CPU seconds, from opening on", xlabel="tables")
    left.legend()
    middle.loglog(tables, [point["dependencies"] for point in points], "o-")
    middle.set(title="Dependencies that pass the filters", xlabel="tables")
    right.semilogx(tables, [point["peak_bytes"] / 1e6 for point in points], "o-")
    right.set(title="Peak memory, MB", xlabel="tables", ylim=(0, None))
    figure.savefig(file)


if __name__ == "__main__":
    main()
