"""Where an index is kept: a folder of this machine, or an object store. Nothing else knows where its bytes are.

Names have slashes, as `segments/<id>/tokens.dvt`. What is put is there as a whole or not at all. The one promise that
generations rest on is `put_if_absent`: of several writers of one name, one wins.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from dovetail._objects import Objects, StoredObject, is_remote
from dovetail._storage.cache import FileCache
from dovetail._storage.sealed import create_whole, replace_whole, sync_folder
from dovetail.errors import InputError, WriterConflict

Change = Callable[[bytes | None], bytes | None]

# A file system without locks, as some network ones are.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
_LOCK = "writer.lock"
_TRANSFERS = 16  # files at the same time; arbitrary, more than a disk and a network card need
_ATTEMPTS = 20  # to change an object that others change too; arbitrary, each takes a moment


class Store(Protocol):
    """Names with bytes."""

    address: str
    """As it was given."""
    absolute: str
    """As other processes find it."""
    keep_hours: float
    """For how long an old generation is kept, where nobody says."""
    is_local: bool

    def sub(self, folder: str) -> Store:
        """A folder of the store as a store of its own."""
        ...

    def entries(self, folder: str = "", deep: bool = True) -> Iterator[StoredObject]:
        """What is in a folder, at any depth if `deep`. Names are those of the store. Nothing if there is no folder."""
        ...

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """The bytes of a name, or some of them; FileNotFoundError."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Give a name these bytes, whether it exists or not. They may be lost when the machine fails."""
        ...

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a name with these bytes, durably; FileExistsError where it exists."""
        ...

    def change(self, name: str, change: Change) -> None:
        """Give a name the bytes that `change` makes of its own (None: absent; None back: leave it), one at a time."""
        ...

    def copy(self, name: str, to: str) -> None:
        """Give the bytes of a name a second one, where they lie; both never change."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Remove names, whether they exist or not."""
        ...

    def local_file(self, name: str, is_whole: Callable[[Path], bool]) -> Path:
        """A file of this machine with the bytes of a name that never changes; checked when it is fetched."""
        ...

    def fetch(self, names: Sequence[str], into: Path) -> list[Path]:
        """Files of this machine with the bytes of these names; what has to be fetched is put into a folder, by name."""
        ...

    def publish(self, folder: str) -> contextlib.AbstractContextManager[Path]:
        """A folder of this machine. What is in it when the context ends normally is in that folder of the store."""
        ...

    def scratch(self, folder: str) -> Path:
        """A folder of this machine for what need not last, where there is as much room as the index has."""
        ...

    def hold(self, name: str) -> object:
        """While the answer lives, no writer removes this name; FileNotFoundError."""
        ...

    def delete_unless_held(self, name: str) -> bool:
        """Remove a name that nobody holds; whether it was removed."""
        ...

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """While the context is open, no other writer is at work, as far as that can be known."""
        ...


