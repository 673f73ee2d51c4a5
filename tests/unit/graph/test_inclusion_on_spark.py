"""Ranges of hashes, sets, tables and pairings as tasks: together they find what one process finds, in its order."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._spark import session
from dovetail.api.lake import Lake
from dovetail.errors import BuildFailed
from dovetail.graph import find_keys, inclusion_on_spark
from dovetail.graph.shared_arrays import shared_folder
from dovetail.graph.spark_question import set_ranges
from dovetail.graph.value_sets import ValueSets, hash_ranges
from dovetail.indexes.tokens.format import running_sum
from dovetail.pipeline import tasks
from dovetail.pipeline.maintain import compact
from support.pipeline import UNMERGED, FakeEngine, index, without_spark

TABLES = {
    f"t{n}.csv": "code,thing_id,note\n" + "".join(f"c{i % (n + 3)},{i * (n % 3 + 1)},n{i}\n" for i in range(n + 5))
    for n in range(12)
}


@pytest.fixture
def in_process(monkeypatch):
    """The same tasks and the same JSON, without Spark."""

    @contextlib.contextmanager
    def local(_):
        yield FakeEngine()

    def run(_, folder, work, jobs, *__):
        return [json.loads(json.dumps(work(json.loads(json.dumps(job))))) for job in jobs]

    monkeypatch.setattr(session, "spark_session", local)
    monkeypatch.setattr(tasks, "run_tasks", run)


@pytest.mark.parametrize(
    "asked",
    [{}, {"integers": True, "non_unique": True, "coverage": 0}, {"partial": 0.7, "null_equal": True, "integers": True}],
    ids=str,
)
@pytest.mark.parametrize("segments", [1, 12])
def test_the_same_answer(lake_of, in_process, asked, segments):
    lake = lake_of(TABLES, one_by_one=segments > 1)
    assert len(lake.segments) == segments
    alone = lake.inds(**asked).to_dicts()
    assert len(alone) > 10 or not asked
    assert lake.inds(**asked, master="local[2]").to_dicts() == alone


def test_decisions_count_in_tasks(lake_of, in_process):
    lake = lake_of(TABLES, one_by_one=True)
    asked = {"integers": True, "non_unique": True, "coverage": 0}
    rows = len(lake.inds(**asked))
    lake.decide("t1.csv", "t2.csv", "code", "never")
    made = lake.decide("t3.csv", "t4.csv", "note", "joins")
    alone = lake.inds(**asked).to_dicts()
    assert len(alone) < rows
    assert {row["decided"] for row in alone if row["score"] == 1} == {made.decided}
    assert lake.inds(**asked, master="local[2]").to_dicts() == alone


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_each_set_belongs_to_one_task(groups, tasks):
    offsets = running_sum(np.array(groups, np.int64))
    sets = ValueSets(**dict.fromkeys((field.name for field in fields(ValueSets)), np.empty(0, np.int64)))
    sets = replace(sets, sizes=np.array(groups), group_offsets=offsets, groups=np.zeros(offsets[-1]))
    ranges = set_ranges(sets, tasks)
    assert [number for first, last in ranges for number in range(first, last)] == list(range(len(groups)))
    assert len(ranges) <= tasks


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 20))
def test_every_hash_belongs_to_one_range(tokens, at_most, least):
    ranges = hash_ranges(tokens, at_most, least)
    assert (ranges[0][0], ranges[-1][1]) == (0, 1 << 64)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(ranges))
    assert len(ranges) >= max(least, tokens / at_most)


def test_writers_go_on_meanwhile(lake_of, in_process, tmp_path, monkeypatch):
    """The question is about the generation that was opened, whatever is committed while it runs."""
    lake = lake_of(TABLES)
    asked = {"integers": True, "non_unique": True, "coverage": 0}
    alone = lake.inds(**asked).to_dicts()
    real = inclusion_on_spark.find_including

    def find_including(task):
        (tmp_path / "lake" / "new.csv").write_text("code\nc1\n")
        with without_spark():
            index(tmp_path / "lake", tmp_path / "idx")
            compact(tmp_path / "idx")
        return real(task)

    monkeypatch.setattr(inclusion_on_spark, "find_including", find_including)
    assert lake.inds(**asked, master="local[2]").to_dicts() == alone
    assert len(Lake(tmp_path / "idx").inds(**asked)) > len(alone)


def test_what_a_killed_question_left_is_removed(lake_of, in_process, tmp_path):
    lake = lake_of(TABLES)
    left = tmp_path / "idx" / "questions" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "lock").touch()
    with shared_folder(tmp_path / "idx") as other:
        lake.inds(master="local[2]")
        assert not left.exists()
        assert other.path.exists()
    assert not left.parent.exists()


def test_a_task_that_raises_is_named(lake_of, in_process, monkeypatch):
    monkeypatch.setattr(tasks, "run_tasks", lambda *_: [{"raised": {"type": "ValueError"}}])
    with pytest.raises(BuildFailed, match=r"Spark cannot merge .* values of 1 segment.*ValueError"):
        lake_of(TABLES).inds(master="local[2]")


SEVERAL = {
    "teams.csv": "team,year,coach\n" + "".join(f"t{n % 5},{2000 + n // 5},c{n % 7}\n" for n in range(40)),
    "games.csv": "game,team,year,goals\n" + "".join(f"g{n},t{n % 5},{2000 + n % 8},{n % 4}\n" for n in range(60)),
    "copy.csv": "team,year,coach\n" + "".join(f"t{n % 5},{2000 + n // 5},c{n % 7}\n" for n in range(30)),
    "swapped.csv": "a,b,c\n" + "".join(f"x{n % 6},x{n % 4},{n}\n" for n in range(24)),
    "gaps.csv": "team,year\nt1,2001\nt1,\n,2002\nt2,2003\n",
} | {f"more_{n}.csv": TABLES[f"t{n}.csv"] for n in range(5)}


@pytest.mark.parametrize("asked", [{}, {"coverage": 0, "non_unique": True}], ids=str)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_same_dependencies_of_several_columns(lake_of, in_process, asked, one_by_one):
    lake = lake_of(SEVERAL, one_by_one=one_by_one)
    alone = lake.inds(nary=3, integers=True, **asked).to_dicts()
    assert len(alone) > 3
    assert max(len(row["dependent_columns"]) for row in alone) > 2 or not asked
    assert lake.inds(nary=3, integers=True, **asked, master="local[2]").to_dicts() == alone


def test_several_columns_of_an_index_without_segments(lake_of, in_process):
    assert lake_of({"empty.csv": ""}).inds(nary=2, master="local[2]").to_dicts() == []


@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_same_keys(lake_of, in_process, one_by_one, tmp_path):
    lake = lake_of(SEVERAL, one_by_one=one_by_one)
    alone = [lake.foreign_keys(0).to_dicts(), lake.keys().to_dicts()]
    assert any(len(row["dependent_columns"]) > 1 for row in alone[0])
    shutil.rmtree(tmp_path / "idx" / "answers")
    again = Lake(tmp_path / "idx")
    assert [again.foreign_keys(0, master="local[2]").to_dicts(), again.keys().to_dicts()] == alone
    assert list((tmp_path / "idx" / "answers").iterdir())
    assert not (tmp_path / "idx" / "questions").exists()


def test_kept_comparisons_of_rows_are_reused(lake_of, in_process, tmp_path, monkeypatch):
    lake_of(SEVERAL, one_by_one=True).keys()
    (tmp_path / "lake" / "new.csv").write_text("team,year\nt1,2001\nt1,2002\nt2,2001\n")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx", settings=UNMERGED)
    compared = []
    real = find_keys.compare_pairings

    def compare_pairings(task):
        compared.extend(task["pairings"])
        return real(task)

    monkeypatch.setattr(find_keys, "compare_pairings", compare_pairings)
    lake = Lake(tmp_path / "idx")
    found = lake.foreign_keys(0, master="local[2]").to_dicts()
    names = lake._columns.table_names.to_pylist()
    tables = lake._columns.table_of
    assert compared
    assert all("new.csv" in {names[tables[side[0]]] for side in pairing} for pairing in compared)
    shutil.rmtree(tmp_path / "idx" / "answers")
    assert Lake(tmp_path / "idx").foreign_keys(0).to_dicts() == found
