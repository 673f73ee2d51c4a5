"""Commands that are interrupted at random moments must end at once, in one line.

    PYTHONPATH=tests python tests/support/interrupts.py --seconds 20 --times 30 -- keys INDEX

is a longer trial than the tests make.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from support.processes import start

WITHIN = 1.0
"""Seconds in which an interrupted command ends; the tests allow for a busy machine on top."""


@dataclass(frozen=True)
class Ending:
    """How an interrupted command ended."""

    code: int
    error: str
    seconds: float

    def is_clean(self, within: float = WITHIN) -> bool:
        return (self.code, self.error) == (130, "Stopped.\n") and self.seconds < within


def interrupt(moment: float, *arguments: object, env: Mapping[str, str] = os.environ) -> Ending | None:
    """Interrupt a command some seconds after its start; None if it had ended by itself."""
    process = start(*arguments, env=env)
    try:
        process.communicate(timeout=moment)
        return None
    except subprocess.TimeoutExpired:
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        return Ending(process.returncode, error, time.monotonic() - begun)


def report(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="least", type=float, default=0.3, help="seconds before the first interrupt")
    parser.add_argument("--seconds", type=float, default=20.0, help="the latest moment")
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    endings = []
    for _ in range(options.times):
        moment = options.least * (options.seconds / options.least) ** chance.random()
        ending = interrupt(moment, *options.command)
        endings.append(ending)
        if ending and not ending.is_clean():
            report(f"after {moment:.2f} s: code {ending.code}, {ending.seconds:.2f} s\n{ending.error}")
    seconds = [ending.seconds for ending in endings if ending]
    clean = sum(ending.is_clean() for ending in endings if ending)
    report(f"{clean} of {len(seconds)} clean, at most {max(seconds, default=0):.2f} s: {' '.join(options.command)}")
    return 0 if clean == len(seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
