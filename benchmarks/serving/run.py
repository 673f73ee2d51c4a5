"""How a server holds up: 64 clients that ask one question after another for a minute, on this machine.

    python benchmarks/serving/run.py --index ./idx --tables 200 --clients 64 --seconds 60

Starts `dovetail serve` as a process of its own on loopback. Each client searches with tables of the lake, chosen at
random by a seed; nothing is cached between questions. Prints throughput, p50 and p99, errors, and the server's memory
at the beginning and at the end; and the weight of a page and the time to the first hit of one search alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

WARM_UP = 5.0  # seconds of questions before the clock runs
CHROMIUM = "/usr/bin/chromium"


async def ask(client: httpx.AsyncClient, table: str) -> tuple[float, int]:
    begun = time.perf_counter()
    try:
        answer = await client.get("/search.json", params={"table": table, "k": 10})
        status = answer.status_code
    except httpx.HTTPError:
        status = 0
    return time.perf_counter() - begun, status


async def one_client(client: httpx.AsyncClient, tables: list[str], seed: int, ends: float) -> list[tuple[float, int]]:
    chosen, found = random.Random(seed), []
    while time.perf_counter() < ends:
        found.append(await ask(client, chosen.choice(tables)))
    return found


async def load(address: str, tables: list[str], clients: int, seconds: float) -> list[tuple[float, int]]:
    """The time and the status of every answer, also of those that come after the clients have stopped asking."""
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        ends = time.perf_counter() + seconds
        answers = await asyncio.gather(*(one_client(client, tables, seed, ends) for seed in range(clients)))
    return [answer for each in answers for answer in each]


def first_hit(address: str, table: str) -> float:
    begun = time.perf_counter()
    with httpx.stream("GET", f"{address}/search.events", params={"table": table}, timeout=120) as answer:
        for line in answer.iter_lines():
            if line.startswith("event: hit"):
                break
    return time.perf_counter() - begun


def page_weight(address: str) -> int | None:
    """Bytes that a browser fetches for the first page, when it comes for the first time; None without Chromium."""
    if not Path(CHROMIUM).exists():
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page()
        page.goto(address, wait_until="networkidle")
        entries = "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
        weight: int = page.evaluate(f"{entries}.reduce((sum, each) => sum + each.transferSize, 0)")
        browser.close()
    return weight


def small_tables(address: str, number: int) -> list[str]:
    lines = httpx.get(f"{address}/tables.json", params={"limit": 10_000}, timeout=120).json()["tables"]
    names = [line["table"] for line in lines if not line["error"] and 5 <= line["rows"] <= 10_000]
    return random.Random(1).sample(names, min(number, len(names)))


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--index", required=True)
    options.add_argument("--tables", type=int, default=200)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60)
    given = options.parse_args()
    command = [Path(sys.executable).with_name("dovetail"), "serve", given.index, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = server.stdout.readline().removeprefix("Dovetail at ").strip()
        try:
            measure(address, psutil.Process(server.pid), given)
        finally:
            server.terminate()
            server.wait(20)


def own_memory(server: psutil.Process) -> int:
    """Bytes without the mapped files of the index, which the system takes back when it needs to."""
    found = server.memory_info()
    return int(found.rss - found.shared)


def measure(address: str, server: psutil.Process, given: argparse.Namespace) -> None:
    tables = small_tables(address, given.tables)
    asyncio.run(load(address, tables, 1, WARM_UP))
    first = statistics.median(first_hit(address, table) for table in tables[:10])
    before = own_memory(server)
    begun = time.perf_counter()
    half = asyncio.run(load(address, tables, given.clients, given.seconds / 2))
    middle = own_memory(server)
    answers = half + asyncio.run(load(address, tables, given.clients, given.seconds / 2))
    elapsed = time.perf_counter() - begun
    times = sorted(seconds for seconds, _ in answers)
    found = {
        "tables searched with": len(tables), "clients": given.clients, "seconds": given.seconds,
        "answers": len(answers), "answers/s": round(len(answers) / elapsed, 1),
        "p50 s": round(times[len(times) // 2], 3), "p99 s": round(times[int(len(times) * 0.99)], 3),
        "errors": sum(status != 200 for _, status in answers),
        "memory MB (start, half, end)": [round(each / 1e6) for each in (before, middle, own_memory(server))],
        "first hit alone s": round(first, 3), "page weight KB": round((page_weight(address) or 0) / 1000) or None,
    }  # fmt: skip
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
