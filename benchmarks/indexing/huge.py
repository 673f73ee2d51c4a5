"""One huge CSV file: how long its cuts, its slices and its segment take, built by one task and by many.

    python benchmarks/indexing/huge.py [--megabytes 500] [--rounds 2] [--server moto_server] [--report FILE]

The file has 20 columns: keys, categories, numbers, moments, names, and quoted texts of several lines, so that cuts are
not simply new lines. The runs take turns in one session, with kernels compiled and workers started already; of each
kind the fastest counts. `walk` is how long one task takes to find the cuts by itself.

How the stages would go on more cores is not measured but computed: all tasks run one after another in this process, and
their CPU seconds are dealt out to cores in order, as Spark would do it.
"""

from __future__ import annotations

import argparse
import heapq
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from places import _BUCKET, run, s3_server
from reporting import emit, machine, markdown_table

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_COMMON = """
import contextlib, json, sys, time
from pathlib import Path
import dovetail
from dovetail.pipeline import jobs
from dovetail.pipeline.jobs import SparkBuild

source, to, small, slots, rounds = sys.argv[1:6]
divide = jobs.worth_dividing
modes = {"one": lambda sizes, *_: [False] * len(sizes), "many": divide}
"""

_ON_SPARK = (
    _COMMON
    + """
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.lake.object_path import path_of
from dovetail.lake.reader import detect_layout, split
from dovetail.settings import DEFAULTS, MB

spent = {}
job = SparkBuild._job
def timed(self, work, tasks, description):
    begun = time.perf_counter()
    answers = job(self, work, tasks, description)
    spent[work.__name__] = spent.get(work.__name__, 0) + time.perf_counter() - begun
    return answers
SparkBuild._job = timed
found = {}
with spark_session(SparkRequest(None, f"local[{slots}]")) as engine:
    for turn in range(-1, int(rounds)):
        for mode, jobs.worth_dividing in modes.items():
            spent.clear()
            begun = time.perf_counter()
            settings = {"slice_mb": 1} if turn < 0 else {}
            dovetail.index(small if turn < 0 else source, f"{to}-{mode}{turn}", spark=engine.session, settings=settings)
            spent["all"] = time.perf_counter() - begun
            if turn >= 0 and spent["all"] < found.get(mode, spent)["all"] + (mode not in found):
                found[mode] = dict(spent)
begun = time.perf_counter()
split(path_of(source), detect_layout(path_of(source)), DEFAULTS.slice_mb * MB)
print(json.dumps(found | {"walk": time.perf_counter() - begun}))
"""
)

_IN_PROCESS = (
    _COMMON
    + """
import pyarrow as pa
from dovetail.pipeline import run as pipeline

class Engine:
    here = False
    def job(self, _): return contextlib.nullcontext()
    def on_each_slot(self, look): return [look()] * int(slots)

pa.set_cpu_count(1)
spent = []
def run_tasks(engine, folder, work, tasks, *_):
    answers, seconds = [], []
    for task in tasks:
        begun = time.process_time()
        answers.append(json.loads(json.dumps(work(json.loads(json.dumps(task))))))
        seconds.append(time.process_time() - begun)
    spent.append((work.__name__, seconds))
    return answers
jobs.run_tasks = run_tasks
pipeline.spark_session = lambda _: contextlib.nullcontext(Engine())
found = {}
for name, settings in ((small, {"slice_mb": 1}), (source, {})):
    for mode, jobs.worth_dividing in modes.items():
        spent.clear()
        dovetail.index(name, f"{to}-{mode}-{Path(name).stem}", settings=settings)
        found[mode] = list(spent)
print(json.dumps(found))
"""
)
_READING = ("prepare_big", "check_cut", "stage_big")
_BUILDING = ("feed", "merge_ranges", "write_dictionary", "derive", "finish_shares")
_CORES = (2, 8)

_STARTS, _ENDS = ("An", "Be", "Cla", "Da", "El", "Gus", "Ir", "Jo", "Ma", "To"), ("a", "na", "rik", "ton")
_FIRST = [start + end for start in _STARTS for end in _ENDS]
_LAST = [f"{start.lower()}{end}".title() for start in _STARTS for end in ("sen", "er", "ström", "ski")]
_WORDS = [
    "late",
    "box",
    "damaged",
    "call",
    "before",
    "delivery",
    "gift",
    "wrap",
    "door",
    "left",
    "paid",
    "invoice",
    "urgent",
    "repeat",
    "order",
    "return",
    "blue",
]


