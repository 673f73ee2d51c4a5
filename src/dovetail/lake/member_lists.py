"""What is in containers, remembered by their fingerprints: who has it need not open, or even fetch, them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.errors import TemporarilyUnreadable, UnreadableTable, VanishedTable
from dovetail.lake.containers.container import Member
from dovetail.lake.listing import TableFile

VERSION = 1
"""Of what is remembered. To be raised when a kind of container finds other tables than before in the same file."""
Contents = list[Member] | str
"""The tables of a container, or why it cannot be read."""


class MemberLists:
    """Lists from before, and those of now: of each container that was asked for."""

    def __init__(self, before: Mapping[str, Any] | None = None) -> None:
        """`before` is what `to_json` gave."""
        self._before = dict(before or {})
        self._now: dict[str, Any] = {}

    def contents(self, file: TableFile, look: Callable[[TableFile], Sequence[Member]]) -> Contents:
        """What is in a container: as remembered where it has not changed, else by `look`."""
        known = self._before.get(file.path)
        if known is None or known["fingerprint"] != file.fingerprint:
            known = {"fingerprint": file.fingerprint, **_described(file, look)}
        self._now[file.path] = known
        if "refused" in known:
            return str(known["refused"])
        return [Member(name, size) for name, size in known["members"]]

    @property
    def has_changed(self) -> bool:
        return self._now != self._before

    def to_json(self) -> dict[str, Any]:
        return self._now


def _described(file: TableFile, look: Callable[[TableFile], Sequence[Member]]) -> dict[str, Any]:
    try:
        return {"members": [[member.name, member.bytes] for member in look(file)]}
    except (TemporarilyUnreadable, VanishedTable):
        raise
    except UnreadableTable as reason:
        return {"refused": str(reason)}
