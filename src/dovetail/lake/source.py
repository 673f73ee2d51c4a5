"""Where tables live: files of this machine or objects of a store, and members of those that hold several tables.

A table is named by its path: of a file, `s3://bucket/folder/table.csv`, or one of these with the name of a member,
`book.xlsx::Sheet1`. Whoever has one finds its source by that.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from dovetail._objects import is_remote
from dovetail.errors import InputError, SourceUnreachable
from dovetail.lake.column_rules import with_column_rules
from dovetail.lake.containers.registry import MemberAddress, parse_member
from dovetail.lake.files import LocalFiles, ObjectFiles, Source
from dovetail.lake.listing import Root, TableFile, is_spark
from dovetail.lake.members import MemberLists, OpenedContainers
from dovetail.lake.schemes import source_class, split_table
from dovetail.lake.table_folders import data_files, is_folder_table

_LOCAL, _REMOTE = OpenedContainers(LocalFiles()), OpenedContainers(ObjectFiles())


def source_of(path: str) -> Source:
    other = source_class(path)
    if other is not None:
        return _made(other)
    return _REMOTE if is_remote(path) else _LOCAL


@functools.cache
def _made(source: str) -> Source:
    module, _, name = source.partition(":")
    return cast(Source, getattr(importlib.import_module(module), name)())


def list_lake(
    roots: Iterable[Root],
    skip: Callable[[Path], bool] = lambda _: False,
    lists: MemberLists | None = None,
    unreachable: Callable[[Root, SourceUnreachable], None] | None = None,
) -> dict[str, TableFile]:
    """Every file that may be a table, or would be one if it could be read, by its id. `skip` names folders to leave.

    Where roots of one folder both list a file, it belongs to the first. Containers that `lists` knows are not looked
    into. A root that cannot be reached is an error, unless `unreachable` takes it.
    """
    files: dict[str, TableFile] = {}
    for root in roots:
        try:
            listed = _listed(root, skip, lists)
        except SourceUnreachable as error:
            if unreachable is None:
                raise
            unreachable(root, error)
            continue
        for file in listed:
            if files.get(file.table, file).path != file.path:
                raise InputError(f"Two files of the lake have the same name {file.table}; rename one of them.")
            files.setdefault(file.table, with_column_rules(file, root))
    return files


def _listed(root: Root, skip: Callable[[Path], bool], lists: MemberLists | None) -> list[TableFile]:
    source = source_of(root.path)
    return list(source.list(root, skip, lists) if isinstance(source, OpenedContainers) else source.list(root, skip))


def is_unchanged(path: str, before: str) -> bool:
    """Whether the table at `path` is still the one that was given this fingerprint, however it was to be read."""
    now = source_of(path).fingerprint(TableFile("", path, 0, ""))
    return bool(now) and before.startswith(now.removesuffix("r-").removesuffix("x-"))


def is_divisible(path: str) -> bool:
    """Whether parts of the table can be read by themselves: members are read from a copy, whole."""
    return _member(path) is None


def is_plain_file(path: str) -> bool:
    """Whether a table is a file of this machine, and nothing else is in the file."""
    return not (is_remote(path) or is_spark(path) or is_folder_table(path) or source_class(path) or _member(path))


def first_file(path: str) -> str:
    """The file that holds a table, or the first of its files."""
    if is_folder_table(path):
        return next((file.path for file in data_files(path)), path)
    member = _member(path)
    return path if member is None else member.path


def sibling(file: TableFile, name: str) -> str:
    """The id of another table of the database that holds this one, by its name there."""
    member = _member(file.path)
    own = split_table(file.path)[1] if member is None else member.name
    return file.table.removesuffix(own) + name


def _member(path: str) -> MemberAddress | None:
    return None if source_class(path) else parse_member(path)
