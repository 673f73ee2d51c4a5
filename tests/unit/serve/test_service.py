"""One index under many questions at once, and the newest generation of it."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dovetail.api.lake import Lake
from dovetail.serve.code import python_code, spark_code
from dovetail.serve.kept import upload_suffix
from dovetail.serve.service import Service
from support.command import dovetail
from support.decided_lake import FILES, make_index
from support.pipeline import index, without_spark


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("service"))


def test_questions_at_once_have_the_answers_of_questions_alone(made, tmp_path):
    """A fresh service: what is opened lazily is opened by several threads at the same time."""
    asked = [(name, by) for name in FILES for by in ("equal", "transform")] * 3
    alone = {name: Lake(made).search(name).to_dicts() for name in FILES}
    service = Service(str(made), tmp_path)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda each: _answer(service, *each), asked))
    by_question = dict(zip(asked, found, strict=True))
    assert all(each == by_question[question] for question, each in zip(asked, found, strict=True))
    assert {name: by_question[name, "equal"] for name in FILES} == alone


def _answer(service, name, by):
    return service.search(name, by=by).to_dicts()


def test_the_newest_generation(tmp_path):
    made = make_index(tmp_path)
    lake = Lake(made)
    assert lake.newest() is lake
    (tmp_path / "lake" / "new.csv").write_text("a,b\n1,2\n3,4\n")
    with without_spark():
        index(tmp_path / "lake", made)
    assert lake.newest().generation == lake.generation + 1 and "new.csv" not in [line.table for line in lake.tables()]


def test_a_service_catches_up_with_what_another_process_has_answered_over(tmp_path, monkeypatch):
    monkeypatch.setattr("dovetail.serve.service._LOOK", 1_000.0)
    made = make_index(tmp_path)
    service = Service(str(made), tmp_path / "kept")
    before = service.lake
    (tmp_path / "lake" / "new.csv").write_text("a,b\n1,2\n3,4\n")
    with without_spark():
        index(tmp_path / "lake", made)
    service.catch_up(before.state)
    assert service.lake is before, "the other process has not noticed it either"
    service.catch_up(Lake(made).state)
    assert service.lake.generation == before.generation + 1


def test_joins_of_lake_tables_by_transformation_are_those_of_their_names(made, tmp_path):
    service = Service(str(made), tmp_path)
    found = service.join("staff.csv", "emails.csv", by="transform")
    assert found["matched_left"] == 10 and found["program"] and found["programs"][0]["words"]
    again = service.join("staff.csv", "emails.csv", program=found["program"])
    assert again["matched_left"] == 10


def test_copied_code_makes_the_same_table(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("airport,visits\nZRH,1\nBER,2\nXXX,3\n")
    service = Service(str(made), tmp_path / "kept")
    mine = service.upload(tmp_path / "mine.csv", "mine.csv")
    joined = service.join(mine.name, "airports.csv", on="airport=code", how="left")
    asked = service.sql(joined["table"], "SELECT city, visits FROM result ORDER BY visits DESC")
    names: dict = {}
    exec(python_code(service.index, service.history(asked["table"])), names)
    assert [list(row.values()) for row in names["mine"].to_pylist()] == asked["data"]
    spark = spark_code(service.index, service.history(asked["table"]))
    compile(spark, "spark", "exec")
    assert (
        "join_on_spark(mine, lake.table('airports.csv').record.path, on='airport=code', how='left', spark=spark)"
        in spark
    )
    guessed = service.join(mine.name, "airports.csv")
    assert spark_code(service.index, service.history(guessed["table"])) is None


@pytest.mark.parametrize(
    ("title", "suffix"),
    [("a.csv", ".csv"), ("A.PARQUET", ".parquet"), ("a.b.csv.gz", ".csv.gz"), ("a.xls", ".csv"), ("", ".csv"),
     ("../../etc/passwd", ".csv"), ("a.jsonl.zst", ".jsonl.zst"), ("a.parquet.gz", ".csv")],
)  # fmt: skip
def test_uploads_are_read_by_their_suffix(title, suffix):
    assert upload_suffix(title) == suffix


def test_what_to_install_is_said(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    answer = dovetail("serve", made)
    assert answer.code == 2 and answer.err == "nicegui is not installed: pip install 'dovetail-lake[serve]'.\n"
