"""The two sides of the comparison, each run in a process of its own and measured alike."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory import Usage, run_measured

_PEER = Path(__file__).with_name("peer.py")
_OWN = Path(sys.executable).with_name("dovetail")

COMMAND = str(_OWN) if _OWN.exists() else shutil.which("dovetail") or "dovetail"
"""The command of this environment, else the one on the path."""


@dataclass(frozen=True)
class Build:
    """One run of `dovetail index`."""

    report: dict[str, Any]
    usage: Usage
    index_bytes: int

    @property
    def seconds(self) -> float:
        """Of the whole command, from its start to its end."""
        return self.usage.seconds

    @property
    def own_seconds(self) -> float:
        """Without the start of Spark."""
        return self.usage.seconds - float(self.report["spark_start_seconds"])


@dataclass(frozen=True)
class Peer:
    """One run of the peer; `seconds` are those of reading alone."""

    outcome: dict[str, Any]
    usage: Usage

    @property
    def seconds(self) -> float:
        return float(self.outcome["seconds"])


def index(command: str, lake: Path, to: Path, options: tuple[str, ...] = ()) -> Build:
    output, usage = run_measured([command, "index", str(lake), "--to", str(to), "--json", *options])
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
    return Build(json.loads(output), usage, size)


def read_by_peer(lake: Path, all_varchar: bool) -> Peer:
    options = ["--all-varchar"] if all_varchar else []
    output, usage = run_measured([sys.executable, str(_PEER), str(lake), "--json", *options])
    return Peer(json.loads(output)[0], usage)


def add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lake", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dovetail", default=COMMAND, metavar="PATH", help="the command to measure (%(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the index")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where to put indexes and lakes made of the lake")
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write the report here")


def settings_options(settings: list[str]) -> tuple[str, ...]:
    return tuple(part for setting in settings for part in ("--set", setting))
