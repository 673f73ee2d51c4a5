"""`dovetail serve` and `dovetail mcp` as processes of their own: assistants, clients that leave, and a fuzzer."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
from urllib.parse import urlsplit

import httpx
import pytest
from mcp import Client, StdioServerParameters

from support.command import dovetail
from support.decided_lake import make_index
from support.served import COMMAND, serving

# What fits the description is refused only for what it means (400: parameters that exclude each other, which OpenAPI
# cannot say) or what it names (404, 410), never for its form (422). What does not fit is refused, but in a form
# everything is a file, also the text "null".
FUZZER = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 404, 410]

[[operations]]
include-name = "POST /uploads.json"
checks.negative_data_rejection.enabled = false
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def address(made):
    with serving(made) as address:
        yield address


async def asked(server):
    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("search", {"table": "flights.csv", "on": "origin", "k": 1})
        return names, found.structured_content["hits"][0]["table"]


def test_assistants_over_standard_input_and_http(made, address):
    spoken = StdioServerParameters(command=str(COMMAND), args=["mcp", str(made)])
    first, second = asyncio.run(asked(spoken)), asyncio.run(asked(f"{address}/mcp"))
    assert first[1] == second[1] == "airports.csv"
    assert first[0] | {"decide"} == second[0], "over HTTP, the server may keep decisions"


def test_pages_and_json_at_one_address(address):
    two = "table=flights.csv&table=airports.csv"
    for path, query in {
        "/tables": "", "/tables/flights.csv": "", "/graph": "edges=inds", "/decisions": "", "/find": "value=ZRH",
        "/search": "table=flights.csv", "/union": "table=teams.csv", "/predicates": two, "/rows": "table=flights.csv",
        "/join": "table=flights.csv&with=airports.csv", "/sql": "table=flights.csv&query=SELECT 1",
        "/map": "table=airports.csv&column=city&example=City of ZRH=ZRH", "/paths": "start=flights.csv&end=teams.csv",
    }.items():  # fmt: skip
        page = httpx.get(f"{address}{path}?{query}")
        assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
        answer = httpx.get(f"{address}{path}.json?{query}", timeout=60)
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json", path


def test_a_page_that_fails_shows_no_traceback(address):
    page = httpx.get(f"{address}/nowhere")
    assert page.status_code == 404 and "Traceback" not in page.text


def test_a_client_that_leaves_does_not_hold_a_thread(made):
    """As many clients as threads and more ask for something that takes long, and leave; the next is answered."""
    with serving(made, "--seconds", "600") as address:
        place = urlsplit(address)
        for _ in range(6):
            with socket.create_connection((place.hostname, place.port)) as client:
                query = "SELECT%20count(*)%20FROM%20range(1000000000000)%20a,range(9999)%20b"
                path = f"/sql.json?table=flights.csv&query={query}"
                client.sendall(f"GET {path} HTTP/1.1\r\nhost: {place.netloc}\r\n\r\n".encode())
                time.sleep(0.3)
        begun = time.monotonic()
        assert httpx.get(f"{address}/decisions.json", timeout=30).json() == []
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_ends_leaves_nothing_behind(made, tmp_path, number):
    command = [str(COMMAND), "serve", str(made), "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        address = server.stdout.readline().removeprefix("Dovetail at ").strip()
        httpx.post(
            f"{address}/uploads.json", files={"file": ("mine.csv", "a,b\n1,2\n2,3\n")}, timeout=60
        ).raise_for_status()
        assert list(tmp_path.iterdir())
        server.send_signal(number)
        assert "Traceback" not in server.communicate(timeout=30)[1]
    assert server.returncode in (0, -signal.SIGTERM) and not list(tmp_path.iterdir())


def test_elsewhere_a_token_is_made(made):
    with serving(made, "--host", "0.0.0.0") as address:
        shown = urlsplit(address)
        token = shown.query.removeprefix("token=")
        here = f"http://127.0.0.1:{shown.port}/decisions.json"
        assert len(token) >= 20 and httpx.get(here).status_code == 401
        assert httpx.get(here, headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_bad_input(made, tmp_path):
    assert dovetail("serve", tmp_path / "nothing").code == 2
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = dovetail("serve", made, "--port", taken.getsockname()[1])
    assert answer.code == 2 and answer.err.startswith("Cannot listen at 127.0.0.1, port")


@pytest.mark.full
def test_a_fuzzer_finds_nothing(made, tmp_path):
    """Schemathesis: whatever fits the description of REST, or does not, gets an answer that the description allows."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(FUZZER)
    with serving(shutil.copytree(made, tmp_path / "idx")) as address:
        options = {"max-examples": "10", "phases": "examples,fuzzing", "seed": "1", "generation-database": "none"}
        given = [f"--{name}={value}" for name, value in options.items()]
        start = [COMMAND.with_name("schemathesis"), "--config-file", config, "run"]
        command = [*start, f"{address}/openapi.json", "--no-color", *given]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:]