def _row(row: int, chance: random.Random) -> str:
    drawn, pick = chance.randrange, chance.choice
    who, item = drawn(200_000), int(50_000 * chance.random() ** 2)
    first, last = _FIRST[who % len(_FIRST)], _LAST[who // 200 % len(_LAST)]
    city, number = int(20_000 * chance.random() ** 3), 1 + int(20 * chance.random() ** 3)
    price = item * 37 % 20_000 / 100 + 1
    day = f"20{10 + row // 110_000 % 15}-{1 + row // 9_000 % 12:02d}-{1 + row // 300 % 28:02d}"
    several = f"{pick(_WORDS)} {pick(_WORDS)},\n{pick(_WORDS)} {drawn(10_000)}"
    cells = (
        row, f"{drawn(1 << 64):016x}", who, f"{first} {last}", f"{first.lower()}.{last.lower()}{who}@mail.example",
        f"+49 {who * 7919 % 9000 + 1000} {who * 104729 % 900000 + 100000}", f"SKU-{item:06d}",
        f"{_WORDS[item % 17]} {_WORDS[item // 17 % 17]} {item}", _WORDS[item % 17],
        f"{day} {drawn(24):02d}:{drawn(60):02d}:{drawn(60):02d}", day, f"{price:.2f}", number, drawn(30),
        f"{price * number * (100 - drawn(30)) / 100:.2f}", f"City {city}", f"Country {city % 120}",
        f"{drawn(1_800_000) / 10_000 - 90:.4f}", pick(("open", "paid", "sent", "done")),
        f'"{(several, "", pick(_WORDS))[row % 3]}"',
    )  # fmt: skip
    return ",".join(map(str, cells)) + "\n"


def write_file(path: Path, size: int) -> int:
    """Returns the number of its rows."""
    chance, row = random.Random(1), 0
    with path.open("w") as file:
        file.write(
            "order,reference,customer,name,email,phone,sku,product,category,ordered,shipped,price,number,discount,total,"
            "city,country,latitude,status,comment\n"
        )
        while file.tell() < size:
            file.write("".join(_row(row + n, chance) for n in range(1_000)))
            row += 1_000
    return row


def on_cores(stages: list[tuple[str, list[float]]], cores: int) -> dict[str, float]:
    """How long each stage would take if its tasks went to so many cores in order, each to the first that is free."""
    found: dict[str, float] = {}
    for name, tasks in stages:
        busy = [0.0] * cores
        for seconds in tasks:
            heapq.heapreplace(busy, busy[0] + seconds)
        found[name] = found.get(name, 0.0) + max(busy)
    return found


def times(kind: str, cores: int, mode: str, spent: dict[str, float], walk: float | None = None) -> tuple[str, ...]:
    build = spent.get("build_group", 0) + sum(spent.get(stage, 0) for stage in _BUILDING)
    stages = "" if mode == "one" else " + ".join(f"{spent.get(stage, 0):.1f}" for stage in _BUILDING)
    numbers = [walk, *(spent.get(stage, 0) for stage in _READING), build]
    every = spent.get("all", sum(spent.values()))
    return kind, str(cores), mode, *("" if n is None else f"{n:.1f}" for n in numbers), stages, f"{every:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--server", metavar="COMMAND", help="moto_server: the file as an object, too")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    rows, computed = [], []
    with tempfile.TemporaryDirectory() as folder:
        huge, small = Path(folder, "huge.csv"), Path(folder, "small.csv")
        lines = write_file(huge, options.megabytes * 1_000_000)
        write_file(small, 3_000_000)

        def measure(program: str, source: str, slots: int, variables: dict[str, str]) -> dict[str, Any]:
            to = Path(folder, f"index-{len(rows)}-{len(computed)}")
            own = variables | {"DOVETAIL_CACHE": str(Path(folder, "cache"))}
            found: dict[str, Any] = run(program, source, to, small, slots, options.rounds, environment=own)
            return found

        def add(kind: str, source: str, variables: dict[str, str]) -> None:
            found = measure(_ON_SPARK, source, 2, variables)
            rows.extend(times(kind, 2, mode, found[mode], found["walk"]) for mode in ("one", "many"))
            if kind == "file":
                speedup = found["one"]["all"] / found["many"]["all"]
                record(megabytes=options.megabytes, rows=lines, times=speedup)

        add("file", str(huge), {})
        for cores in _CORES:
            found = measure(_IN_PROCESS, str(huge), cores, {})
            computed += [times("computed", cores, mode, on_cores(found[mode], cores)) for mode in ("one", "many")]
        if options.server:
            with s3_server(options.server) as variables:
                os.environ.update(variables)
                from dovetail._objects import Objects

                Objects(f"s3://{_BUCKET}/raw").put("huge.csv", huge)
                add("object", f"s3://{_BUCKET}/raw/huge.csv", variables)
    stages = "feed + merge + dictionary + derive + finish"
    names = ("", "cores", "tasks", "walk", "guess cuts", "check cuts", "count slices", "build", stages, "all")
    about = f"{options.megabytes:,} MB. Seconds; computed ones are of CPU time. {machine()}"
    emit("\n\n".join(("## One huge file", about, markdown_table(names, rows + computed))), options.report)


if __name__ == "__main__":
    main()
