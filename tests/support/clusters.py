"""A standalone Spark cluster on this machine, whose workers may be as different as machines are."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

from dovetail._spark.java import java_home
from support.contents import Contents
from support.processes import wait_until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


SPARK = Path(pyspark.__file__).parent
# Python runs it before a worker: what lies under a folder is not there, as on a machine that has not mounted it.
HIDING = """
import io, os

HIDDEN = tuple(os.environ["HIDDEN"].split(os.pathsep))

def hiding(real):
    def look(path, *given, **named):
        if isinstance(path, (str, os.PathLike)) and str(path).startswith(HIDDEN):
            raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
        return real(path, *given, **named)
    return look

os.stat, io.open = hiding(os.stat), hiding(io.open)
"""


def environment(**more: str) -> dict[str, str]:
    return os.environ | {
        "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable, **more,
    }  # fmt: skip


@dataclass(frozen=True)
class Cluster:
    """Its address, and the processes of its workers."""

    address: str
    workers: list[subprocess.Popen[bytes]]

    def kill(self, number: int) -> None:
        """End a worker at once, with its executors and their Python: as if its machine had failed."""
        process = psutil.Process(self.workers[number].pid)
        for each in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


@contextlib.contextmanager
def cluster(folder: Path, *workers: dict[str, str]) -> Iterator[str]:
    """The address of a cluster on this machine; a worker of one core for each of these environments."""
    with running_cluster(folder, *workers) as made:
        yield made.address


@contextlib.contextmanager
def running_cluster(folder: Path, *workers: dict[str, str]) -> Iterator[Cluster]:
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []
    log = (folder / "cluster.log").open("wb")

    def start(variables: dict[str, str], *arguments: object) -> None:
        call = [str(SPARK / "bin" / "spark-class"), *map(str, arguments)]
        started.append(subprocess.Popen(call, env=variables, stdout=log, stderr=log))

    try:
        master = "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", 0
        start(environment(), *master)
        wait_until(lambda: answers(port), patience=60)
        for number, variables in enumerate(workers):
            start(
                environment(**variables), "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", 1,
                "--memory", "1g", "--webui-port", 0, "--work-dir", folder / f"work{number}", address,
            )  # fmt: skip
        yield Cluster(address, started[1:])
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=30)
        log.close()


def in_its_own_folder(folder: Path, others: list[Path], variables: dict[str, str]) -> dict[str, str]:
    """The environment of a machine that has a disk of its own, sees no other, and reaches the object store."""
    folder.mkdir()
    hiding = folder / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(HIDING)
    paths = os.pathsep.join([str(hiding), os.environ.get("PYTHONPATH", "")])
    own = {"TMPDIR": str(folder), "DOVETAIL_CACHE": str(folder / "cache"), "PYTHONPATH": paths}
    return {**variables, **own, "HIDDEN": os.pathsep.join(map(str, others))}


def alike(contents: Contents) -> dict[str, object]:
    """Without fingerprints: a file's has its time, an object's has its tag."""
    own = {"fingerprint": ""}
    return {name: {**found, "table": {**vars(found["table"]), **own}} for name, found in contents.items()}
