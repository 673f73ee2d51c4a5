"""A long run: an index that is updated every minute, served, and asked by ten clients at the same time.

    python benchmarks/soak/run.py [--minutes 30] [--clients 10] [--every 60] [--tables 1000]

`dovetail index` brings the index up to date (tables are added, changed and removed), every fifth time followed by
`dovetail compact`, while one `dovetail serve` answers. Clients search by a column and with nothing said, list tables
and look up a value. It fails, with exit code 1, on

    errors            answers with another status than 200
    two generations   answers that no version of the lake fits as a whole (marked.py)
    leaks             the server's memory without mapped files, its open files, or removed files of the index that it
                      still maps, in the last quarter a tenth above those in the second; the first is for warming up

and prints the slope of each of the last three over the second half.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from marked import KEYS, QUESTIONS, TwoGenerations, is_same, version_of, write_questions, write_version

_BENCHMARKS = Path(__file__).resolve().parents[1]
sys.path += [str(_BENCHMARKS), str(_BENCHMARKS / "serving"), str(_BENCHMARKS / "growth"), str(_BENCHMARKS / "indexing")]

from fit import slope  # noqa: E402
from server import own_memory, processes, serving  # noqa: E402
from shapes import make_lake  # noqa: E402
from sides import COMMAND  # noqa: E402

from measured import record  # noqa: E402

_COMPACT_EVERY = 5  # updates
_SAMPLES = 200  # of memory and files
_LEAK = 1.1  # the last quarter beside the second; arbitrary, and more than memory varies between two questions
_FEW_FILES = 16  # more or less, that a question under way, a connection or a generation that has just ended may hold
_PAUSE = (
    0.2  # seconds of a client between an answer and its next question, so that updates get their share of the cores
)


@dataclass
class Seen:
    """What happened so far."""

    answers: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    mixed: list[str] = field(default_factory=list)
    backwards: int = 0
    versions: set[int] = field(default_factory=set)
    updates: list[float] = field(default_factory=list)
    compactions: int = 0
    memory: list[tuple[float, int, int, int]] = field(default_factory=list)
    """Seconds, bytes without mapped files, open files, mapped files of the index that have been removed."""


async def ask(client: httpx.AsyncClient, strangers: list[str], chosen: random.Random) -> tuple[str, int, int | None]:
    """One question of any kind: which, its status, and the version of the lake that the answer fits, if any can."""
    kind = chosen.choices(("column", "nothing said", "tables", "find"), (5, 2, 2, 1))[0]
    if kind == "nothing said":
        answer = await client.get("/search.json", params={"table": chosen.choice(strangers), "k": 5})
        return kind, answer.status_code, None
    if kind == "column":
        asked = {"table": f"question-{chosen.randrange(QUESTIONS)}.csv", "on": "word", "tables": "marked/*"}
        asked |= {"k": str(chosen.randint(20, 60)), "copies": "true", "min_overlap": str(chosen.randint(1, 20))}
        answer = await client.get("/search.json", params=asked)
    elif kind == "tables":
        answer = await client.get("/tables.json", params={"pattern": "marked/*", "limit": 100})
    else:
        answer = await client.get("/find.json", params={"value": KEYS[0], "limit": 100})
    return kind, answer.status_code, _version(kind, answer.json()) if answer.status_code == 200 else None


def _version(kind: str, answer: dict[str, Any]) -> int:
    lines = answer[{"column": "hits", "tables": "tables", "find": "columns"}[kind]]
    count = {"column": "overlap", "tables": "rows"}.get(kind)
    sizes = [line[count] for line in lines if is_same(line["table"])] if count else None
    return version_of((line["table"] for line in lines), sizes)


async def client_loop(address: str, strangers: list[str], number: int, seen: Seen, ends: float) -> None:
    chosen, newest = random.Random(number), 0
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        while time.monotonic() < ends:
            try:
                kind, status, version = await ask(client, strangers, chosen)
            except httpx.HTTPError as error:
                seen.errors[repr(error)] += 1
                continue
            except TwoGenerations as error:
                seen.mixed.append(str(error))
                continue
            seen.answers[kind] += 1
            if status != 200:
                seen.errors[f"{kind}: {status}"] += 1
            if version is not None:
                seen.backwards += version < newest
                newest = max(newest, version)
                seen.versions.add(version)
            await asyncio.sleep(_PAUSE)


async def update_loop(lake: Path, index: Path, every: float, seen: Seen, ends: float) -> None:
    """A version of the lake each time, and the index brought up to date."""
    version = 0
    while time.monotonic() + every < ends:
        begun = time.monotonic()
        version += 1
        write_version(lake, version)
        await command("index", str(lake), "--to", str(index))
        seen.updates.append(time.monotonic() - begun)
        if version % _COMPACT_EVERY == 0:
            await command("compact", str(index))
            seen.compactions += 1
        await asyncio.sleep(max(0.0, begun + every - time.monotonic()))


async def command(*arguments: str) -> None:
    """Run a command of Dovetail; one that fails ends the benchmark."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(COMMAND, *arguments, stdout=pipe, stderr=pipe)
    _, complaint = await process.communicate()
    if process.returncode:
        raise SystemExit(
            f"dovetail {' '.join(arguments)} ended with {process.returncode}:\n{complaint.decode()[-3000:]}"
        )


