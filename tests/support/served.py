"""A server: inside this process without pages, or as a process of its own on a free port of this machine."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from dovetail.serve.server import Server

HERE = "http://127.0.0.1"
COMMAND = Path(sys.executable).with_name("dovetail")


@contextlib.contextmanager
def client_of(index: Path, **options: Any) -> Iterator[TestClient]:
    """A client of a server in this process."""
    server = Server(str(index), pages=False, **options)
    with TestClient(server.app, base_url=HERE, raise_server_exceptions=False) as client:
        client.served = server  # type: ignore[attr-defined]
        yield client


@contextlib.contextmanager
def serving(index: Path, *options: str) -> Iterator[str]:
    """The address of `dovetail serve`, which ends with the context."""
    command = [str(COMMAND), "serve", str(index), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        try:
            assert line.startswith("Dovetail at "), line
            yield line.removeprefix("Dovetail at ").strip()
        finally:
            process.terminate()
            process.wait(20)
