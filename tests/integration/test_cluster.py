"""Real Spark, in this process and on a standalone cluster: the same answers as without."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

import dovetail
from dovetail import _objects
from dovetail.errors import BuildFailed, NotAnIndex
from dovetail.indexes.verify import verify_index
from support.buckets import s3_server
from support.clusters import HIDING, SPARK, alike, cluster, environment, in_its_own_folder
from support.contents import Contents, contents_of, leftovers
from support.pipeline import without_spark
from support.processes import dovetail as command

SETTINGS = {"segment_mb": 1, "slice_mb": 1}


@pytest.fixture
def lake(tmp_path) -> Path:
    """Several groups, and one table that is read in slices."""
    folder = tmp_path / "lake"
    folder.mkdir()
    for number in range(4):
        (folder / f"t{number}.csv").write_text("id,name\n" + "".join(f"{i},n{i * number}\n" for i in range(500)))
    rows = (f'{i},"two\nlines {i % 7}",{i / 8}\n' for i in range(60_000))
    (folder / "big.csv").write_text("id,text,number\n" + "".join(rows))
    (folder / "broken.csv").write_bytes(b"\x00" * 500)
    return folder


def history(lake: Path, to: Path, master: str | None = None) -> list[Contents]:
    """What an index holds after each step of a small history."""
    seen = []
    dovetail.index(lake, to, settings=SETTINGS, master=master)
    seen.append(contents_of(to))
    (lake / "t9.csv").write_text("id\n1\n2\n")
    os.utime(lake / "t9.csv", (1_700_000_000,) * 2)
    dovetail.index(lake, to, master=master)
    seen.append(contents_of(to))
    dovetail.remove(to, "t1.csv", "t3.csv")
    done = dovetail.compact(to, master=master)
    assert done.segments_after < done.segments_before
    assert done.bytes_after < done.bytes_before
    seen.append(contents_of(to))
    (lake / "t9.csv").unlink()
    assert verify_index(to).problems == ()
    assert leftovers(to) == set()
    return seen


def test_the_same_history_with_and_without_spark(lake, tmp_path):
    with_spark = history(lake, tmp_path / "spark")
    with without_spark():
        assert history(lake, tmp_path / "here") == with_spark
    assert with_spark[0]["big.csv"]["table"].rows == 60_000
    assert with_spark[0]["broken.csv"]["table"].error
    assert set(with_spark[-1]) == {"t0.csv", "t2.csv", "t9.csv", "big.csv", "broken.csv"}


@pytest.fixture(scope="module")
def in_segments(tmp_path_factory) -> dict[int, Path]:
    """The same fifty tables in one segment and in fifty: indexes by their number of segments."""
    tmp_path = tmp_path_factory.mktemp("segments")
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(50):
        rows = (f"{i},c{i % (number + 2)},{i * 3}\n" for i in range(number % 9 + 4))
        (folder / f"t{number}.csv").write_text("id,code,thing_id\n" + "".join(rows))
    made = {}
    for segments, segment_mb in ((1, 1_000_000), (50, 1)):
        made[segments] = tmp_path / f"{segments}.idx"
        with without_spark(megabyte=1):
            sizes = {"segment_mb": segment_mb, "slice_mb": 1_000_000, "memory_mb": 1_000_000}
            dovetail.index(folder, made[segments], settings=sizes)
        assert len(dovetail.open(made[segments]).segments) == segments
    return made


@pytest.mark.full
def test_dependencies_on_two_cores(in_segments):
    asked = {"integers": True, "non_unique": True, "coverage": 0}
    one = dovetail.open(in_segments[1]).inds(**asked).to_arrow()
    assert one.num_rows > 1000
    assert dovetail.open(in_segments[50]).inds(**asked).to_arrow().to_pylist() == one.to_pylist()
    assert dovetail.open(in_segments[50]).inds(**asked, master="local[2]").to_arrow().to_pylist() == one.to_pylist()
    assert leftovers(in_segments[50]) == set()


@pytest.fixture
def master(tmp_path) -> Iterator[str]:
    """The address of a cluster of two workers."""
    with cluster(tmp_path, {}, {}) as address:
        yield address


@pytest.mark.full
def test_a_standalone_cluster(lake, in_segments, tmp_path, master):
    """Commands of their own, as a user starts them: the workers are no children of the driver."""
    to = tmp_path / "idx"
    choices = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    done = command("index", lake, "--to", to, "--master", master, *choices, env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr + (tmp_path / "cluster.log").read_text()
    assert all(any((tmp_path / f"work{number}").iterdir()) for number in range(2)), "both workers have worked"
    with without_spark():
        dovetail.index(lake, tmp_path / "here", settings=SETTINGS)
    assert contents_of(to) == contents_of(tmp_path / "here")
    assert verify_index(to).problems == ()
    assert leftovers(to) == set()

    written = tmp_path / "inds.json"
    done = command(
        "inds", in_segments[50], "--integers", "--master", master, "-o", written, env=environment(), timeout=300
    )
    assert done.returncode == 0, done.stderr + (tmp_path / "cluster.log").read_text()
    assert json.loads(written.read_text()) == dovetail.open(in_segments[1]).inds(integers=True).to_dicts()
    assert leftovers(in_segments[50]) == set()


# A driver that asks on a cluster, in one session; the answers go to standard output.
ASKING = """
import json, sys
import dovetail
from pyspark.sql import SparkSession