class LocalStore:
    """A folder. Locks, which end with their processes, keep out other writers, and what is read from being removed."""

    is_local = True
    keep_hours = 0.0  # readers hold what they read

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # workers may have another working folder
        self.address, self.absolute = str(path), str(self.path)

    def sub(self, folder: str) -> Store:
        return LocalStore(self.path / folder)

    def entries(self, folder: str = "", deep: bool = True) -> Iterator[StoredObject]:
        for place, folders, names in os.walk(self.path / folder):
            if not deep:
                folders.clear()
            for name in names:
                file = Path(place, name)
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    status = file.stat()
                    yield StoredObject(file.relative_to(self.path).as_posix(), status.st_size, status.st_mtime, "")

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        with (self.path / name).open("rb") as file:
            file.seek(start)
            return file.read(-1 if length is None else length)

    def put(self, name: str, data: bytes) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.write_bytes(data)
        draft.replace(path)

    def put_if_absent(self, name: str, data: bytes) -> None:
        create_whole(self.path / name, data)

    def change(self, name: str, change: Change) -> None:
        path = self.path / name
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for draft in path.parent.glob(f"{path.name}.*"):  # of a process that was killed
                draft.unlink()
            after = change(path.read_bytes() if path.exists() else None)
            if after is not None:
                replace_whole(path, after)
        finally:
            os.close(lock)

    def copy(self, name: str, to: str) -> None:
        path = self.path / to
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(self.path / name)
        sync_folder(path.parent)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            path = self.path / name
            # A worker of a killed run may still be writing into a folder: the next writer removes the rest.
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def local_file(self, name: str, is_whole: Callable[[Path], bool]) -> Path:
        return self.path / name

    def fetch(self, names: Sequence[str], into: Path) -> list[Path]:
        return [self.path / name for name in names]

    @contextlib.contextmanager
    def publish(self, folder: str) -> Iterator[Path]:
        yield self.path / folder

    def scratch(self, folder: str) -> Path:
        return self.path / folder

    def hold(self, name: str) -> object:
        return _Hold(self.path / name)

    def delete_unless_held(self, name: str) -> bool:
        descriptor = os.open(self.path / name, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (self.path / name).unlink()
            return True
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WriterConflict(
                    f"Another process is writing to {self.address}. Wait until it has finished, then run the command "
                    "again."
                ) from None
            yield
        finally:
            os.close(lock)


class ObjectStore:
    """An address of an object store. `put_if_absent` alone decides between writers. Readers hold nothing: old
    generations are kept for a time instead."""

    is_local = False
    keep_hours = 24.0  # longer than a session at a notebook, short beside what storing it costs

    def __init__(self, address: str, cache: FileCache | None = None) -> None:
        self._objects = Objects(address)
        self.address = self.absolute = self._objects.address
        self._cache = cache or FileCache.of_user()

    def sub(self, folder: str) -> Store:
        return ObjectStore(f"{self.address}/{folder}", self._cache)

    def entries(self, folder: str = "", deep: bool = True) -> Iterator[StoredObject]:
        return self._objects.entries(folder, deep)

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        return self._objects.read(name, start, length)

    def put(self, name: str, data: bytes) -> None:
        self._objects.put(name, data)

    def put_if_absent(self, name: str, data: bytes) -> None:
        self._objects.put_if_absent(name, data)

    def change(self, name: str, change: Change) -> None:
        for _ in range(_ATTEMPTS):
            try:
                found: StoredObject | None = self._objects.head(name)
                before: bytes | None = self._objects.read(name)
            except FileNotFoundError:
                found = before = None
            after = change(before)
            if after is None:
                return None
            with contextlib.suppress(FileExistsError):  # another was faster: what it wrote is changed then
                if found is None:
                    return self._objects.put_if_absent(name, after)
                return self._objects.put_if_same(name, after, found.tag)
        raise WriterConflict(f"Others keep changing {self.address}/{name}. Run the command again.")

    def copy(self, name: str, to: str) -> None:
        self._objects.copy(name, to)

    def delete(self, names: Iterable[str]) -> None:
        self._objects.delete(names)

    def local_file(self, name: str, is_whole: Callable[[Path], bool]) -> Path:
        try:
            return self._cache.file(f"{self.address}/{name}", functools.partial(self._objects.download, name), is_whole)
        except FileNotFoundError:
            raise
        except OSError as error:  # the library has tried again for some minutes
            raise InputError(f"Cannot fetch {self.address}/{name}: {error.strerror}.") from error

    def fetch(self, names: Sequence[str], into: Path) -> list[Path]:
        paths = [into / name for name in names]
        for folder in {path.parent for path in paths}:
            folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(_TRANSFERS) as threads:
            list(threads.map(self._objects.download, names, paths))
        return paths

    @contextlib.contextmanager
    def publish(self, folder: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="dovetail-") as made:
            yield Path(made)
            files = [path for path in Path(made).rglob("*") if path.is_file()]
            names = [f"{folder}/{path.relative_to(made).as_posix()}" for path in files]
            with ThreadPoolExecutor(_TRANSFERS) as threads:
                list(threads.map(self._objects.put, names, files))

    def scratch(self, folder: str) -> Path:
        return Path(tempfile.gettempdir())

    def hold(self, name: str) -> object:
        return None

    def delete_unless_held(self, name: str) -> bool:
        self.delete([name])
        return True

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        yield


class _Hold:
    """A shared lock on a manifest: while it lives, no writer removes this generation.

    One descriptor for an open index, however many segments it has. The system releases it with the process.
    """

    def __init__(self, manifest: Path) -> None:
        self._descriptor = os.open(manifest, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)  # a writer has it only for the moment of removing the file
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        manifest.stat()  # removed between opening and locking: FileNotFoundError

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


Address = str | Path | Store


def open_store(address: Address) -> Store:
    """The store at an address, which need not exist yet."""
    if isinstance(address, LocalStore | ObjectStore):
        return address
    if is_remote(str(address)):
        return ObjectStore(str(address))
    return LocalStore(Path(str(address)))
