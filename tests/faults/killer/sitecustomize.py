"""Put first on the path of a process, this kills it as soon as it opens a file of the name in KILLER_FILE."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

_NAME = os.environ.get("KILLER_FILE", "")


def _kill(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and str(arguments[0]).endswith(f"/{_NAME}"):
        os.kill(os.getpid(), signal.SIGKILL)


if _NAME:
    sys.addaudithook(_kill)
