"""Through Spark Connect, whose sessions have no `sparkContext`: the same answers as without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import dovetail
from dovetail._spark.java import java_home
from dovetail.indexes.verify import verify_index
from support.clusters import alike
from support.contents import contents_of, leftovers
from support.pipeline import without_spark

SETTINGS = {"segment_mb": 1, "slice_mb": 1}
ASKED = {"integers": True, "non_unique": True, "coverage": 0}

# In a process of its own: Spark Connect changes what `SparkSession` means in it. Its server is a process of this
# machine that listens to nobody else.
PROGRAM = """
import json, sys
from pathlib import Path
import psutil
from pyspark.sql import SparkSession
import dovetail
from dovetail._spark.session import SparkRequest
from dovetail.join.request import JoinRequest
from dovetail.join.spark import join_on_spark

settings, asked = json.loads(sys.argv[2]), json.loads(sys.argv[3])
folder = Path(sys.argv[1])
loopback = {name: "127.0.0.1" for name in ("connect.grpc.binding.address", "driver.host", "driver.bindAddress")}
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
for name, value in loopback.items():
    builder = builder.config(f"spark.{name}", value)
spark = builder.getOrCreate()
before = {key: spark.conf.get(key) for key in spark.conf.getAll}

dovetail.index(folder / "lake", folder / "given", settings=settings, spark=spark)
dovetail.index(folder / "lake", folder / "active", settings=settings)
dovetail.index(f"spark:{(folder / 'lake').as_uri()}", folder / "through", settings=settings)
spark.read.option("header", True).csv(str(folder / "lake" / "t2.csv")).coalesce(1).write.saveAsTable("t2")
dovetail.index(tables=["default.t2"], to=folder / "table")
inds = dovetail.open(folder / "given").inds(**asked, spark=spark).to_dicts()
lake = dovetail.open(folder / "active")
hits = [row.asDict() for row in lake.to_spark(spark).search_many(folder / "lake").orderBy("query", "rank").collect()]
keys = lake.foreign_keys(0, spark=spark).to_dicts()
dovetail.remove(folder / "given", "t1.csv")
dovetail.compact(folder / "given", spark=spark)
files = [folder / "lake" / f"t{number}.csv" for number in (2, 3)]
join_on_spark(*files, JoinRequest("name"), folder / "joined.parquet", SparkRequest(spark))

listening = {
    found.laddr.ip
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]
    for found in process.net_connections("tcp") if found.status == psutil.CONN_LISTEN
}
told = {
    "connect": type(spark).__module__, "alive": spark.range(3).count(), "tags": sorted(spark.getTags()),
    "changed": [key for key, value in before.items() if spark.conf.get(key) != value],
    "listening": sorted(listening), "inds": inds, "hits": hits, "keys": keys,
}
(folder / "told.json").write_text(json.dumps(told))
spark.stop()
"""


@pytest.mark.full
def test_the_same_answers(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    for number in range(4):
        rows = "".join(f"{i},n{i * number}\n" for i in range(500))
        (lake / f"t{number}.csv").write_text("id,name\n" + rows)
    rows = "".join(f'{i},"two\nlines {i % 7}",{i / 8}\n' for i in range(60_000))
    (lake / "big.csv").write_text("id,text,number\n" + rows)
    (lake / "broken.csv").write_bytes(b"\x00" * 500)
    environment = os.environ | {
        "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
    }  # fmt: skip
    call = [sys.executable, "-c", PROGRAM, str(tmp_path), json.dumps(SETTINGS), json.dumps(ASKED)]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr

    told = json.loads((tmp_path / "told.json").read_text())
    assert told["connect"].startswith("pyspark.sql.connect")
    assert (told["alive"], told["tags"], told["changed"]) == (3, [], [])
    assert {address.removeprefix("::ffff:") for address in told["listening"]} == {"127.0.0.1"}
    compare(tmp_path, told)


def compare(folder: Path, told: dict[str, Any]) -> None:
    """What the process has left is what this process makes without Spark."""
    with without_spark():
        dovetail.index(folder / "lake", folder / "here", settings=SETTINGS)
        assert contents_of(folder / "active") == contents_of(folder / "here")
        assert alike(contents_of(folder / "through")) == alike(contents_of(folder / "here"))
        table, file = contents_of(folder / "table")["default.t2"], contents_of(folder / "here")["t2.csv"]
        assert (table["sets"], table["rows"]) == (file["sets"], file["rows"])
        here = dovetail.open(folder / "here")
        assert here.inds(**ASKED).to_dicts() == told["inds"] != []
        assert here.search_many(folder / "lake").to_arrow().to_pylist() == told["hits"] != []
        assert here.foreign_keys(0).to_dicts() == told["keys"] != []
        dovetail.remove(folder / "here", "t1.csv")
        dovetail.compact(folder / "here")
    assert contents_of(folder / "given") == contents_of(folder / "here")
    assert verify_index(folder / "given").problems == ()
    assert leftovers(folder / "given") == set()
    files = [folder / "lake" / f"t{number}.csv" for number in (2, 3)]
    rows = dovetail.join(*files, on="name").table
    assert pyarrow.parquet.read_table(folder / "joined.parquet").to_pydict() == rows.to_pydict()
