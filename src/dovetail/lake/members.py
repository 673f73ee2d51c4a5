"""A source with its containers opened: their members are tables, listed and changed with them, read from a copy.

What is in containers is remembered by their fingerprints: who has the lists need not open, or even fetch, them again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.errors import TemporarilyUnreadable, UnreadableTable, VanishedTable
from dovetail.lake.containers.registry import Member, container_of, is_container, member_address, parse_member
from dovetail.lake.files import Copy, Source
from dovetail.lake.formats import format_of
from dovetail.lake.listing import Root, TableFile, is_excluded
from dovetail.lake.object_path import ObjectPath, TablePath
from dovetail.lake.reader import AnyPath
from dovetail.lake.streams import reasons

_LISTINGS = 8  # containers that are looked into at the same time. Arbitrary: most of the time is waiting for a disk

_NAMED = 8  # tables, where there are too many
LISTS_VERSION = 1
"""Of what is remembered. To be raised when a kind of container finds other tables than before in the same file."""
Contents = list[Member] | str
"""The tables of a container, or why it cannot be read."""


class OpenedContainers:
    """The tables of another source, with those inside of its containers."""

    def __init__(self, files: Source) -> None:
        self._files = files

    def list(self, root: Root, skip: Callable[[Path], bool], lists: MemberLists | None = None) -> Iterator[TableFile]:
        """Containers are looked into unless `lists` has what is in them."""
        kept = MemberLists() if lists is None else lists
        with ThreadPoolExecutor(_LISTINGS) as threads:
            listed = [
                threads.submit(self._members, root, file, kept) if _holds_tables(file) else [file]
                for file in self._files.list(root, skip)
            ]
            for found in listed:
                yield from found if isinstance(found, list) else found.result()

    def fingerprint(self, file: TableFile) -> str:
        return self._files.fingerprint(_container(file))

    def open(self, path: str) -> AnyPath:
        return self._files.open(path)

    def copy(self, file: TableFile, folder: Path) -> Copy:
        address = parse_member(file.path)
        copied = self._copy_of_container(_container(file), folder)
        if address is None:
            return copied
        assert isinstance(copied.path, Path | ObjectPath)  # containers are files
        folder.mkdir(parents=True, exist_ok=True)
        _require_readable(copied.path)
        name = address.name or _only_member(copied.path, address.path)
        return replace(copied, path=address.container.extract(copied.path, name, folder))

    def _copy_of_container(self, file: TableFile, folder: Path) -> Copy:
        """The file, fetched if it has to be."""
        container = container_of(file.path)
        if container is None or not container.in_place:
            return self._files.copy(file, folder)
        mark = self._files.fingerprint(file)
        if not mark:
            raise FileNotFoundError(2, "No such file", file.path)
        return Copy(self._files.open(file.path), mark, private=False)

    def _members(self, root: Root, file: TableFile, lists: MemberLists) -> Sequence[TableFile]:
        """The tables of a container that are wanted; where it cannot be read, itself with the reason."""
        try:
            found = lists.contents(file, self._look_into)
        except UnreadableTable as reason:  # for now: without a fingerprint, the next run tries again
            return [replace(file, refused=str(reason), fingerprint="")]
        if isinstance(found, str):
            return [replace(file, refused=found)]
        named = [_member_of(file, member) for member in found]
        return [member for member in named if not is_excluded(root, member.table.removeprefix(root.prefix))]

    def _look_into(self, file: TableFile) -> Sequence[Member]:
        with tempfile.TemporaryDirectory(prefix="dovetail-") as folder, reasons():
            path = self._copy_of_container(file, Path(folder)).path
            assert isinstance(path, Path | ObjectPath)
            return members_of(path)


def _member_of(file: TableFile, member: Member) -> TableFile:
    table, path = (member_address(name, member.name) for name in (file.table, file.path))
    return replace(file, table=table, path=path, bytes=member.bytes)


def members_of(path: TablePath) -> list[Member]:
    container = container_of(path.name)
    assert container is not None
    _require_readable(path)
    found = container.members(path)
    if not found:
        raise UnreadableTable("no tables in it")
    for member in found:
        member.name.encode()  # raises for half a character, which cannot be kept
    return found


def _require_readable(path: TablePath) -> None:
    """Raises as the operating system does: libraries say in many ways that they may not open a file."""
    with path.open("rb"):
        pass


def _holds_tables(file: TableFile) -> bool:
    return not file.refused and format_of(file.path) is None and is_container(file.path)


def _only_member(path: TablePath, address: str) -> str:
    """The name of a container's table, where nobody names one."""
    names = [member.name for member in members_of(path)]
    if len(names) > 1 and "" not in names:
        some = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        raise UnreadableTable(f"it holds {len(names)} tables ({some}); name one as {member_address(address, names[0])}")
    return "" if "" in names else names[0]


def _container(file: TableFile) -> TableFile:
    """The file that holds a table: the table itself where it is no member."""
    address = parse_member(file.path)
    return file if address is None else replace(file, path=address.path)


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
