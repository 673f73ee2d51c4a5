"""An index in a folder of this machine."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from dovetail._objects import StoredObject
from dovetail._storage.protocol import Change, Store
from dovetail._storage.sealed import create_whole, replace_whole, sync_folder
from dovetail.errors import WriterConflict

# A file system without locks, as some network ones are.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
_LOCK = "writer.lock"


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
