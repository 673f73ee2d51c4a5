"""One huge CSV file: how long its cuts, its slices and its segment take, on one core and on two; also as an object.

    python benchmarks/indexing/huge.py [--megabytes 500] [--server moto_server] [--report FILE]

The file has quoted texts of several lines, so that cuts are not simply new lines. Every run is a process of its own,
with Spark running and kernels compiled already. `walk` is how long one task takes to find the cuts by itself.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from pathlib import Path

from places import _BUCKET, run, s3_server
from reporting import emit, machine, markdown_table

_PROGRAM = """
import json, sys, time
from pathlib import Path
import dovetail
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.lake.object_path import path_of
from dovetail.lake.reader import detect_layout, split
from dovetail.pipeline.jobs import SparkBuild
from dovetail.settings import DEFAULTS, MB

source, to, small, cores = sys.argv[1:5]
spent = {}
job = SparkBuild._job
def timed(self, work, tasks, description):
    begun = time.perf_counter()
    answers = job(self, work, tasks, description)
    spent[work.__name__] = spent.get(work.__name__, 0) + time.perf_counter() - begun
    return answers
SparkBuild._job = timed
with spark_session(SparkRequest(None, f"local[{cores}]")) as engine:
    dovetail.index(small, to + "-small", spark=engine.session, settings={"slice_mb": 1})
    spent.clear()
    begun = time.perf_counter()
    dovetail.index(source, to, spark=engine.session)
    spent["all"] = time.perf_counter() - begun
begun = time.perf_counter()
split(path_of(source), detect_layout(path_of(source)), DEFAULTS.slice_mb * MB)
spent["walk"] = time.perf_counter() - begun
print(json.dumps(spent))
"""


def write_file(path: Path, size: int) -> None:
    chance = random.Random(1)
    with path.open("w") as file:
        file.write("id,city,price,text\n")
        row = 0
        while file.tell() < size:
            rows = []
            for _ in range(1_000):
                text = (
                    f"line one of {row}\nline two, {chance.randrange(5_000)}" if row % 3 == 0 else f"word {row % 977}"
                )
                rows.append(f'{row},City {chance.randrange(20_000)},{chance.randrange(10_000) / 100},"{text}"\n')
                row += 1
            file.write("".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--server", metavar="COMMAND", help="moto_server: the file as an object, too")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        huge, small = Path(folder, "huge.csv"), Path(folder, "small.csv")
        write_file(huge, options.megabytes * 1_000_000)
        write_file(small, 3_000_000)

        def measure(name: str, source: str, cores: int, variables: dict[str, str]) -> None:
            to = Path(folder, f"index-{len(rows)}")
            own = variables | {"DOVETAIL_CACHE": str(Path(folder, "cache"))}
            spent = run(_PROGRAM, source, to, small, cores, environment=own)
            stages = ("walk", "prepare_big", "check_cut", "stage_big", "build_group", "all")
            rows.append((name, str(cores), *(f"{spent.get(stage, 0):.1f}" for stage in stages)))

        measure("file", str(huge), 1, {})
        measure("file", str(huge), 2, {})
        if options.server:
            with s3_server(options.server) as variables:
                os.environ.update(variables)
                from dovetail._objects import Objects

                Objects(f"s3://{_BUCKET}/raw").put("huge.csv", huge)
                measure("object", f"s3://{_BUCKET}/raw/huge.csv", 2, variables)
    names = ("", "cores", "walk by one task", "guess cuts", "check cuts", "count slices", "build", "all")
    about = f"{options.megabytes:,} MB. Seconds. {machine()}"
    emit("\n\n".join(("## One huge file", about, markdown_table(names, rows))), options.report)


if __name__ == "__main__":
    main()
