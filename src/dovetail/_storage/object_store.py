"""An index in an object store."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dovetail._objects import Objects, StoredObject
from dovetail._storage.cache import FileCache
from dovetail._storage.protocol import Change, Store
from dovetail.errors import InputError, WriterConflict

_TRANSFERS = 16  # files at the same time; arbitrary, more than a disk and a network card need
_ATTEMPTS = 20  # to change an object that others change too; arbitrary, each takes a moment


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
