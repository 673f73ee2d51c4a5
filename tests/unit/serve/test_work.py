"""Questions in threads: they end when nobody waits, when the time is over, and never when somebody else leaves."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from dovetail._cancel import Cancelled, cancellable, check_cancelled
from dovetail._deadline import Deadline
from dovetail.api.lake import Lake
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Refused
from dovetail.serve.work import Workers


def endless(ended):
    try:
        while True:
            check_cancelled()
            time.sleep(0.005)
    except Cancelled:
        ended.set()
        raise


def test_a_question_ends_when_its_client_leaves():
    async def main():
        workers, ended, here = Workers(Limits(threads=2)), threading.Event(), True

        async def has_left():
            return not here

        asked = asyncio.create_task(workers.run(lambda: endless(ended), has_left=has_left))
        other = await workers.run(lambda: "answer")
        assert other == "answer" and not ended.is_set()
        here = False
        with pytest.raises(Cancelled):
            await asked
        assert await asyncio.to_thread(ended.wait, 5)
        workers.close()

    asyncio.run(main())


def test_a_question_ends_when_its_time_is_over():
    async def main():
        workers, ended = Workers(Limits(threads=1)), threading.Event()
        with pytest.raises(Refused, match=r"longer than 0\.2 seconds") as refused:
            await workers.run(lambda: endless(ended), seconds=0.2)
        assert refused.value.status == 504 and ended.is_set()
        workers.close()

    asyncio.run(main())


def test_too_many_questions_are_refused():
    async def main():
        workers, go = Workers(Limits(threads=1, waiting=1)), threading.Event()
        asked = [asyncio.create_task(workers.run(go.wait)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(Refused) as refused:
            await workers.run(lambda: None)
        assert refused.value.status == 503
        go.set()
        assert await asyncio.gather(*asked) == [True, True]
        assert await workers.run(lambda: 1) == 1
        workers.close()

    asyncio.run(main())


def test_a_failure_is_raised_where_the_answer_is_awaited():
    async def main():
        workers = Workers(Limits(threads=1))
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda: 1 // 0)
        workers.close()

    asyncio.run(main())


@pytest.mark.parametrize("by", ["equal", "transform", "semantic", "through"])
def test_searches_look_whether_anybody_waits(sample_index, by):
    lake = Lake(sample_index)
    with cancellable(lambda: True), pytest.raises(Cancelled):
        lake.search("geo/countries.csv", by=by)


def test_deadlines_look_whether_anybody_waits():
    with cancellable(lambda: True), pytest.raises(Cancelled):
        Deadline(10).check()
    Deadline(10).check()
