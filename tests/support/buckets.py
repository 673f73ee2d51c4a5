"""Object stores for tests: buckets in memory, and a server that speaks S3 on the loopback device."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
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


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(address, timeout=1).close()
        return True
    return False
