"""Blocks of segments as tasks: together they find what one process finds, each pair once, in the same order."""

from __future__ import annotations

import contextlib
import itertools
import json

import pytest

from dovetail._spark import session
from dovetail.errors import InputError, WriterConflict
from dovetail.graph.inclusion_on_spark import blocks_of, pairs_of
from dovetail.pipeline import tasks
from support.pipeline import FakeEngine, index, without_spark

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


@pytest.mark.parametrize("segments", [1, 2, 7, 50, 400])
def test_each_pair_of_segments_belongs_to_one_task(segments):
    found = []
    for blocks, insides in pairs_of(blocks_of(segments, cores=2)):
        assert sum(map(len, blocks)) <= max(16, segments if segments < 16 else 0)
        if len(blocks) == 2:
            found += [tuple(sorted(pair)) for pair in itertools.product(*blocks)]
        for block, inside in zip(blocks, insides, strict=True):
            found += itertools.combinations_with_replacement(block, 2) if inside else []
    assert sorted(found) == list(itertools.combinations_with_replacement(range(segments), 2))


def test_an_index_that_was_written_to_is_opened_again(lake_of, in_process, tmp_path):
    lake = lake_of(TABLES)
    with without_spark():
        (tmp_path / "lake" / "new.csv").write_text("a\n1\n")
        index(tmp_path / "lake", tmp_path / "idx")
    with pytest.raises(WriterConflict, match="open it again"):
        lake.inds(master="local[2]")


def test_several_columns_are_not_spread(lake_of):
    with pytest.raises(InputError, match="drop `spark` and `master`"):
        lake_of(TABLES).inds(nary=2, master="local[2]")
