"""Object stores for tests: buckets in memory, and a server that speaks S3 on the loopback device."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dovetail import _objects
from support.processes import wait_until


@contextlib.contextmanager
def buckets_in_memory(cache: Path) -> Iterator[dict[str, Any]]:
    """Every bucket is there, empty, and ends with the context; files are cached in a folder of their own."""
    from obstore.store import MemoryStore

    buckets: dict[str, Any] = defaultdict(MemoryStore)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_objects, "client", lambda scheme, bucket: buckets[bucket])
        patch.setenv("DOVETAIL_CACHE", str(cache))
        yield buckets


@contextlib.contextmanager
def s3_server(bucket: str, log: Path) -> Iterator[dict[str, str]]:
    """A server with one bucket; the variables of the environment by which it is found. `make test-full` installs it."""
    server = os.environ.get("MOTO_SERVER") or shutil.which("moto_server")
    assert server, "`make test-full` names the server in MOTO_SERVER"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], stdout=output, stderr=output)
    try:
        wait_until(lambda: _answers(address), patience=60)
        urllib.request.urlopen(urllib.request.Request(f"{address}/{bucket}", method="PUT")).close()
        yield {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "not-to-be-seen",
            "AWS_REGION": "us-east-1",
        }  # fmt: skip
    finally:
        process.terminate()
        process.wait(timeout=30)


@dataclass(frozen=True)
class Request:
    """What was asked of a server, and how many bytes it sent."""

    method: str
    path: str
    query: str
    range: str
    bytes: int

    @property
    def is_listing(self) -> bool:
        return self.method == "GET" and "list-type" in self.query

    @property
    def first_and_last(self) -> tuple[int, int]:
        """The bytes that were asked for."""
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.range)
        return (int(found[1]), int(found[2])) if found else (0, self.bytes - 1)


@contextlib.contextmanager
def counted(server: str) -> Iterator[tuple[str, list[Request]]]:
    """The address of a proxy of a server, and all that is asked of it."""
    host = server.removeprefix("http://")
    requests: list[Request] = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = http.client.HTTPConnection(host)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
            path, _, query = self.path.partition("?")
            sent = 0 if self.command == "HEAD" else len(data)
            requests.append(Request(self.command, path, query, self.headers.get("Range", ""), sent))
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length", "server", "date"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(length or 0))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward

        def log_message(self, *_: object) -> None:
            """Nothing: what was asked is in the list."""

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}", requests
    finally:
        proxy.shutdown()
        proxy.server_close()


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(address, timeout=1).close()
        return True
    return False
