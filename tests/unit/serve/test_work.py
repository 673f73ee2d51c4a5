"""Questions under way: shared, kept, in order; they end when nobody waits any more or their time is over."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from types import SimpleNamespace

import pytest

from dovetail._cancel import Cancelled, cancellable, check_cancelled
from dovetail._deadline import Deadline
from dovetail.api.lake import Lake
from dovetail.serve.lanes import Lane
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Busy, Refused
from dovetail.serve.question import Question
from dovetail.serve.shared import Answers
from dovetail.serve.work import Workers


def endless(ended):
    try:
        while True:
            check_cancelled()
            time.sleep(0.005)
    except Cancelled:
        ended.set()
        raise


def lane(threads=2, waiting=8):
    return Lane("test", threads, waiting)


async def only(stream):
    (answer,) = [each async for each in stream]
    return answer


def asked_of(lane, work, seconds=60, has_left=None):
    return asyncio.create_task(only(lane.stream(lambda: iter((work(),)), seconds, has_left)))


class Client:
    """Somebody who asks, and may leave."""

    def __init__(self):
        self.here = True

    async def has_left(self):
        return not self.here


def test_a_question_ends_when_its_client_leaves():
    async def main():
        used, ended, client = lane(), threading.Event(), Client()
        asked = asked_of(used, lambda: endless(ended), has_left=client.has_left)
        assert await asked_of(used, lambda: "answer") == "answer" and not ended.is_set()
        client.here = False
        with pytest.raises(Cancelled):
            await asked
        assert await asyncio.to_thread(ended.wait, 5)
        used.close()

    asyncio.run(main())


def test_a_question_ends_when_its_time_is_over():
    async def main():
        used, ended = lane(threads=1), threading.Event()
        with pytest.raises(Refused, match=r"longer than 0\.2 seconds") as refused:
            await asked_of(used, lambda: endless(ended), seconds=0.2)
        assert refused.value.status == 504 and ended.is_set()
        used.close()

    asyncio.run(main())


def test_too_many_questions_are_refused_with_a_time_to_come_back():
    async def main():
        used, go = lane(threads=1, waiting=1), threading.Event()
        asked = [asked_of(used, go.wait) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(Busy) as refused:
            await asked_of(used, lambda: None)
        assert refused.value.status == 503 and 1 <= refused.value.seconds <= 60
        go.set()
        assert await asyncio.gather(*asked) == [True, True]
        assert await asked_of(used, lambda: 1) == 1
        used.close()

    asyncio.run(main())


def test_questions_are_answered_in_the_order_of_asking():
    async def main():
        used, order = lane(threads=1, waiting=20), []
        await asyncio.gather(*(asked_of(used, lambda n=n: order.append(n)) for n in range(20)))
        assert order == list(range(20))
        used.close()

    asyncio.run(main())


def test_a_failure_is_raised_where_the_answer_is_awaited():
    async def main():
        used = lane(threads=1)
        with pytest.raises(ZeroDivisionError):
            await asked_of(used, lambda: 1 // 0)
        used.close()

    asyncio.run(main())


class Slow:
    """A service whose one question takes until somebody lets it go on, and that counts how often it was asked."""

    index, limits = "", Limits(threads=4)

    def __init__(self):
        self.asked, self.go, self.ended, self.now = 0, threading.Event(), threading.Event(), "1:"

    def state(self):
        return self.now

    def answers(self, question):
        self.asked += 1
        before = self.now
        try:
            yield f"first for {question.options['table']}"
            while not self.go.wait(0.005):
                check_cancelled()
            yield "last"
        except Cancelled:
            self.ended.set()
            raise
        return before if before == self.now else None


def question(table="a.csv"):
    return Question("search_stages", {"table": table})


async def all_of(workers, asked, client=None):
    return [each async for each in workers.stages(asked, client.has_left if client else None)]


def test_a_question_under_way_is_shared_and_its_answer_kept():
    async def main():
        service = Slow()
        workers = Workers(service)
        asked = [asyncio.create_task(all_of(workers, question())) for _ in range(5)]
        await asyncio.sleep(0.1)
        late = asyncio.create_task(all_of(workers, question()))
        other = asyncio.create_task(all_of(workers, question("b.csv")))
        await asyncio.sleep(0.05)
        service.go.set()
        assert await asyncio.gather(*asked, late) == [["first for a.csv", "last"]] * 6
        assert await other == ["first for b.csv", "last"] and service.asked == 2
        assert await all_of(workers, question()) == ["first for a.csv", "last"] and service.asked == 2
        service.now = "2:"
        assert await all_of(workers, question()) and service.asked == 3, "another generation, another answer"
        workers.close()

    asyncio.run(main())


def test_a_shared_question_ends_when_the_last_client_leaves():
    async def main():
        service, clients = Slow(), [Client(), Client()]
        workers = Workers(service)
        asked = [asyncio.create_task(all_of(workers, question(), client)) for client in clients]
        await asyncio.sleep(0.1)
        clients[0].here = False
        with pytest.raises(Cancelled):
            await asked[0]
        await asyncio.sleep(0.2)
        assert not service.ended.is_set() and service.asked == 1, "the other still waits"
        clients[1].here = False
        with pytest.raises(Cancelled):
            await asked[1]
        assert await asyncio.to_thread(service.ended.wait, 5)
        service.go.set()
        assert await all_of(workers, question()) == ["first for a.csv", "last"] and service.asked == 2
        workers.close()

    asyncio.run(main())


def test_the_server_catches_up_with_a_process_before_its_answer_is_given():
    class OtherProcesses:
        def answers(self, asked, generation):
            yield pickle.dumps("an answer of generation 2")
            return "2:"

        def close(self):
            pass

    async def main():
        service, known = Slow(), []
        service.lake, service.catch_up = SimpleNamespace(generation=1), known.append
        workers = Workers(service)
        workers._processes = OtherProcesses()
        assert await workers.ask(question()) == "an answer of generation 2" and known == ["2:"]
        workers.close()

    asyncio.run(main())


def test_an_answer_is_not_kept_if_the_index_has_changed_meanwhile():
    async def main():
        service = Slow()
        workers = Workers(service)
        asked = asyncio.create_task(all_of(workers, question()))
        await asyncio.sleep(0.1)
        service.now = "2:"
        service.go.set()
        await asked
        service.now = "1:"
        await all_of(workers, question())
        assert service.asked == 2
        workers.close()

    asyncio.run(main())


def test_answers_are_bounded():
    answers = Answers(10_000)
    answers.get("1:", "0")
    for number in range(50):
        answers.keep("1:", str(number), (b"x" * 60, b"y" * 40))
        answers.get("1:", "0")
    kept = {name for name in ("0", "1", "49") if answers.get("1:", name)}
    assert answers.bytes <= 10_000 and kept == {"0", "49"}
    answers.keep("1:", "large", (b"z" * 9_000,))
    assert answers.get("1:", "large") is None


def test_answers_over_a_former_state_are_let_go():
    answers = Answers(10_000)
    answers.get("1:", "a")
    answers.keep("1:", "a", (b"x",))
    assert answers.get("1:", "a") == (b"x",) and answers.get("2:", "b") is None and answers.bytes == 0
    answers.keep("1:", "late", (b"x",))
    answers.keep("2:", "a", (b"y",))
    assert answers.get("2:", "late") is None and answers.get("2:", "a") == (b"y",)


def test_long_questions_with_short_answers_are_bounded():
    answers = Answers(1_000_000)
    answers.get("1:", "")
    for number in range(50):
        answers.keep("1:", f"{number} " + "x" * 100_000, (b"y",))
    assert len(answers._kept) < 10


@pytest.mark.parametrize("by", ["equal", "transform", "semantic", "through"])
def test_searches_look_whether_anybody_waits(sample_index, by):
    lake = Lake(sample_index)
    with cancellable(lambda: True), pytest.raises(Cancelled):
        lake.search("geo/countries.csv", by=by)


def test_deadlines_look_whether_anybody_waits():
    with cancellable(lambda: True), pytest.raises(Cancelled):
        Deadline(10).check()
    Deadline(10).check()
