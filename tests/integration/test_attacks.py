"""Attacks on a server that runs: it goes on answering others, and gives nothing away."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from support.decided_lake import make_index
from support.served import serving

pytestmark = pytest.mark.full
_MANY = 300  # connections, below the limit of the server
UPLOAD = b"POST /uploads.json HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
UPLOAD += b"Content-Length: 1000000\r\n\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    with serving(make_index(tmp_path_factory.mktemp("attacked"))) as address:
        yield address


def place(address: str) -> tuple[str, int]:
    found = urllib.parse.urlsplit(address)
    assert found.hostname and found.port
    return found.hostname, found.port


def asked(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{address}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def raw(address: str, request: bytes) -> bytes:
    with socket.create_connection(place(address), timeout=30) as connection:
        connection.sendall(request)
        connection.settimeout(10)
        answer = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while chunk := connection.recv(65_536):
                answer += chunk
        return answer


def memory(address: str) -> int:
    """Bytes of the process that listens."""
    port = place(address)[1]
    (owner,) = {each.pid for each in psutil.net_connections("tcp") if each.laddr and each.laddr.port == port
                and each.status == psutil.CONN_LISTEN}  # fmt: skip
    return psutil.Process(owner).memory_info().rss


def answers(address: str) -> bool:
    return asked(address, "/tables.json?limit=1")[0] == 200


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Whether the server closes the connection within so many seconds, without an answer."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize("sent", [b"GET /tables.json HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", UPLOAD + b"--b\r\n"])
def test_requests_that_never_end_are_cut_off(address, sent):
    """Slow loris, by headers and by a body: others are answered meanwhile, and the server does not wait for long."""
    with contextlib.ExitStack() as opened:
        held = [opened.enter_context(socket.create_connection(place(address))) for _ in range(_MANY)]
        for connection in held:
            connection.sendall(sent)
        assert answers(address)
        assert not is_closed(held[-1], 0.1), "others were answered while these were open"
        assert all(is_closed(connection, 60) for connection in held)
    assert answers(address)


def test_answers_that_nobody_takes_are_not_held_in_memory(address):
    """Twenty downloads of 20 MB."""
    rows = b"a,b\n" + b"".join(b"%d,%s\n" % (number, b"x" * 80) for number in range(240_000))
    body = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' + rows + b"\r\n--b--\r\n"
    kind = {"content-type": "multipart/form-data; boundary=b"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/uploads.json", body, kind), timeout=60) as answer:
        path = f"/download.csv?table={json.load(answer)['table']}"
    assert asked(address, path)[0] == 200
    before = memory(address)
    with contextlib.ExitStack() as opened:
        for _ in range(20):
            connection = opened.enter_context(socket.create_connection(place(address)))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            connection.settimeout(60)
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert memory(address) - before < 200_000_000
        assert answers(address)


def test_huge_bodies_and_headers_are_refused_before_they_are_read(address):
    before = memory(address)
    head = b"POST /uploads.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    assert b" 413 " in raw(address, head + b"Content-Length: 99999999999999\r\n\r\n")
    assert b" 411 " in raw(address, head + b"Transfer-Encoding: chunked\r\n\r\n")
    assert b" 400 " in raw(address, head + b"X: " + b"x" * 3_000_000 + b"\r\n\r\n")[:200]
    assert memory(address) - before < 100_000_000
    assert answers(address)


def test_deep_json_and_wild_programs_are_refused(address):
    deep = urllib.parse.quote("[" * 20_000)
    status, body = asked(address, f"/join.json?table=a&with=b&program={deep}")
    assert 400 <= status < 500 and "error" in json.loads(body)
    request = urllib.request.Request(f"{address}/decisions.json", b"[" * 100_000, {"content-type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert 400 <= refused.value.code < 500


@pytest.mark.parametrize("name", ["../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "..%2f..%2fetc/passwd",
                                  "upload-../../x", "a.zip::../../etc/passwd", "postgresql://localhost/x"])  # fmt: skip
def test_no_name_leads_out_of_the_lake(address, name):
    for path in (f"/tables/{name}", f"/rows.json?table={name}", f"/search.json?table={name}",
                 f"/download.csv?table={name}", f"/{name}"):  # fmt: skip
        status, body = asked(address, path)
        assert status < 500 and (status >= 400 or path.startswith("/tables/")), (path, status)  # a page says it inside
        assert "root:" not in body


def test_headers_cannot_be_injected(address):
    hostile = urllib.parse.quote("x\r\nSet-Cookie: a=b\r\n\r\n<script>")
    for path in (f"/tables/{hostile}", f"/rows.json?table={hostile}"):
        answer = raw(address, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        assert b"set-cookie" not in answer.partition(b"\r\n\r\n")[0].lower()
    boundary = "b"
    name = 'x\\r\\nSet-Cookie: a=b\\"../../evil.csv'
    body = (f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\na,b\n1,2\n\r\n'
            f"--{boundary}--\r\n").encode()  # fmt: skip
    kind = {"content-type": f"multipart/form-data; boundary={boundary}"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/uploads.json", body, kind), timeout=30) as answer:
        kept = json.load(answer)
    assert re.fullmatch(r"upload-[0-9a-f]{24}", kept["table"]) and "/" not in kept["title"]
    assert not list(Path.cwd().glob("evil*"))


def test_other_hosts_and_sites_are_refused(address):
    assert b" 403 " in raw(address, b"GET /tables.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    mine = address.removeprefix("http://").encode()
    head = b"GET /tables.json HTTP/1.1\r\nHost: " + mine + b"\r\nConnection: close\r\n"
    assert b" 403 " in raw(address, head + b"Origin: http://evil.example\r\n\r\n")
