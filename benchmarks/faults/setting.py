"""What every round starts with: a small generated lake, an index of what it was before, and what is right.

The index has several segments and a table that has gone, so that `compact` has work to do; since then, tables of the
lake were added, changed and removed, so that `index` has some, too.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import shutil
import signal
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from process import Forked, command, forked

from support.contents import contents_of

COMMANDS = ("index", "compact", "search", "join", "serve", "inds")
WRITERS = ("index", "compact")
QUESTIONS = ("/search.json?table=orders.csv&k=3", "/tables/people.csv.json", "/search.json?table=cities.csv")
_VARYING = {"seconds", "generation", "when", "id", "result", "elapsed"}
START = 40.0
"""Seconds that a server has to start in."""
Digests = dict[str, str]


@dataclass
class Setting:
    """The lake, the index and the right answers."""

    folder: Path
    before: Digests = field(default_factory=dict)
    """What the index holds of each table."""
    after: Digests = field(default_factory=dict)
    """What an undisturbed build holds of each table of the lake as it is now."""
    answers: dict[str, Any] = field(default_factory=dict)
    """What undisturbed commands print."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long they take."""

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def arguments(self, verb: str, index: str) -> tuple[object, ...]:
        """The command line of a verb on an index."""
        return {
            "index": ("index", self.lake, "--to", index),
            "compact": ("compact", index),
            "search": ("search", "--index", index, self.folder / "query.csv", "--json"),
            "join": ("join", "--index", index, "orders.csv", "people.csv", "--csv"),
            "inds": ("inds", index, "--json"),
            "serve": ("serve", index, "--port", "0", "--workers", "0"),
        }[verb]


def prepare(folder: Path, seed: int, without: str | None = None) -> Setting:
    """Build the lake and the index, and ask every question undisturbed: this process is warm then."""
    shutil.rmtree(folder, ignore_errors=True)
    setting = Setting(folder)
    setting.lake.mkdir(parents=True)
    chance = random.Random(seed)
    people = [f"P{number:03d}" for number in range(60)]
    write(
        setting.lake / "people.csv", "person,name,city", [(p, f"name {p}", f"C{chance.randrange(20)}") for p in people]
    )
    write(folder / "query.csv", "person,paid", [(p, chance.randrange(99)) for p in people[:40]])
    more = {"orders": 90, "cities": 20, "gone": 15, "t0": 30, "t1": 30, "t2": 50, "t3": 50, "dropped": 10}
    for part in (("orders", "cities", "gone"), ("t0", "t1", "dropped"), ("t2", "t3")):
        for name in part:
            write_some(setting.lake / f"{name}.csv", chance, people, more[name])
        update(setting)
    (setting.lake / "gone.csv").unlink()
    update(setting)
    setting.before = digests(setting.index)

    (setting.lake / "dropped.csv").unlink()
    for name in ("t1", "t3", "new0", "new1", "new2"):
        write_some(setting.lake / f"{name}.csv", chance, people, 40)
    fresh = folder / "fresh"
    assert command("index", setting.lake, "--to", fresh) == 0
    setting.after = digests(fresh)
    ask_undisturbed(setting, [verb for verb in COMMANDS if verb != without])
    return setting


def ask_undisturbed(setting: Setting, verbs: list[str]) -> None:
    if "serve" in verbs:  # a forked server need not import them
        importlib.import_module("dovetail.serve.server")
        importlib.import_module("dovetail.serve.pages")
    work = setting.folder / "undisturbed"
    for verb in verbs:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(setting.index, work / "index")
        arguments = setting.arguments(verb, str(work / "index"))
        if verb != "serve":  # so that this process is warm
            shutil.copytree(setting.index, work / "warm")
            assert command(*setting.arguments(verb, str(work / "warm"))) == 0
        with forked(lambda arguments=arguments: command(*arguments), work) as process:
            answer = asked(process) if verb == "serve" else None
            ending = process.ending()
        assert ending.code == (-signal.SIGTERM if verb == "serve" else 0), ending
        setting.seconds[verb] = ending.seconds
        setting.answers[verb] = answer if verb == "serve" else plain(ending.out, str(work / "index"))


def asked(process: Forked) -> list[tuple[int, Any]]:
    """What a server answers, status and body, until it ends by itself or has answered all; it is stopped then."""
    while process.is_running() and "Dovetail at " not in process.out.read_text():
        if time.monotonic() - process.begun > START:
            break
        time.sleep(0.005)
    address = process.out.read_text().partition("Dovetail at ")[2].strip()
    answers = []
    for question in QUESTIONS if address else ():
        try:
            with urllib.request.urlopen(address + question, timeout=30) as reply:
                answers.append((reply.status, plain(reply.read().decode(), "")))
        except urllib.error.HTTPError as error:
            answers.append((error.code, error.read().decode()))
        except OSError:
            answers.append((0, ""))
    process.send(signal.SIGTERM)
    return answers


def plain(text: str, index: str) -> Any:
    """An answer without what differs from run to run."""
    text = text.replace(index, "INDEX") if index else text
    try:
        return _without_varying(json.loads(text))
    except json.JSONDecodeError:
        return text


def _without_varying(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_varying(item) for name, item in value.items() if name not in _VARYING}
    return [_without_varying(item) for item in value] if isinstance(value, list) else value


def digests(index: str | Path) -> Digests:
    """What an index holds of each table, in short."""
    found = {}
    for name, held in contents_of(index).items():
        sets = [sorted(tokens.items()) for tokens in held["sets"]]  # their order is that of the segment
        found[name] = hashlib.sha1(repr({**held, "sets": sets}).encode()).hexdigest()[:16]
    return found


def update(setting: Setting) -> None:
    assert command("index", setting.lake, "--to", setting.index, "--set", "merge_factor=1000", "--allow-drop") == 0


def write(path: Path, header: str, rows: list[tuple[object, ...]]) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def write_some(path: Path, chance: random.Random, people: list[str], rows: int) -> None:
    """A table that refers to people and cities."""
    if path.stem == "cities":
        write(path, "city,country", [(f"C{number}", f"country {number % 4}") for number in range(rows)])
        return
    found = [
        (f"{path.stem}-{i}", chance.choice(people), f"C{chance.randrange(20)}", chance.random()) for i in range(rows)
    ]
    write(path, f"{path.stem}_id,person,city,amount", found)
