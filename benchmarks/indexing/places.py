"""The same tables as local files, as objects of S3 and as tables of a Spark catalog: times side by side, same answers.

    python benchmarks/indexing/places.py --lake DIR --server moto_server [--before SRC] [--tables 150] [--rounds 3]

The first tables of the lake that can be read are written as Parquet files of text columns, since that is what a catalog
can have too. Compared are all columns that contain half of the values of others: the ranking without a column depends
on the names of files, which a catalog does not have. Every round indexes the tables from each place with `local[2]`, in
a process of its own. `--before` names the `src` folder of another version, which indexes the local files in the same
round. S3 is a server on this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lakes import tables_of
from reporting import emit, machine, markdown_table

from dovetail.errors import UnreadableTable
from dovetail.lake.reader import detect_layout, read

_BUCKET = "benchmark"
_QUERIES = 20
_INDEX = """
import json, sys, time
import dovetail
source, to, tables = sys.argv[1:4]
from dovetail._spark.session import SparkRequest, spark_session
with spark_session(SparkRequest(None, "local[2]", {"spark.sql.warehouse.dir": tables + "-warehouse"})) as engine:
    spark = engine.session
    if source == "catalog":
        spark.sql("CREATE DATABASE lake")
        from pathlib import Path
        for path in sorted(Path(tables).glob("*.parquet")):
            spark.sql(f"CREATE TABLE lake.{path.stem} USING parquet LOCATION '{path}'")
    begun = time.perf_counter()
    given = {"tables": ["lake.*"]} if source == "catalog" else {"lake": source}
    report = dovetail.index(to=to, spark=spark, **given)
    print(json.dumps({"seconds": time.perf_counter() - begun, "tables": report.tables, "skipped": len(report.skipped)}))
"""
_SEARCH = """
import inspect, json, sys
from pathlib import Path
import dovetail
import pyarrow.parquet as pq
lake = dovetail.open(sys.argv[1])
options = {"copies": True} if "copies" in inspect.signature(lake.search).parameters else {}
def name(table):
    return table.removeprefix("lake.").removesuffix(".parquet")
def containing(path, column):
    try:
        hits = lake.search(path, on=column, threshold=0.5, include_self=True, **options).to_dicts()
    except dovetail.DovetailError:  # the column has no values
        return []
    return sorted([name(hit["table"]), hit["columns"], hit["overlap"]] for hit in hits)
found = {}
for path in sorted(Path(sys.argv[2]).glob("*.parquet"))[: int(sys.argv[3])]:
    found[path.stem] = [containing(path, column) for column in pq.read_schema(path).names[:3]]
print(json.dumps(found))
"""


def write_tables(lake: Path, number: int, to: Path) -> int:
    """The first tables that can be read, as Parquet files of text columns. Returns their bytes."""
    to.mkdir()
    written = 0
    for file in sorted(tables_of(lake), key=lambda file: file.table):
        if written == number:
            break
        with contextlib.suppress(UnreadableTable):
            layout = detect_layout(Path(file.path))
            batches = list(read(Path(file.path), layout))
            if batches and batches[0].num_columns:
                pq.write_table(pa.Table.from_batches(batches), to / f"t{written:05}.parquet")
                written += 1
    return sum(path.stat().st_size for path in to.iterdir())


@contextlib.contextmanager
def s3_server(command: str) -> Iterator[dict[str, str]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    call = [command, "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(urllib.request.Request(f"{address}/{_BUCKET}", method="PUT")).close()
                break
            time.sleep(0.1)
        yield {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "benchmark", "AWS_SECRET_ACCESS_KEY": "benchmark",
            "AWS_REGION": "us-east-1",
        }  # fmt: skip
    finally:
        process.terminate()
        process.wait()


def run(program: str, *arguments: object, environment: dict[str, str]) -> Any:
    call = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(call, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace, work: Path, variables: dict[str, str]) -> tuple[dict[str, list[float]], int]:
    tables = work / "tables"
    size = write_tables(options.lake, options.tables, tables)
    os.environ.update(variables)
    from dovetail._objects import Objects

    for path in tables.iterdir():
        Objects(f"s3://{_BUCKET}/raw").put(path.name, path)
    raw, own = f"s3://{_BUCKET}/raw", {"DOVETAIL_CACHE": str(work / "cache")}
    places = {
        "local files, local index": (tables, work / "files", own),
        "S3 objects, index in S3": (raw, f"s3://{_BUCKET}/index-{{}}", own),
        "Spark catalog, local index": ("catalog", work / "catalog", own),
    }
    if options.before:
        before = {"PYTHONPATH": str(options.before)}
        places = {"local files, the version before": (tables, work / "before", before), **places}
    seconds: dict[str, list[float]] = {name: [] for name in places}
    answers = {}
    for number in range(options.rounds):
        for name, (source, to, environment) in places.items():
            if isinstance(to, Path):
                shutil.rmtree(to, ignore_errors=True)
            shutil.rmtree(f"{tables}-warehouse", ignore_errors=True)
            index = str(to).format(number)
            seconds[name].append(run(_INDEX, source, index, tables, environment=environment)["seconds"])
            if number == 0:
                answers[name] = run(_SEARCH, index, tables, _QUERIES, environment=environment)
    wrong = [name for name, found in answers.items() if found != answers["local files, local index"]]
    if wrong:
        raise SystemExit(f"Other answers from: {', '.join(wrong)}")
    return seconds, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR")
    parser.add_argument("--server", required=True, metavar="COMMAND", help="moto_server")
    parser.add_argument("--before", type=Path, metavar="SRC", help="the src folder of another version")
    parser.add_argument("--tables", type=int, default=150, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--report", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, s3_server(options.server) as variables:
        seconds, size = measure(options, Path(folder), variables)
    base = median(seconds["local files, local index"])
    rows = [
        (name, f"{median(found):.1f}", f"{min(found):.1f} – {max(found):.1f}", f"{median(found) / base:.2f}")
        for name, found in seconds.items()
    ]
    table = markdown_table(("", "seconds", "from – to", "ratio"), rows)
    about = f"{options.tables:,} tables, {size / 1e6:,.1f} MB of Parquet; Spark is running already. {machine()}"
    same = f"The hits of {_QUERIES} searches are the same from every place."
    emit("\n\n".join(("## Files, objects, tables of Spark", about, table, same)), options.report)


if __name__ == "__main__":
    main()
