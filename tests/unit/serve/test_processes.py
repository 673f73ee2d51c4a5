"""Processes that answer questions: the answers of the library, also after one was killed, and over new generations."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from dovetail._cancel import Cancelled, cancellable
from dovetail.api.lake import Lake
from dovetail.errors import UnknownName
from dovetail.serve.limits import Limits
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.work import Workers
from support.decided_lake import AIRPORTS, FILES, make_index
from support.pipeline import index, without_spark

LIMITS = Limits(processes=2)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service with processes, the folder of its lake beside it."""
    folder = tmp_path_factory.mktemp("processes")
    service = Service(str(make_index(folder)), folder / "kept", LIMITS)
    workers = Workers(service)
    workers.warm_up()
    yield service, workers, folder
    workers.close()


def asked(workers, verb, **options):
    return asyncio.run(workers.ask(Question(verb, options)))


def test_answers_are_those_of_the_library(served):
    service, workers, _ = served

    async def main():
        return await asyncio.gather(*(workers.ask(Question("search", {"table": name})) for name in FILES))

    lake = Lake(service.index)
    assert [hits.to_dicts() for hits in asyncio.run(main())] == [lake.search(name).to_dicts() for name in FILES]
    joined = asked(workers, "join", table="flights.csv", other="airports.csv", on="origin=code")
    assert joined == service.join("flights.csv", "airports.csv", on="origin=code") | {"seconds": joined["seconds"]}
    assert service.rows(joined["table"])["rows"] == joined["rows"], "made there, opened here"
    for by in ("transform", "semantic", "through"):
        assert isinstance(asked(workers, "search", table="staff.csv", by=by), list)
    assert asked(workers, "union", table="teams.csv").to_json()["query"] == "teams.csv"


def test_failures_are_those_of_the_library(served):
    with pytest.raises(UnknownName, match="Did you mean"):
        asked(served[1], "search", table="fligths.csv")


def test_a_process_that_was_killed_is_replaced(served):
    _, workers, _ = served
    for child in list(workers._processes._all):
        os.kill(child._child.pid, signal.SIGKILL)
        child._child.wait()
    assert asked(workers, "search", table="airports.csv", k=3)
    assert asked(workers, "search", table="flights.csv", k=3)


def test_a_question_that_nobody_waits_for_frees_its_process(served):
    _, workers, _ = served
    endless = Question("sql", {"table": "flights.csv", "query": "SELECT count(*) FROM range(1000000000000), range(99)"})

    def leave():
        ends = time.monotonic() + 0.5
        with cancellable(lambda: time.monotonic() > ends), pytest.raises(Cancelled):
            list(workers._processes.answers(endless, 0))

    before = {child._child.pid for child in workers._processes._all if not child.has_ended}
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: leave(), range(4)))
    assert asked(workers, "search", table="airports.csv", k=2)
    assert before <= {child._child.pid for child in workers._processes._all}, "they stopped when told to"


def test_a_new_generation_and_decisions_count_at_once(served):
    service, workers, folder = served
    before = asked(workers, "search", table="flights.csv", on="origin")
    assert before[0].table == "airports.csv"
    service.lake.decide("flights.csv", "airports.csv", "origin=code", "never")
    assert "airports.csv" not in [hit.table for hit in asked(workers, "search", table="flights.csv", on="origin")]
    service.lake.forget("flights.csv", "airports.csv", "origin=code")
    (folder / "lake" / "new.csv").write_text("code,runways\n" + "".join(f"{code},2\n" for code in AIRPORTS))
    with without_spark():
        index(folder / "lake", service.index)
    ends = time.monotonic() + 20
    while service.lake.generation < 2 and time.monotonic() < ends:
        time.sleep(0.1)
    assert "new.csv" in [hit.table for hit in asked(workers, "search", table="flights.csv", on="origin")]
