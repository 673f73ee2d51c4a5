"""Clients that stand still are cut off, and others are answered meanwhile; those that are slow are not."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import urllib.request

import pytest
import uvicorn

from dovetail.serve import connections
from support.processes import wait_until

LARGE = 40_000_000  # bytes of an answer: more than sockets take by themselves
PATIENCE = 10  # seconds until a test gives up: the server looks every 0.2 s


async def answering(scope, receive, send):
    """Reads the body, and answers with its length; at /large, with many bytes."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    body = bytes(LARGE) if scope["path"] == "/large" else b"%d" % length
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def place(monkeypatch):
    for name in ("HEAD_SECONDS", "LOOK_SECONDS"):
        monkeypatch.setattr(connections, name, 0.2)
    config = uvicorn.Config(
        answering, http=connections.PatientProtocol, lifespan="off", log_level="critical", timeout_keep_alive=60
    )
    server = uvicorn.Server(config)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        wait_until(lambda: server.started)
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def connected(place, sent):
    with socket.create_connection(place) as client:
        client.settimeout(PATIENCE)
        client.sendall(sent)
        yield client


def is_answered(place):
    with urllib.request.urlopen(f"http://{place[0]}:{place[1]}/", timeout=PATIENCE) as answer:
        return answer.read() == b"0"


def is_closed(client):
    """Whether the server closes the connection without an answer; a timeout says that it does not."""
    with contextlib.suppress(ConnectionResetError):
        return client.recv(1) == b""
    return True


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nX: ", HEAD, HEAD + b"x" * 100])
def test_requests_that_stand_still_are_cut_off(place, sent):
    with connected(place, sent) as client:
        assert is_answered(place), "others, meanwhile"
        assert is_closed(client)
    assert is_answered(place)


def test_an_answer_that_nobody_takes_is_cut_off(place):
    with connected(place, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        assert is_answered(place)
        time.sleep(2)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.recv(1_000_000):
                taken += len(chunk)
        assert taken < LARGE, "what sockets had taken by themselves"


def test_slow_clients_are_answered(place):
    """A body that comes in small parts over several looks, and an answer that is taken so."""
    with connected(place, HEAD) as client:
        for _ in range(10):
            time.sleep(0.1)
            client.sendall(b"x" * 10_000)
        assert client.recv(1_000).endswith(b"100000")
    with connected(place, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        taken = 0
        while taken < LARGE:
            chunk = client.recv(2_000_000)
            assert chunk
            taken += len(chunk)
            time.sleep(0.02)


def test_a_connection_may_wait_between_two_requests(place):
    with connected(place, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        assert client.recv(1_000).endswith(b"0")
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1_000).endswith(b"0")
