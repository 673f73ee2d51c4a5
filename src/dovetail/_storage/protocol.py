"""What a place that keeps an index can do; the two kinds of places are in local_store.py and object_store.py.

Names have slashes, as `segments/<id>/tokens.dvt`. What is put is there as a whole or not at all. The one promise that
generations rest on is `put_if_absent`: of several writers of one name, one wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from dovetail._objects import StoredObject

Change = Callable[[bytes | None], bytes | None]


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
