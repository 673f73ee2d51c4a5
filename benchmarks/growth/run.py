"""How every cost grows with the number of tables, over lakes of a published shape.

    python benchmarks/growth/run.py web --tables 1000 10000 100000 --work DIR
    python benchmarks/growth/run.py open_data --scale 0.1 --tables 1000 10000 --work DIR
    python benchmarks/growth/run.py web --tables 285000 --work DIR      # a million columns
    python benchmarks/growth/run.py web --report --work DIR             # measures nothing, prints the tables

Each lake is made (shapes.py), indexed, asked (ask.py: by one column, several, similar values, transformation, through
the lake, with nothing said, paths), searched for all dependencies and keys, and compacted after a tenth of its tables
was removed. Every step is a process of its own: seconds, CPU seconds of all its processes, their memory at peak,
bytes on disk. DIR/growth.jsonl has a line for each: a step with a line is not done again. Latency against the number of
segments is measured by segments/latency.py.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ask
import pyarrow.parquet as pq
from fit import fit
from shapes import SHAPES, make_lake

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "indexing")]

from memory import Usage, run_measured  # noqa: E402
from reporting import machine, markdown_table  # noqa: E402
from sides import COMMAND, index  # noqa: E402

from measured import record  # noqa: E402

SEARCHES = [kind for kind in ask.KINDS if kind != "path"]
STEPS = ["index", *SEARCHES, "inds", "keys", "path", "compact"]
_REMOVED = "*0.csv"  # tables that are removed before compacting: about a tenth
_NOTHING_FOUND = 1  # the exit code


@dataclass(frozen=True)
class Lake:
    """A lake to measure, with the place of its files."""

    shape: str
    tables: int
    scale: float
    seed: int
    work: Path

    @property
    def folder(self) -> Path:
        return self.work / f"{self.shape}-{self.tables}-{self.scale:g}-{self.seed}"

    @property
    def about(self) -> dict[str, Any]:
        return {"shape": self.shape, "tables": self.tables, "scale": self.scale, "seed": self.seed}

    @property
    def files(self) -> Path:
        return self.folder / "lake"

    @property
    def index(self) -> Path:
        return self.folder / "index"


def measure(lake: Lake, step: str) -> dict[str, Any]:
    """One step; returns its costs."""
    if step == "index":
        return _measure_index(lake)
    if not lake.index.is_dir():
        run_measured([COMMAND, "index", str(lake.files), "--to", str(lake.index)])
    if step in ask.KINDS:
        output, usage = run_measured([sys.executable, str(HERE / "ask.py"), str(lake.index), step])
        return _costs(usage) | _latencies(json.loads(output))
    if step == "compact":
        run_measured([COMMAND, "remove", str(lake.index), _REMOVED])
        _, usage = run_measured([COMMAND, "compact", str(lake.index)])
        return _costs(usage) | {"bytes": _bytes(lake.index)}
    to = lake.folder / f"{step}.parquet"
    options = ["--min-score", "0"] if step == "keys" else []
    _, usage = run_measured([COMMAND, step, str(lake.index), "-o", str(to), *options], (0, _NOTHING_FOUND))
    return _costs(usage) | {"hits": _lines(to)}


def _measure_index(lake: Lake) -> dict[str, Any]:
    shutil.rmtree(lake.index, ignore_errors=True)
    build = index(COMMAND, lake.files, lake.index)
    return _costs(build.usage) | {
        "seconds": round(build.own_seconds, 3), "spark_start": build.report["spark_start_seconds"],
        "bytes": build.index_bytes,
    }  # fmt: skip


def _costs(usage: Usage) -> dict[str, Any]:
    return {
        "seconds": round(usage.seconds, 3),
        "cpu_seconds": round(usage.cpu_seconds, 3),
        "peak_bytes": usage.peak_bytes,
    }


def _latencies(asked: dict[str, Any]) -> dict[str, Any]:
    cpu = sorted(asked["cpu_ms"])
    return {
        "questions": len(cpu), "median_ms": round(statistics.median(cpu), 2), "most_ms": round(cpu[-1], 2),
        "median_wall_ms": round(statistics.median(asked["wall_ms"]), 2), "hits": asked["hits"],
    }  # fmt: skip


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _lines(file: Path) -> int:
    return int(pq.read_metadata(file).num_rows) if file.exists() else 0


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(lake: Lake, results: Path) -> None:
    """All steps of a lake that have no line yet."""
    done = {line["step"] for line in lines(results) if lake.about.items() <= line.items()}
    missing = [step for step in ["make", *STEPS] if step not in done]
    if not missing:
        return

    def keep(step: str, costs: dict[str, Any]) -> None:
        line = json.dumps({**lake.about, "step": step, **costs})
        print(line, flush=True)
        with results.open("a") as file:
            file.write(line + "\n")

    if not lake.files.is_dir():
        begun, draft = time.perf_counter(), lake.folder / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        made = make_lake(lake.shape, draft, lake.tables, lake.seed, lake.scale, lake.folder / "truth.csv")
        draft.rename(lake.files)
        if "make" in missing:
            keep("make", {"seconds": round(time.perf_counter() - begun, 1), **asdict(made)})
    for step in missing:
        if step in STEPS:
            keep(step, measure(lake, step))


def report(shape: str, found: list[dict[str, Any]]) -> str:
    """Costs by the number of tables, each with the power that fits."""
    by_step = {step: [line for line in found if line["step"] == step] for step in ["make", *STEPS]}
    sizes = sorted({line["tables"] for line in found})
    searches = [("one search: " + kind, kind, "median_ms", 1.0, "CPU ms") for kind in [*SEARCHES, "path"]]
    whole = [(step, step, "cpu_seconds", 1.0, "CPU s") for step in ("index", "inds", "keys", "compact")]
    sections = [f"## {shape}: {', '.join(f'{size:,}' for size in sizes)} tables", machine()]
    rows = [_row("index without Spark's start", by_step["index"], sizes, "seconds", 1.0, "s")]
    rows += [_row(name, by_step[step], sizes, key, unit, of) for name, step, key, unit, of in [*whole, *searches]]
    for step in ("index", "inds", "keys", "nothing said", "semantic"):
        rows.append(_row(f"{step}: memory at peak", by_step[step], sizes, "peak_bytes", 1e6, "MB"))
    rows.append(_row("bytes of the lake", by_step["make"], sizes, "bytes", 1e6, "MB"))
    rows.append(_row("bytes of the index", by_step["index"], sizes, "bytes", 1e6, "MB"))
    rows.append(_row("dependencies found", by_step["inds"], sizes, "hits", 1.0, ""))
    rows.append(_row("foreign keys found", by_step["keys"], sizes, "hits", 1.0, ""))
    names = ("cost", *(f"{size:,}" for size in sizes), "exponent, 90 %", "of the last step")
    return "\n\n".join([*sections, markdown_table(names, rows)])


def _row(name: str, found: list[dict[str, Any]], sizes: list[int], key: str, unit: float, of: str) -> tuple[str, ...]:
    values = {line["tables"]: line[key] / unit for line in found if key in line}
    cells = [_number(values[size]) if size in values else "–" for size in sizes]
    points = sorted((size, value) for size, value in values.items() if value > 0)
    label = f"{name}, {of}" if of else name
    if len(points) < 2:
        return (label, *cells, "–", "–")
    return (label, *cells, fit(points).text, fit(points[-2:]).text)


def keep(found: list[dict[str, Any]]) -> None:
    """The figures of docs/benchmarks.md."""
    size, column, nothing_said = (
        fit([(line["tables"], line[key]) for line in found if line["step"] == step])
        for step, key in (("index", "bytes"), ("one column", "median_ms"), ("nothing said", "median_ms"))
    )
    record(
        tables=[line["tables"] for line in found],
        bytes_exponent=size.exponent,
        bytes_interval=size.interval,
        column_exponent=column.exponent,
        column_interval=column.interval,
        nothing_said_exponent=nothing_said.exponent,
        nothing_said_interval=nothing_said.interval,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=[*SHAPES, "enterprise"])
    parser.add_argument("--tables", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--scale", type=float, default=1.0, help="of the sets' sizes; 1 is as published")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="for lakes, indexes and growth.jsonl")
    parser.add_argument("--remove", action="store_true", help="remove each lake and index when it has been measured")
    parser.add_argument("--report", action="store_true", help="measure nothing; print what has been measured")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    results = given.work / "growth.jsonl"
    for tables in [] if given.report else given.tables:
        lake = Lake(given.shape, tables, given.scale, given.seed, given.work)
        run(lake, results)
        if given.remove:
            shutil.rmtree(lake.folder, ignore_errors=True)
    same = {"shape": given.shape, "scale": given.scale, "seed": given.seed}
    found = [line for line in lines(results) if same.items() <= line.items()]
    print("\n" + report(given.shape, found))
    if len({line["tables"] for line in found}) > 1:
        keep(found)


if __name__ == "__main__":
    main()