async def watch_loop(server: psutil.Process, index: Path, seconds: float, seen: Seen, ends: float) -> None:
    begun = time.monotonic()
    while time.monotonic() < ends:
        files, mapped = 0, set()
        for process in processes(server):
            with contextlib.suppress(psutil.NoSuchProcess):  # it ended between two looks
                files += process.num_fds()
                mapped |= _removed_but_mapped(process.pid, index)
        seen.memory.append((time.monotonic() - begun, own_memory(server), files, len(mapped)))
        await asyncio.sleep(seconds / _SAMPLES)


def _removed_but_mapped(pid: int, index: Path) -> set[str]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return set()  # it ended between two looks
    return {line.split()[5] for line in lines if str(index) in line and line.endswith(" (deleted)")}


async def soak(lake: Path, index: Path, strangers: list[str], given: argparse.Namespace) -> Seen:
    seen, seconds = Seen(), 60 * given.minutes
    with serving(str(index)) as (address, server):
        ends = time.monotonic() + seconds
        await asyncio.gather(
            update_loop(lake, index, given.every, seen, ends),
            watch_loop(server, index, seconds, seen, ends),
            *(client_loop(address, strangers, number, seen, ends) for number in range(given.clients)),
        )
    return seen


def report(seen: Seen) -> dict[str, Any]:
    found: dict[str, Any] = {
        "answers": sum(seen.answers.values()), **seen.answers, "errors": dict(seen.errors),
        "answers from two generations": len(seen.mixed), "examples": seen.mixed[:3],
        "answers older than one before": seen.backwards, "versions seen": len(seen.versions),
        "updates": len(seen.updates), "seconds of an update": round(statistics.median(seen.updates), 1),
        "compactions": seen.compactions,
    }  # fmt: skip
    times, *curves = np.array(seen.memory).T
    quarter = len(times) // 4
    kinds = (("memory, MB", 1e6, 0), ("open files", 1, _FEW_FILES), ("removed files still mapped", 1, _FEW_FILES))
    for (name, unit, slack), curve in zip(kinds, curves, strict=True):
        second, last = np.median(curve[quarter : 2 * quarter]), np.median(curve[-quarter:])
        an_hour, error = slope(times[2 * quarter :] / 3600, curve[2 * quarter :] / unit)
        found[name] = {
            "second quarter": round(second / unit, 1), "last quarter": round(last / unit, 1),
            "an hour": round(an_hour, 1), "90 %": error and round(error, 1),
            "leak": bool(last > _LEAK * second + slack),
        }  # fmt: skip
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="120 for a long one")
    parser.add_argument("--every", type=float, default=60, help="seconds between two updates")
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--tables", type=int, default=1_000, help="other tables of the lake")
    given = parser.parse_args()
    if given.every * 60 > 3600 * given.minutes:
        parser.error("--every must leave time for an update")
    with tempfile.TemporaryDirectory() as work:
        lake, index = Path(work, "lake"), Path(work, "index")
        make_lake("web", lake, given.tables, seed=1, scale=1.0)
        strangers = [str(file.relative_to(lake)) for file in sorted(lake.rglob("*.csv"))]
        write_questions(lake)
        write_version(lake, 0)
        asyncio.run(command("index", str(lake), "--to", str(index)))
        found = report(asyncio.run(soak(lake, index, strangers, given)))
    print(json.dumps(found, indent=1, ensure_ascii=False))
    record(
        minutes=given.minutes,
        answers=found["answers"],
        updates=found["updates"],
        errors=sum(found["errors"].values()),
        mixed=found["answers from two generations"],
    )
    leaks = [name for name, value in found.items() if isinstance(value, dict) and value.get("leak")]
    wrong = [*found["errors"], *(["two generations"] if found["answers from two generations"] else []), *leaks]
    print(f"In {given.minutes:g} minutes: {', '.join(wrong) or 'no error, no leak, no answer of two generations'}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
