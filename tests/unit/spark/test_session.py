"""The Spark session: whose it is, what it leaves behind, and what it says when it cannot start."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

import dovetail
from dovetail._spark import session as sessions
from dovetail._spark.engine import watch_tasks
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import BuildFailed, InputError
from dovetail.join.request import JoinRequest
from dovetail.join.spark import join_on_spark
from dovetail.pipeline.probe import check_workers
from support.contents import contents_of
from support.pipeline import without_spark


def seen_of(engine):
    """The progress of a job of four tasks that take a while."""
    seen: list[tuple[str, int, int]] = []

    def slow(batches):
        time.sleep(0.4)
        yield from batches

    with watch_tasks(engine, "counting", lambda *reported: seen.append(reported)):
        engine.session.range(0, 4, 1, 4).mapInArrow(slow, "id bigint").count()
    return seen


@pytest.mark.full
def test_a_session_leaves_the_environment_as_it_was(monkeypatch):
    """A process started afterwards must not take Spark's Java for its own."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    before = dict(os.environ)
    with spark_session(SparkRequest(conf={"spark.app.name": "mine"})) as engine:
        assert engine.own
        assert engine.here
        assert check_workers(engine, []) == engine.session.sparkContext.defaultParallelism
        assert engine.session.range(3).count() == 3
        assert engine.session.conf.get("spark.app.name") == "mine"
        assert engine.session.sparkContext.uiWebUrl is None, "no pages for a laptop"
        seen = seen_of(engine)
        assert {stage for stage, _, _ in seen} == {"counting"}
        assert any(total >= 4 > done for _, done, total in seen)
    after = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    assert after == {name: value for name, value in before.items() if not name.startswith("SPARK_")}
    assert engine.session._jsc.sc().isStopped()


@pytest.mark.parametrize("master", ["nonsense", "local[none]", "local[]", "spark://"])
def test_a_master_that_is_none_is_refused_before_java_starts(master, monkeypatch):
    monkeypatch.setattr("dovetail._spark.session.java_home", lambda: pytest.fail("Java is looked for"))
    with pytest.raises(InputError, match="is no Spark master; give local"), spark_session(SparkRequest(master=master)):
        pass


@pytest.mark.full
@pytest.mark.parametrize("master", ["k9s://nowhere", "local-cluster[none]"])
def test_what_spark_says_of_a_master_is_said_in_a_sentence(master):
    with (
        pytest.raises(BuildFailed, match="Could not parse Master URL") as raised,
        spark_session(SparkRequest(master=master)),
    ):
        pass
    assert str(raised.value).startswith(f"Spark cannot start on {master}: ")
    assert "\n" not in str(raised.value)


def test_what_is_no_session_is_refused():
    with (
        pytest.raises(InputError, match="`spark` is a str; it must be a SparkSession"),
        spark_session(
            SparkRequest(session="local[2]")  # type: ignore[arg-type]
        ),
    ):
        pass


@pytest.mark.parametrize(
    ("variables", "defaults", "decided"),
    [
        ({}, None, False),
        ({"PYSPARK_GATEWAY_PORT": "1"}, None, True),
        ({"SPARK_REMOTE": "sc://host"}, None, True),
        ({}, "# spark.master yarn\nspark.eventLog.enabled true\n", False),
        ({}, "spark.master   yarn\n", True),
        ({}, "spark.master=yarn\n", True),
    ],
)
def test_who_decides_where_spark_runs(tmp_path, monkeypatch, variables, defaults, decided):
    for name in (*sessions._DECIDED_BY, "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    if defaults is not None:
        (tmp_path / "spark-defaults.conf").write_text(defaults)
    assert sessions._is_decided() is decided


@pytest.fixture(scope="class")
def spark():
    with spark_session(SparkRequest(master="local[2]", conf={"spark.app.name": "theirs"})) as engine:
        engine.session.conf.set("spark.sql.shuffle.partitions", "3")
        yield engine.session


class TestSessionOfTheUser:
    """One session for all of these tests, with a name, settings, a description and a tag of its own."""

    @pytest.fixture(autouse=True)
    def unchanged(self, spark):
        context = spark.sparkContext
        context.setJobDescription("their job")
        context.addJobTag("theirs")
        before = self.settings(spark)
        yield
        assert spark.range(3).count() == 3, "it is alive"
        assert self.settings(spark) == before
        assert context.getLocalProperty("spark.job.description") == "their job"
        assert set(context.getJobTags()) == {"theirs"}

    @staticmethod
    def settings(spark) -> tuple[dict[str, str], dict[str, str]]:
        of_session = {row.key: row.value for row in spark.sql("SET").collect()}
        return dict(spark.sparkContext.getConf().getAll()), of_session

    @pytest.fixture
    def lake(self, tmp_path) -> Path:
        (tmp_path / "lake").mkdir()
        for number in range(3):
            rows = "".join(f"{i},n{i * number}\n" for i in range(50))
            (tmp_path / "lake" / f"t{number}.csv").write_text("id,name\n" + rows)
        return tmp_path / "lake"

    @pytest.mark.parametrize("how", ["given", "active", "in a thread"])
    def test_index(self, spark, lake, tmp_path, how):
        given = {"spark": spark} if how == "given" else {}
        work = threading.Thread(target=dovetail.index, args=(lake, tmp_path / "idx"), kwargs=given)
        if how == "in a thread":
            work.start()
            work.join()
        else:
            work.run()
        with without_spark():
            dovetail.index(lake, tmp_path / "here")
        assert contents_of(tmp_path / "idx") == contents_of(tmp_path / "here")

    def test_its_jobs_have_names_and_tags(self, spark, lake, tmp_path):
        dovetail.index(lake, tmp_path / "idx", spark=spark)
        store = spark._jsc.sc().statusStore()
        jobs = store.jobsList(None)
        described = {jobs.apply(number).description().get() for number in range(jobs.size())}
        assert "dovetail: index 3 table(s), 1 segment(s)" in described
        assert "dovetail: check that workers see the lake and the index" in described

    def test_dependencies_and_compaction(self, spark, lake, tmp_path):
        dovetail.index(lake, tmp_path / "idx", spark=spark)
        found = dovetail.open(tmp_path / "idx")
        asked = {"integers": True, "coverage": 0, "non_unique": True}
        assert found.inds(**asked, spark=spark).to_dicts() == found.inds(**asked).to_dicts() != []
        dovetail.remove(tmp_path / "idx", "t1.csv")
        assert dovetail.compact(tmp_path / "idx", spark=spark).segments_after == 1

    def test_join(self, spark, lake, tmp_path):
        files = lake / "t1.csv", lake / "t2.csv"
        joined = join_on_spark(*files, JoinRequest("name"), tmp_path / "o.parquet", SparkRequest(spark))
        assert joined.rows == dovetail.join(*files, on="name").rows > 0
        (lake / "t2.csv").write_text("name,ID\nn1,2\n")
        with pytest.raises(InputError, match=r"set spark\.sql\.caseSensitive"):
            join_on_spark(*files, JoinRequest("name"), tmp_path / "p.parquet", SparkRequest(spark))

    @pytest.mark.parametrize("more", [{"master": "local[1]"}, {"conf": {"spark.a": "b"}}])
    def test_its_master_and_settings_are_not_changed(self, lake, tmp_path, more):
        with pytest.raises(InputError, match="There is a Spark session already"):
            dovetail.index(lake, tmp_path / "idx", **more)
