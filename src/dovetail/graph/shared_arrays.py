"""Arrays that the driver and the workers of one question share: a folder beside the index, removed with the answer.

A question needs no writer's lock: its generation is held, and its folder is its own. One that was killed leaves its
folder behind, which the next question removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from dovetail._storage.directory import QUESTIONS
from dovetail._storage.store import Address, LocalStore, Store, open_store
from dovetail._types import Array
from dovetail.errors import InputError

_LOCK = "lock"


@contextlib.contextmanager
def shared_folder(index: Address) -> Iterator[Store]:
    """A new folder in that of the index, which every worker sees."""
    store = open_store(index).sub(f"{QUESTIONS}/{secrets.token_hex(8)}")
    with _local_folder(store) if isinstance(store, LocalStore) else contextlib.nullcontext():
        try:
            yield store
        finally:
            if not store.is_local:
                store.delete([entry.name for entry in store.entries()])


@contextlib.contextmanager
def _local_folder(store: LocalStore) -> Iterator[None]:
    """Make the folder, and hold a lock on it: what is not locked was left behind."""
    folder = store.path
    try:
        folder.mkdir(parents=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(
            f"Cannot write to {folder.parent.parent}, where Spark's workers exchange what they find: {error.strerror}."
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _clean(folder.parent)
        yield
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another question is being answered
            folder.parent.rmdir()


def put_arrays(folder: Store, name: str, arrays: Mapping[str, Array]) -> None:
    """Wholly or not at all; a task that is tried again writes the same."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    folder.put(name, content.getvalue())


def get_arrays(folder: Store, name: str) -> dict[str, Array]:
    with np.load(io.BytesIO(folder.read(name)), allow_pickle=False) as found:
        return dict(found)


def _clean(folder: Path) -> None:
    """Remove what questions have left behind whose processes have ended."""
    for lock in folder.glob(f"*/{_LOCK}"):
        with contextlib.suppress(OSError):  # ended or cleaned meanwhile
            descriptor = os.open(lock, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            except BlockingIOError:
                continue
            finally:
                os.close(descriptor)
