"""Proof that workers see what the driver sees, and run the same code.

A worker that does not have the lake under the same path would find no table of it; one with another version might
write other bytes. So one short job asks every slot for its versions before anything is done, and every task looks at a
few *witnesses* before it works: files of the lake, and one that the driver has just written beside the index.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dovetail._objects import Objects, is_remote, split_address
from dovetail._spark.engine import SparkEngine, reason_of, spark_errors
from dovetail._storage.store import Address, open_store
from dovetail.errors import BuildFailed
from dovetail.lake.listing import Root, TableFile
from dovetail.lake.source import first_file

_FILES_A_ROOT = 3  # the first, the middle and the last to be read: folders inside a lake may be mounted, too
_HEAD_BYTES = 4096
_SAME_PATHS = (
    "Every worker needs the lake and the index under the same paths as the driver, and its own credentials for object "
    "stores."
)


@dataclass(frozen=True)
class Witness:
    """A file that every worker must see as the driver does, for the sake of `folder`."""

    folder: str
    path: str
    contents: str  # its length, and a digest of its first bytes or, of an object, its tag


def witness(path: str | Path, folder: str | Path | None = None) -> Witness:
    return Witness(str(folder or path), str(path), _contents(str(path)))


def witnesses_of_lake(roots: Iterable[Root], files: Sequence[TableFile]) -> list[Witness]:
    """A few of the files that are to be read, of each root."""
    found = []
    for root in roots:
        inside = [file for file in files if not file.refused and file.path.startswith(f"{root.path}/")]
        for place in sorted({0, len(inside) // 2, len(inside) - 1})[-_FILES_A_ROOT:] if inside else []:
            path = first_file(inside[place].path)
            if is_remote(path) or os.access(path, os.R_OK):  # else its record will say so
                found.append(witness(path, root.path))
    return found


def witness_of_store(staging: Address) -> Witness:
    """A new file in the place where builds set things aside."""
    store = open_store(staging)
    store.put("witness", secrets.token_hex(16).encode())
    return witness(f"{store.absolute}/witness", store.absolute)


def first_unseen(witnesses: Iterable[Witness]) -> str:
    """Inside a worker: the path of the first witness that is not as the driver sees it; empty if all are."""
    for expected in witnesses:
        try:
            contents = _contents(expected.path)
        except OSError:
            contents = ""
        if contents != expected.contents:
            return expected.path
    return ""


def require_unchanged(witnesses: list[Witness], path: str, host: str) -> None:
    """A worker does not see this witness. Raises, unless the file has changed: then it is no witness any more."""
    lost = next(found for found in witnesses if found.path == path)
    if first_unseen([lost]):
        witnesses.remove(lost)
        return
    raise BuildFailed(f"The worker {host} does not see {lost.folder} as the driver does: {path} differs. {_SAME_PATHS}")


def unseen_table(path: str, host: str) -> BuildFailed:
    return BuildFailed(f"The worker {host} does not see {path}, which the driver does. {_SAME_PATHS}")


def check_workers(engine: SparkEngine, witnesses: list[Witness]) -> int:
    """How many tasks run at the same time. Raises where a worker has other versions, or does not see a witness.

    Workers that we have started on this machine are not asked: they would answer as the driver, some seconds later.
    """
    if engine.here:
        return int(engine.session.sparkContext.defaultParallelism)
    look = _look([vars(found) for found in witnesses])
    expected = json.loads(look())
    try:
        with engine.job("check that workers see the lake and the index"):
            answers = [json.loads(answer) for answer in engine.on_each_slot(look)]
    except spark_errors() as error:
        raise BuildFailed(f"Spark's workers cannot run Dovetail. {reason_of(error)}") from error
    for answer in answers:
        for package, version in expected["versions"].items():
            found = answer["versions"].get(package)
            if found != version:
                has = f"has {package} {found}" if found else f"lacks the package {package}"
                mend = "" if found else " Install it on every worker, or ship it with --archives."
                raise BuildFailed(f"The worker {answer['host']} {has}; the driver has {version}.{mend}")
    for answer in answers:
        if answer["unseen"] in {found.path for found in witnesses}:
            require_unchanged(witnesses, answer["unseen"], answer["host"])
    return len(answers)


def _look(witnesses: list[dict[str, str]]) -> Callable[[], str]:
    """A function for workers: it must not need our package before it has looked for it."""

    def look() -> str:
        import importlib
        import json
        import socket
        import sys
        from importlib.metadata import PackageNotFoundError, version

        versions = {"Python": ".".join(map(str, sys.version_info[:2]))}
        for package in ("numpy", "numba", "pyarrow"):
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                continue
        about = {"host": socket.gethostname(), "versions": versions, "unseen": ""}
        try:
            versions["dovetail-lake"] = importlib.import_module("dovetail").__version__
        except ImportError:
            return json.dumps(about)
        if len(versions) == 5:  # else our modules cannot be imported
            from dovetail.pipeline.probe import Witness, first_unseen

            about["unseen"] = first_unseen(Witness(**found) for found in witnesses)
        return json.dumps(about)

    return look


def host() -> str:
    return socket.gethostname()


def _contents(path: str) -> str:
    if is_remote(path):
        folder, name = split_address(path)
        found = Objects(folder).head(name)
        return f"{found.bytes}-{found.tag}"
    with Path(path).open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
        length = stream.seek(0, os.SEEK_END)
    return f"{length}-{hashlib.sha256(head).hexdigest()}"
