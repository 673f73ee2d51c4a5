"""What can go wrong, and by which mechanism.

kill       SIGKILL at a random moment of the command
full       a small tmpfs with a random number of bytes left, with the temporary folder on it or not; where mounting is
           not permitted, RLIMIT_FSIZE
read_only  a tmpfs that is mounted again read-only; where mounting is not permitted, no permission to write
slow       shim.c, preloaded: every open, read, write, sync, link and rename of a file waits for up to 20 ms
flip       one random byte of one random file of the index is another one
truncate   the newest manifest ends after a random number of its bytes
clock      shim.c, preloaded: the clock of the day jumps by up to ten years, forth or back, at a random look at it
worker     one task ends with its worker, before or after its work: tests/support/pipeline.py, in the place of Spark.
           With Spark, tests/faults/test_faults.py kills a worker of a laptop, tests/integration/test_cluster_faults.py
           a host of a cluster
store      the index is in an object store (objects.py) that answers some requests with 500 or 503, whether they were
           carried out or not, or late, beyond the patience of the client. The client is obstore as always, but gives
           up after 2 s instead of 3 minutes
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import random
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from objects import BUCKET, Trouble, listening, serve
from process import fork
from setting import WRITERS, Setting

from dovetail import _objects
from dovetail.pipeline import tasks
from support.pipeline import WorkerDied

YEARS = 10 * 365 * 86_400
DISK_MICROSECONDS = (100, 20_000)
ROOM = 150_000  # bytes that are left at most: about what `index` needs in all
PATIENCE = datetime.timedelta(seconds=2)


def nothing() -> None:
    """A fault that needs nothing done."""


@dataclass
class Scene:
    """An index that a command is to meet a fault on."""

    index: str
    """Its address."""
    disturb: Callable[[], None] = nothing
    """In the process of the command, before it."""
    reach: Callable[[], None] = nothing
    """In every process that opens the index."""
    mend: Callable[[], None] = nothing
    """In this process, after the command: the fault passes."""
    kill_after: float | None = None
    """Seconds."""
    damaged: str = ""
    """The file whose bytes are not those that were written."""
    about: str = ""
    """What the chance has chosen."""


Fault = Callable[[Setting, str, Path, random.Random], contextlib.AbstractContextManager[Scene]]


@contextlib.contextmanager
def kill(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    moment = chance.uniform(0, 1.2 * setting.seconds[verb])
    yield Scene(copied(setting, folder), kill_after=moment, about=f"after {moment:.3f} s")


@contextlib.contextmanager
def full(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    room = round(chance.uniform(0, ROOM if verb in WRITERS else 5000))
    with contextlib.ExitStack() as mounts:
        disk = mounts.enter_context(mounted(folder / "disk")) if may_mount() else None
        if disk is None:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))  # noqa: E731
            yield Scene(copied(setting, folder), limit, about=f"no file above {room} bytes")
            return
        index = copied(setting, disk)
        (disk / "temporary").mkdir()
        here = chance.random() < 0.5
        with (disk / "filler").open("wb") as filler, contextlib.suppress(OSError):
            filler.write(bytes(max(0, shutil.disk_usage(disk).free - room)))

        def disturb() -> None:
            if here:
                tempfile.tempdir = str(disk / "temporary")

        yield Scene(index, disturb, mend=(disk / "filler").unlink, about=f"{room} bytes left, temporary {here}")


@contextlib.contextmanager
def read_only(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    if not may_mount():
        index = copied(setting, folder)
        permit(Path(index), 0o555)
        yield Scene(index, mend=lambda: permit(Path(index), 0o755))
        return
    with mounted(folder / "disk") as disk:
        index = copied(setting, disk)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        yield Scene(index, mend=lambda: subprocess.run(["mount", "-o", "remount,rw", disk], check=True) and None)


def permit(folder: Path, mode: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode)


@contextlib.contextmanager
def slow(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    delay = chance.randint(*DISK_MICROSECONDS)
    set_delay = lambda: os.environ.update(FAULT_DISK_MICROSECONDS=str(delay))  # noqa: E731
    yield Scene(copied(setting, folder), set_delay, about=f"{delay} µs")


@contextlib.contextmanager
def clock(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    seconds = chance.choice((-1, 1)) * round(YEARS ** chance.random())
    calls = chance.choice((0, chance.randrange(30)))

    def disturb() -> None:
        os.environ.update(FAULT_CLOCK_SECONDS=str(seconds), FAULT_CLOCK_CALLS=str(calls))

    yield Scene(copied(setting, folder), disturb, about=f"{seconds} s at look {calls}")


@contextlib.contextmanager
def flip(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    index = Path(copied(setting, folder))
    files = [path for path in index.rglob("*") if path.is_file() and path.stat().st_size]
    path = chance.choice(sorted(files, key=lambda path: (path.name, path.stat().st_size)))  # ids of segments differ
    data = bytearray(path.read_bytes())
    place, mask = chance.randrange(len(data)), chance.randrange(1, 256)
    data[place] ^= mask
    path.write_bytes(data)
    name = path.relative_to(index).as_posix()
    yield Scene(str(index), damaged=name, about=f"{'/'.join(name.split('/')[2:]) or name}, byte {place} ^ {mask}")


@contextlib.contextmanager
def truncate(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    index = Path(copied(setting, folder))
    path = max(index.glob("manifest-*.json"), key=lambda path: int(path.stem.split("-")[1]))
    length = chance.randrange(path.stat().st_size)
    os.truncate(path, length)
    yield Scene(str(index), damaged=path.name, about=f"{length} bytes")


@contextlib.contextmanager
def worker(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    number, late = chance.randrange(4), chance.random() < 0.5

    def disturb() -> None:
        attempt, seen = tasks.attempt, iter(range(1_000_000))

        def dying(work: Callable[[Any], Any], task: Any) -> Any:
            dies = next(seen) == number
            answer = None if dies and not late else attempt(work, task)
            if dies:
                raise WorkerDied("SIGKILL")
            return answer

        tasks.attempt = dying

    yield Scene(copied(setting, folder), disturb, about=f"task {number}, {'after' if late else 'before'} its work")


@contextlib.contextmanager
def store(setting: Setting, verb: str, folder: Path, chance: random.Random) -> Iterator[Scene]:
    status, share = chance.choice((500, 503, 0)), chance.choice((0.02, 0.1, 0.3, 1.0))
    late = chance.choice((0.05, 0.3, 3.0)) if status == 0 else 0.0
    bucket = folder / "bucket"
    copied(setting, bucket)
    (folder / "server").mkdir()
    trouble = Trouble(status, share, late, chance.randrange(10**9))
    with listening() as listener:
        port = listener.getsockname()[1]
        servers = [fork(lambda: serve(listener, bucket, trouble), folder / "server")]

        def reach() -> None:
            os.environ.update(
                AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}", AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret",
                AWS_REGION="us-east-1", DOVETAIL_CACHE=str(folder / "cache"),
            )  # fmt: skip
            _objects.client = impatient  # type: ignore[assignment]

        def mend() -> None:
            servers[-1].send(9)
            servers[-1].wait()
            servers.append(fork(lambda: serve(listener, bucket, Trouble()), folder / "server"))

        about = f"{status or f'{late} s late'}, {share:.0%} of the requests"
        try:
            yield Scene(f"s3://{BUCKET}/index", reach=reach, mend=mend, about=about)
        finally:
            servers[-1].send(9)
            servers[-1].wait()


def impatient(scheme: str, bucket: str) -> Any:
    """The client of a bucket, with less patience."""
    import obstore.store

    backoff = {"init_backoff": datetime.timedelta(milliseconds=5), "max_backoff": datetime.timedelta(milliseconds=50)}
    return obstore.store.from_url(
        f"{scheme}://{bucket}",
        client_options={"allow_http": True, "timeout": datetime.timedelta(seconds=1)},
        retry_config={"max_retries": 6, "backoff": {**backoff, "base": 2}, "retry_timeout": PATIENCE},
    )


FAULTS: dict[str, Fault] = {
    "kill": kill, "full": full, "read_only": read_only, "slow": slow, "flip": flip, "truncate": truncate,
    "clock": clock, "worker": worker, "store": store,
}  # fmt: skip
SHIMMED = ("slow", "clock")


def meet(fault: str, verb: str) -> bool:
    """Whether a command can meet a fault: only those that write have tasks."""
    return fault != "worker" or verb in WRITERS


def copied(setting: Setting, folder: Path) -> str:
    shutil.copytree(setting.index, folder / "index")
    return str(folder / "index")


@functools.cache
def may_mount() -> bool:
    """Whether this process may mount file systems."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
        if tried.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return tried.returncode == 0


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
