"""A process that answers questions until whoever started it closes the connection; see `processes`."""

from __future__ import annotations

import pickle
import signal
import sys
import time
from collections.abc import Generator
from multiprocessing.connection import Connection
from typing import Any

from dovetail._cancel import Cancelled, cancellable
from dovetail.errors import DovetailError
from dovetail.serve.problems import explained
from dovetail.serve.processes import ANSWER, END, FAILURE, NOBODY_WAITS
from dovetail.serve.question import Question
from dovetail.serve.service import Service

_LOOK = 0.02  # seconds between two looks whether anybody waits


def main(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal: the server ends first, and then this
    service = Service(*pickle.loads(connection.recv_bytes()))
    service.warm_up()
    try:
        connection.send_bytes(END)
        while True:
            received = connection.recv_bytes()
            if received != NOBODY_WAITS:
                _answer(connection, service, *pickle.loads(received))
    except (EOFError, OSError):
        return  # the server has ended


def _answer(connection: Connection, service: Service, generation: int, question: Question) -> None:
    try:
        with cancellable(_Leaving(connection)):
            state = _send_all(connection, service.answers(question, generation))
        connection.send_bytes(END + pickle.dumps(state))
    except (DovetailError, Cancelled) as error:
        connection.send_bytes(FAILURE + pickle.dumps(error))
    except ConnectionError:
        raise
    except Exception as error:  # noqa: BLE001  # logged here, and a sentence there
        connection.send_bytes(FAILURE + pickle.dumps(explained(error, question.verb)))


def _send_all(connection: Connection, answers: Generator[Any, None, str | None]) -> str | None:
    while True:
        try:
            connection.send_bytes(ANSWER + pickle.dumps(next(answers)))
        except StopIteration as end:
            state: str | None = end.value
            return state


class _Leaving:
    """Whether the server has sent something meanwhile: that nobody waits. Asked often, so it looks now and then."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._next = connection, 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _LOOK
        return self._connection.poll()


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
