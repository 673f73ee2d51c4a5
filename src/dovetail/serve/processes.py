"""Processes that answer questions about tables, each over the same mapped index: Python's lock is not shared.

A process has one question at a time and says so by its end:

    to it     a pickled (generation, Question); nothing, to say that nobody waits any more
    from it   b"A" + a pickled answer, for each; then b"E" + the pickled state of the index, or b"F" + a pickled failure

Both ends are our own code. A process that does not stop when told to, or that has ended, is replaced.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from dovetail._cancel import Cancelled, cancellable, check_cancelled
from dovetail.errors import DovetailError
from dovetail.serve.limits import Limits
from dovetail.serve.problems import explained
from dovetail.serve.question import Question
from dovetail.serve.service import Service

ANSWER, END, FAILURE = b"A", b"E", b"F"
NOBODY_WAITS = b""
_LOOK = 0.05  # seconds between two looks whether anybody waits
_GRACE = 5.0  # seconds to stop in after being told to; generous, the longest kernel takes less
_LEAVING_LOOK = 0.02  # the same for a process about itself


class Processes:
    """A bounded pool. Each thread that asks takes a process and gives it back."""

    def __init__(self, index: str, folder: Path, limits: Limits) -> None:
        each = replace(limits, opened_mb=max(1, limits.opened_mb // limits.processes))
        self._setting = (index, folder, each)
        self._idle: queue.LifoQueue[_Process] = queue.LifoQueue()
        self._all = [_Process(*self._setting) for _ in range(limits.processes)]
        for process in self._all:
            self._idle.put(process)

    def warm_up(self) -> None:
        """Wait until every process is ready to answer."""
        for process in self._all:
            process.wait_until_ready()

    def answers(self, question: Question, generation: int) -> Generator[bytes, None, str | None]:
        """Pickled answers, over the given generation of the index or a newer one; returns its state, as `Service` does.

        Raises Cancelled where nobody waits any more.
        """
        process = self._idle.get()
        try:
            if process.has_ended:
                process = self._replaced(process)
            return (yield from process.answers(question, generation))
        finally:
            if not process.is_idle:
                process = self._replaced(process)
            self._idle.put(process)

    def _replaced(self, process: _Process) -> _Process:
        process.end()
        made = _Process(*self._setting)
        self._all[self._all.index(process)] = made
        return made

    def close(self) -> None:
        for process in self._all:
            process.end()


class _Process:
    def __init__(self, index: str, folder: Path, limits: Limits) -> None:
        self._connection, theirs = Pipe()
        command = [sys.executable, "-m", "dovetail.serve.processes", str(theirs.fileno())]
        self._child = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._connection.send_bytes(pickle.dumps((index, folder, limits)))
        self.is_idle, self._is_ready = True, False

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def wait_until_ready(self) -> None:
        """Until it has opened the index; it says so once, before anything else."""
        if not self._is_ready:
            self._received()
            self._is_ready = True

    def answers(self, question: Question, generation: int) -> Generator[bytes, None, str | None]:
        try:
            self.wait_until_ready()
            self.is_idle = False
            self._connection.send_bytes(pickle.dumps((generation, question)))
            while True:
                kind, content = self._received()
                if kind == ANSWER:
                    yield content
                    continue
                self.is_idle = True
                state = pickle.loads(content)
                if kind == FAILURE:
                    raise state
                return state  # type: ignore[no-any-return]
        except (EOFError, OSError) as error:
            raise RuntimeError(f"A process that answers questions has ended, with {self._child.wait()}.") from error
        finally:
            if not self.is_idle:
                self._stop()

    def _received(self) -> tuple[bytes, bytes]:
        while not self._connection.poll(_LOOK):
            check_cancelled()
        received = self._connection.recv_bytes()
        return received[:1], received[1:]

    def _stop(self) -> None:
        """Say that nobody waits, and wait a little for the end."""
        ends = time.monotonic() + _GRACE
        with contextlib.suppress(EOFError, OSError):  # it has ended, and is replaced
            self._connection.send_bytes(NOBODY_WAITS)
            while not self.is_idle and (left := ends - time.monotonic()) > 0 and self._connection.poll(left):
                self.is_idle = self._connection.recv_bytes()[:1] in (END, FAILURE)

    def end(self) -> None:
        self._connection.close()
        self._child.kill()
        self._child.wait()


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
        self._next = now + _LEAVING_LOOK
        return self._connection.poll()


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