master, index, left, right = sys.argv[1:]
spark = SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
lake = dovetail.open(index)
print(json.dumps({
    "several": lake.inds(nary=2, integers=True, non_unique=True, coverage=0, spark=spark).to_dicts(),
    "foreign": lake.foreign_keys(0, spark=spark).to_dicts(),
    "candidates": lake.keys().to_dicts(),
    "similar": [row.asDict() for row in
                dovetail.join_on_spark(left, right, "name=called", by="similar", spark=spark).collect()],
}))
spark.stop()
"""


@pytest.mark.full
def test_questions_on_a_cluster(in_segments, tmp_path, master):
    """Keys, dependencies of several columns and a join of similar values: as in one process."""
    names = [f"{first} {last}" for first in ("Anna", "Berta", "Clara", "Doris") for last in ("Huber", "Kaiser", "Lang")]
    (tmp_path / "l.csv").write_text("name\n" + "".join(f"{name}\n" for name in [*names, names[0]]))
    (tmp_path / "r.csv").write_text("called,n\n" + "".join(f"{name[:-1]},{n}\n" for n, name in enumerate(names)))
    index, files = tmp_path / "idx", [str(tmp_path / name) for name in ("l.csv", "r.csv")]
    shutil.copytree(in_segments[50], index)
    done = subprocess.run(
        [sys.executable, "-c", ASKING, master, str(index), *files], env=environment(), capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + (tmp_path / "cluster.log").read_text()
    found = json.loads(done.stdout.splitlines()[-1])
    lake = dovetail.open(in_segments[1])
    assert found["several"] == lake.inds(nary=2, integers=True, non_unique=True, coverage=0).to_dicts() != []
    assert found["foreign"] == lake.foreign_keys(0).to_dicts() != []
    assert found["candidates"] == lake.keys().to_dicts() != []
    assert found["similar"] == dovetail.join(*files, on="name=called", by="similar").table.to_pylist() != []


@pytest.mark.full
def test_machines_that_share_an_object_store_and_nothing_else(lake, tmp_path, monkeypatch):
    """Lake and index behind a server; two workers and a driver whose folders none of the others sees."""
    to, choices = (
        "s3://bucket/index",
        [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")],
    )
    here = tmp_path / "here"
    with without_spark():
        expected = history(lake, here)
        dovetail.index(lake, tmp_path / "first", settings=SETTINGS)
    dependencies = dovetail.open(tmp_path / "first").inds(integers=True, non_unique=True).to_dicts()
    assert dependencies
    hits = dovetail.open(tmp_path / "first").search_many(lake).to_arrow().to_pylist()
    joined = dovetail.join(lake / "t2.csv", lake / "t3.csv", on="name").table.to_pylist()
    machines = [tmp_path / name for name in ("one", "two", "driver")]
    with s3_server("bucket", tmp_path / "server.log") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
        _objects.client.cache_clear()
        raw = _objects.Objects("s3://bucket/raw")
        for path in lake.iterdir():
            raw.put(path.name, path.read_bytes())
        one, two, driver = (
            in_its_own_folder(machine, [other for other in [*machines, lake] if other != machine], variables)
            for machine in machines
        )
        with cluster(tmp_path, one, two) as address:

            def run(*arguments: object) -> None:
                done = command(*arguments, "--master", address, env=environment(**driver), timeout=300)
                assert done.returncode == 0, done.stderr + (tmp_path / "cluster.log").read_text()
                assert "not-to-be-seen" not in done.stdout + done.stderr

            run("index", "s3://bucket/raw", "--to", to, *choices)
            seen = [contents_of(to)]
            run("inds", to, "--integers", "--non-unique", "-o", tmp_path / "inds.json")
            run("search", "--many", "s3://bucket/raw", "--index", to, "-o", tmp_path / "hits.parquet")
            two_tables = [f"s3://bucket/raw/t{number}.csv" for number in (2, 3)]
            run("join", *two_tables, "--on", "name", "-o", tmp_path / "joined.parquet")
            raw.put("t9.csv", b"id\n1\n2\n")
            run("index", "s3://bucket/raw", "--to", to)
            seen.append(contents_of(to))
            dovetail.remove(to, "t1.csv", "t3.csv")
            run("compact", to)
            seen.append(contents_of(to))
        assert all(any((tmp_path / f"work{number}").iterdir()) for number in range(2)), "both workers have worked"
        assert json.loads((tmp_path / "inds.json").read_text()) == dependencies
        found = pyarrow.parquet.read_table(tmp_path / "hits.parquet").to_pylist()
        assert found.pop(0)["error"] == "s3://bucket/raw/broken.csv cannot be read: only white space."
        assert found == hits[1:] != []
        assert pyarrow.parquet.read_table(tmp_path / "joined.parquet").to_pylist() == joined != []
        assert [alike(step) for step in seen] == [alike(step) for step in expected]
        assert verify_index(to).problems == ()
        stored = {entry.name: entry for entry in _objects.Objects(to).entries()}
        assert not [name for name in stored if name.startswith("staging/")]
        for name in stored:
            assert b"not-to-be-seen" not in _objects.Objects(to).read(name), "no secret is stored"
    _objects.client.cache_clear()


@pytest.mark.full
def test_a_worker_that_does_not_see_a_folder(lake, tmp_path):
    """One of two workers has not mounted the lake, or the index: the run says so, and nothing is recorded."""
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding" / "sitecustomize.py").write_text(HIDING)
    mount = tmp_path / "mount"
    shutil.copytree(lake, mount / "lake")
    paths = os.pathsep.join([str(tmp_path / "hiding"), os.environ.get("PYTHONPATH", "")])
    conf = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
    with cluster(tmp_path, {}, {"PYTHONPATH": paths, "HIDDEN": str(mount)}) as address:
        for source, to, unseen in (
            (mount / "lake", tmp_path / "idx", mount / "lake"),
            (lake, mount / "idx", mount / "idx" / "staging"),
        ):
            with pytest.raises(BuildFailed, match=f" does not see {unseen} as the driver does: "):
                dovetail.index(source, to, master=address, conf=conf)
            with pytest.raises(NotAnIndex):
                dovetail.open(to)


@pytest.mark.full
def test_spark_submit_decides(lake, tmp_path):
    """What spark-submit says of master, name and settings holds; jobs have names in its log."""
    (tmp_path / "events").mkdir()
    settings = {f"spark.eventLog.{name}": "false" for name in ("compress", "rolling.enabled")}
    settings |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": (tmp_path / "events").as_uri()}
    program = Path(__file__).parents[2] / "examples" / "dovetail_submit.py"
    call = [SPARK / "bin" / "spark-submit", "--master", "local[2]", "--name", "nightly"]
    call += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    call += [program, "index", lake, "--to", tmp_path / "idx"]
    done = subprocess.run(
        list(map(str, call)), env=environment(), capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    with without_spark():
        dovetail.index(lake, tmp_path / "here")
    assert contents_of(tmp_path / "idx") == contents_of(tmp_path / "here")
    (log,) = (tmp_path / "events").iterdir()
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert next(event["App Name"] for event in events if "App Name" in event) == "nightly"
    jobs = [event for event in events if event["Event"] == "SparkListenerJobStart"]
    assert {job["Properties"]["spark.job.description"].split(":")[0] for job in jobs} == {"dovetail"}
