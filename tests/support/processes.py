"""The command `dovetail` in processes of its own, which can be watched and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

DOVETAIL = Path(sys.executable).with_name("dovetail")
PATIENCE = 120.0


def dovetail(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    command = [str(DOVETAIL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **{"timeout": PATIENCE, **options})


def start(*arguments: object, env: Mapping[str, str] = os.environ) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, which listens to interrupts as one in a terminal does.

    Where the tests run in the background, the shell has told them, and with them their children, to ignore interrupts.
    """
    return subprocess.Popen(
        [str(DOVETAIL), *map(str, arguments)],
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Poll until the condition holds; its value. Fails when patience ends."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("what was waited for did not happen")


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that a running command has started: Java, and Spark's workers."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def workers(process: subprocess.Popen[str]) -> Iterator[psutil.Process]:
    """Spark's Python workers: the children of its daemon."""
    for child in family(process):
        try:
            parent = child.parent()
            if parent is not None and "pyspark.daemon" in child.cmdline() and "pyspark.daemon" in parent.cmdline():
                yield child
        except psutil.NoSuchProcess:
            continue


def assert_one_sentence(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The command failed with this exit code and said why without a traceback; returns what it said."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line.strip() and "to read; the index will need" not in line]
    assert said, "a failure says why"
    return " ".join(said)
