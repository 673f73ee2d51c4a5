"""How a server holds up: 64 clients that ask one question after another for a minute, on this machine.

    python benchmarks/serving/run.py --index ./idx --clients 64 --seconds 60

Starts `dovetail serve` as a process of its own on loopback, once for each setting that is compared: questions in
threads of one process (`--workers 0`), and in worker processes. Each client searches with tables of the lake, without
naming a column:

    different   no table is asked twice: every answer has to be made
    repeated    of 200 tables, those that are asked again may be answered from the cache

Prints throughput, p50 and p99, the CPU time of an answer, errors, and the memory of the server and all its processes
every few seconds; and the weight of a page and the time to the first hit of one search alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
from server import cpu_seconds, own_memory, serving

import dovetail

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

WARM_UP = 5.0  # seconds of questions before the clock runs
POINTS = 12  # of the curve of memory
CHROMIUM = "/usr/bin/chromium"


async def ask(client: httpx.AsyncClient, table: str) -> tuple[float, int]:
    begun = time.perf_counter()
    try:
        answer = await client.get("/search.json", params={"table": table, "k": 10})
        status = answer.status_code
    except httpx.HTTPError:
        status = 0
    return time.perf_counter() - begun, status


async def one_client(client: httpx.AsyncClient, tables: Iterator[str], ends: float) -> list[tuple[float, int]]:
    found = []
    while time.perf_counter() < ends:
        found.append(await ask(client, next(tables)))
    return found


async def followed(server: psutil.Process, seconds: float) -> list[int]:
    """The memory at regular distances, from now on."""
    found = [own_memory(server)]
    for _ in range(POINTS):
        await asyncio.sleep(seconds / POINTS)
        found.append(own_memory(server))
    return found


async def load(
    address: str, server: psutil.Process, tables: Iterator[str], clients: int, seconds: float
) -> tuple[list[tuple[float, int]], list[int]]:
    """The time and the status of every answer, also of those that come after the clients have stopped asking."""
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        memory = asyncio.create_task(followed(server, seconds))
        ends = time.perf_counter() + seconds
        answers = await asyncio.gather(*(one_client(client, tables, ends) for _ in range(clients)))
        return [answer for each in answers for answer in each], await memory


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


def small_tables(address: str) -> list[str]:
    """Tables to search with, in a random order that is always the same."""
    lines = httpx.get(f"{address}/tables.json", params={"limit": 10_000}, timeout=120).json()["tables"]
    names = [line["table"] for line in lines if not line["error"] and 5 <= line["rows"] <= 10_000]
    return random.Random(1).sample(names, len(names))


def summary(answers: list[tuple[float, int]], memory: list[int], elapsed: float, cpu: float) -> dict[str, object]:
    times = sorted(seconds for seconds, _ in answers)
    return {
        "answers": len(answers), "answers/s": round(len(answers) / elapsed, 1),
        "p50 s": round(times[len(times) // 2], 3), "p99 s": round(times[int(len(times) * 0.99)], 3),
        "CPU seconds per answer": round(cpu / len(answers), 4), "errors": sum(status != 200 for _, status in answers),
        "memory MB": [round(each / 1e6) for each in memory],
    }  # fmt: skip


def measure(address: str, server: psutil.Process, given: argparse.Namespace) -> dict[str, Any]:
    tables = small_tables(address)
    warm, alone, rest = tables[:300], tables[300:310], tables[310:]
    asyncio.run(load(address, server, itertools.cycle(warm), 2, WARM_UP))
    found: dict[str, Any] = {"first hit alone s": round(statistics.median(first_hit(address, t) for t in alone), 3)}
    chosen = random.Random(2)
    few = rest[: given.tables]
    kinds = {"different": iter(rest[given.tables :]), "repeated": (chosen.choice(few) for _ in itertools.count())}
    for kind in given.kinds.split(","):
        begun, used = time.perf_counter(), cpu_seconds(server)
        answers, memory = asyncio.run(load(address, server, kinds[kind], given.clients, given.seconds))
        found[kind] = summary(answers, memory, time.perf_counter() - begun, cpu_seconds(server) - used)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--index", required=True)
    options.add_argument("--workers", default="0,2", help="settings of `dovetail serve --workers` to compare")
    options.add_argument("--kinds", default="different,repeated")
    options.add_argument("--tables", type=int, default=200, help="tables of the repeated questions")
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60)
    given = options.parse_args()
    rates: dict[bool, float] = {}
    for workers in given.workers.split(","):
        with serving(given.index, "--workers", workers) as (address, server):
            found = measure(address, server, given)
            weight = page_weight(address)
            found["page weight KB"] = weight and round(weight / 1000)
            print(json.dumps({"workers": int(workers), **found}, indent=1), flush=True)
            if "different" in found:
                rates[int(workers) > 0] = found["different"]["answers/s"]
    record(tables=len(dovetail.open(given.index).tables()), threads=rates.get(False), processes=rates.get(True))


if __name__ == "__main__":
    main()
