"""Files that this machine keeps for later, bounded, the least recently used go first: copies of those of object stores,
and what can be made again from an index.

    $DOVETAIL_CACHE, by default $XDG_CACHE_HOME/dovetail/files      a folder for each address, names as in the store

What is cached never changes where it comes from, and is checked when it is fetched or made. A copy that is removed
while a process has it mapped stays there for that process.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from dovetail._storage.sealed import checksum_of
from dovetail.errors import IndexDamaged, InputError
from dovetail.settings import MB

FOLDER_VARIABLE, SIZE_VARIABLE = "DOVETAIL_CACHE", "DOVETAIL_CACHE_MB"
_DEFAULT_MB = 20_000  # arbitrary: room for an index of some gigabytes, and no more than most disks have free
_LOOKS = 100  # the folder is looked through after every hundredth of its size, which it may exceed by so much
_DRAFT = ".draft"


class FileCache:
    """Copies of files in a folder, of at most `bytes` together, beside the one that was fetched last."""

    def __init__(self, folder: Path, bytes: int) -> None:
        self.folder = folder
        self._bytes = bytes
        self._fetched = bytes  # since the folder was looked through, which the first copy does

    @classmethod
    def of_user(cls) -> FileCache:
        """The cache that the environment names, or else the user's."""
        written = os.environ.get(SIZE_VARIABLE, str(_DEFAULT_MB))
        if not written.isdigit():
            raise InputError(f"{SIZE_VARIABLE} is {written!r}; it must be a number of megabytes.")
        named = os.environ.get(FOLDER_VARIABLE)
        return cls(Path(named) if named else user_cache() / "files", int(written) * MB)

    def file(self, address: str, download: Callable[[Path], object], is_whole: Callable[[Path], bool]) -> Path:
        """The copy of the file at `address`, which `download` fetches and `is_whole` checks where there is none."""
        folder, _, name = address.rpartition("/")
        path = self.folder / checksum_of(folder.encode()) / name
        with contextlib.suppress(FileNotFoundError):
            os.utime(path)  # used now
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{name}.{secrets.token_hex(4)}{_DRAFT}")
        try:
            download(draft)
            if not is_whole(draft):
                raise IndexDamaged(f"{address} is damaged: its content does not match its checksum.")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        self._shrink(path)
        return path

    def _shrink(self, newest: Path) -> None:
        """Remove what was not used for longest, until the rest fits. Other processes may do the same."""
        self._fetched += newest.stat().st_size
        if self._fetched * _LOOKS < self._bytes:
            return
        self._fetched = 0
        found = []
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._bytes:
                return
            if path != newest:
                path.unlink(missing_ok=True)
                total -= size


def user_cache() -> Path:
    """As the XDG base directory specification has it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dovetail"
