"""Workers that are not like the driver: other versions, another view of the lake or of the index."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from dovetail._storage.directory import newest_manifest
from dovetail.api.lake import Lake
from dovetail.errors import BuildFailed, NotAnIndex
from dovetail.indexes.verify import verify_index
from dovetail.lake.listing import Root, TableFile
from dovetail.pipeline import probe
from dovetail.pipeline.reading import CHANGED, VANISHED
from dovetail.pipeline.tasks import run_tasks
from support.contents import leftovers
from support.pipeline import FakeEngine, index, without_spark

MEGABYTES = {"whole": 1_000_000, "sliced": 1_000}


@pytest.fixture(params=MEGABYTES)
def megabyte(request) -> int:
    """How long a megabyte is: short ones make every table a big one, which is read in slices."""
    return MEGABYTES[request.param]


@pytest.fixture
def lake(tmp_path) -> Path:
    folder = tmp_path / "lake"
    (folder / "b").mkdir(parents=True)
    for name in ("a", "b/m1", "b/m2", "c", "d"):
        rows = "".join(f"{i},{name} {i}\n" for i in range(200))
        (folder / f"{name}.csv").write_text("id,word\n" + rows)
    return folder


@contextlib.contextmanager
def hidden(*paths: Path) -> Iterator[None]:
    """What lies under these paths is not there."""

    def hiding(real):
        def look(path, *given, **named):
            if any(path == one or one in path.parents for one in paths):
                raise FileNotFoundError(2, "No such file or directory", str(path))
            return real(path, *given, **named)

        return look

    with pytest.MonkeyPatch.context() as patch:
        for name in ("stat", "open"):
            patch.setattr(Path, name, hiding(getattr(Path, name)))
        yield


def test_a_worker_without_the_lake_fails_the_run_before_anything_is_recorded(lake, tmp_path):
    with (
        without_spark(worker=lambda _: hidden(lake)),
        pytest.raises(BuildFailed, match=r"worker \S+ does not see .*/lake as the driver does: .*/a\.csv differs\."),
    ):
        index(lake, tmp_path / "idx")
    with pytest.raises(NotAnIndex):
        Lake(tmp_path / "idx")


def test_a_worker_without_the_index_fails_the_run(lake, tmp_path):
    with (
        without_spark(worker=lambda _: hidden(tmp_path / "idx")),
        pytest.raises(BuildFailed, match=r"does not see .*/idx/staging as the driver does"),
    ):
        index(lake, tmp_path / "idx")


def test_tables_that_only_a_worker_misses_are_not_recorded_as_vanished(lake, tmp_path, megabyte):
    """As where the folder is a mount that the worker lacks, and no witness is in it."""
    with without_spark(megabyte):
        index(lake, tmp_path / "idx")
        before = newest_manifest(tmp_path / "idx")
    for name in ("m1", "m2"):
        (lake / "b" / f"{name}.csv").write_text("id,word\n1,x\n")
    (lake / "a.csv").write_text("id\n1\n")
    (lake / "c.csv").write_text("id\n1\n")
    blind = without_spark(megabyte, worker=lambda stage: hidden(lake / "b") if stage == "task" else hidden())
    with blind, pytest.raises(BuildFailed, match=r"The worker \S+ does not see .*/b/m1\.csv, which"):
        index(lake, tmp_path / "idx")
    assert newest_manifest(tmp_path / "idx") == before
    assert verify_index(tmp_path / "idx").problems == ()
    assert leftovers(tmp_path / "idx") == set()


@pytest.mark.parametrize(("then", "reason"), [(None, VANISHED), ("id\n2\n3\n", CHANGED)])
def test_what_the_driver_does_not_see_either_has_vanished(lake, tmp_path, megabyte, then, reason):
    lost = [lake / "b" / "m1.csv", lake / "b" / "m2.csv"]

    @contextlib.contextmanager
    def vanishing(stage):
        if stage == "probe":
            yield
            return
        with hidden(*lost):
            yield
        for path in lost:
            if then is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(then)

    with without_spark(megabyte, worker=vanishing):
        report = index(lake, tmp_path / "idx")
    assert {(skipped.path, skipped.reason) for skipped in report.skipped} == {
        ("b/m1.csv", reason), ("b/m2.csv", reason),
    }  # fmt: skip
    assert report.tables == 3
    with without_spark(megabyte):
        report = index(lake, tmp_path / "idx")
    assert report.skipped == []
    assert report.tables == (3 if then is None else 5)
    assert verify_index(tmp_path / "idx").problems == ()


def test_a_group_of_which_nothing_is_left(tmp_path):
    (tmp_path / "lake").mkdir()
    only = tmp_path / "lake" / "a.csv"
    only.write_text("id\n1\n")

    @contextlib.contextmanager
    def vanishing(stage):
        if stage == "task":
            only.unlink(missing_ok=True)
        yield

    with without_spark(worker=vanishing):
        report = index(tmp_path / "lake", tmp_path / "idx")
    assert [skipped.reason for skipped in report.skipped] == [VANISHED]


class Slots(FakeEngine):
    """Workers that answer as they are told."""

    def __init__(self, **changes: object) -> None:
        self.changes = changes

    def on_each_slot(self, look):
        told = json.loads(look())
        versions = {name: found for name, found in (told["versions"] | self.changes).items() if found}
        return [look(), json.dumps(told | {"host": "node7", "versions": versions})]


def test_slots_are_counted():
    assert probe.check_workers(FakeEngine(), []) == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"numpy": "1.0"}, r"^The worker node7 has numpy 1\.0; the driver has \d"),
        ({"dovetail-lake": None}, r"^The worker node7 lacks the package dovetail-lake; the driver has \d"),
        ({"Python": "3.9"}, r"^The worker node7 has Python 3\.9; the driver has 3\.\d+\.$"),
    ],
    ids=str,
)
def test_other_versions_are_named(changes, says):
    with pytest.raises(BuildFailed, match=says):
        probe.check_workers(Slots(**changes), [])


def test_the_probe_needs_none_of_our_modules():
    """Pickled as Spark does, it runs where Dovetail is not installed, and says so."""
    import subprocess
    import sys

    from pyspark import cloudpickle

    packed = cloudpickle.dumps(probe._look([{"folder": "f", "path": "p", "contents": "c"}]))
    program = "import sys, pickle; sys.modules['dovetail'] = None; print(pickle.loads(sys.stdin.buffer.read())())"
    done = subprocess.run([sys.executable, "-c", program], input=packed, capture_output=True, check=True)
    assert "dovetail-lake" not in json.loads(done.stdout)["versions"]


def test_witnesses_are_files_of_every_root_that_is_read(lake, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.csv").write_text("id\n1\n")
    paths = [*sorted(lake.rglob("*.csv")), other / "x.csv"]
    files = [TableFile(path.name, str(path), 1, "") for path in paths]
    files.append(TableFile("link.csv", "link.csv", 0, "", refused="broken link"))
    found = probe.witnesses_of_lake([Root(str(lake)), Root(str(other)), Root(str(tmp_path / "idle"))], files)
    assert [(Path(one.folder).name, Path(one.path).name) for one in found] == [
        ("lake", "a.csv"), ("lake", "m2.csv"), ("lake", "d.csv"), ("other", "x.csv"),
    ]  # fmt: skip


class Session:
    """Runs the tasks of a Spark job in this process."""

    def range(self, start, stop, step, parts):
        self.numbers = list(range(start, stop, step))
        return self

    def mapInArrow(self, function, _):  # as Spark calls it
        batches = [pa.record_batch([pa.array([number])], ["id"]) for number in self.numbers]
        self.rows = [row for batch in function(iter(batches)) for row in batch.to_pylist()]
        return self

    def collect(self):
        return [SimpleNamespace(**row) for row in self.rows]


def double(task):
    return {"twice": 2 * task["number"]}


@pytest.fixture
def engine():
    made = FakeEngine()
    made.session = Session()
    return made


def test_every_task_looks_first(engine, tmp_path):
    seen = [probe.witness_of_store(tmp_path / "staging")]
    tasks = [{"number": 1}, {"number": 2}]
    assert run_tasks(engine, tmp_path / "one", double, tasks, "", seen) == [{"twice": 2}, {"twice": 4}]
    blind = probe.Witness("/lake", str(tmp_path / "a.csv"), "5-x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe, "_contents", lambda path: "5-x")  # the driver sees it
        patch.setattr("dovetail.pipeline.tasks.first_unseen", lambda witnesses: str(tmp_path / "a.csv"))
        with pytest.raises(BuildFailed, match=r"The worker \S+ does not see /lake as the driver does"):
            run_tasks(engine, tmp_path / "two", double, tasks, "", [blind])
    assert not any(file.suffix == ".answer" for file in (tmp_path / "two").iterdir())


def test_a_witness_that_changes_is_none(engine, tmp_path):
    """A file of the lake that somebody writes to fails no run."""
    (tmp_path / "a.csv").write_text("before")
    found = [probe.witness(tmp_path / "a.csv"), probe.witness_of_store(tmp_path / "staging")]
    (tmp_path / "a.csv").write_text("after")
    assert run_tasks(engine, tmp_path / "job", double, [{"number": 3}], "", found) == [{"twice": 6}]
    assert len(found) == 1
