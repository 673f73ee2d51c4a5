"""The roots of an index: the places that its tables come from, and the files that they list."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail._objects import Objects, is_remote
from dovetail._storage.manifest import Manifest
from dovetail._storage.marker import MARKER, index_around, is_index
from dovetail._storage.sealed import seal, unseal
from dovetail._storage.store import Store
from dovetail.errors import IndexDamaged, InputError, SourceUnreachable
from dovetail.lake.listing import Root, TableFile, is_spark
from dovetail.lake.members import LISTS_VERSION, MemberLists
from dovetail.lake.schemes import source_class
from dovetail.lake.source import list_lake

MEMBERS = "members.json"
"""In an index: what is in the containers of its lake. Belongs to no generation, and can be found out again."""

# Between the name of a root beyond the first and the path of a table under it. No path under any root has two slashes
# in a row, so that ids of different roots never meet, whichever files and roots come later.
_SEPARATOR = "//"


def roots_of(manifest: Manifest) -> tuple[Root, ...]:
    """The roots that the index remembers."""
    return tuple(Root.from_json(values) for values in manifest.roots)


def refuse_index_as_lake(root: Root, to: str | Path) -> None:
    """Raises where the lake is an index, lies inside of one, or lies inside the folder that is to become one."""
    if is_spark(root.path) or source_class(root.path):
        return
    if is_remote(root.path) or is_remote(to):
        _refuse_remote_index_as_lake(root.path, to)
        return
    folder, target = Path(root.path), Path(to).resolve()
    found = index_around(folder)
    if found is not None:
        raise InputError(f"{folder} is {'' if found == folder else 'part of '}an index, not a lake.")
    if folder == target or target in folder.parents:
        raise InputError(f"{to} holds the lake {folder}; choose another folder for the index.")


def _refuse_remote_index_as_lake(lake: str, to: str | Path) -> None:
    if is_remote(lake) and any(found.name == MARKER for found in Objects(lake).entries(deep=False)):
        raise InputError(f"{lake} is an index, not a lake.")
    if f"{lake}/".startswith(f"{str(to).rstrip('/')}/"):
        raise InputError(f"{to} holds the lake {lake}; choose another folder for the index.")


def choose_roots(
    known: tuple[Root, ...], asked: Iterable[Root], choices: Mapping[str, Any], add: bool, to: str | Path
) -> tuple[Root, ...]:
    """The roots that the index will have: those it knows, with what is chosen now for those that are asked for."""
    roots = list(known)
    for root in asked:
        places = [place for place, old in enumerate(roots) if (old.path, old.pattern) == (root.path, root.pattern)]
        if places:
            roots[places[0]] = replace(roots[places[0]], **choices)
        elif known and not add:
            raise InputError(
                f"{to} is the index of {', '.join(dict.fromkeys(old.path for old in known))}. "
                f"To put {root.path} into the same index, use `add`."
            )
        else:
            roots.append(replace(root, prefix=_prefix(root, roots), **choices))
    return tuple(roots)


def _prefix(root: Root, others: Sequence[Root]) -> str:
    """What the ids of a new root begin with: nothing for the first, else as much of its address as no other has.

    Roots in one folder, such as two files of it, have one prefix: there a path means the same file.
    """
    if not others:
        return ""
    shared = next((old.prefix for old in others if old.path == root.path), None)
    taken = {old.prefix for old in others}
    return next(prefix for prefix in _prefixes(root) if prefix not in taken) if shared is None else shared


def _prefixes(root: Root) -> Iterator[str]:
    """The last part of its address, the last two, and so on; then numbered."""
    place = root.path.removeprefix("spark:").rpartition("://")[2].partition("?")[0]
    parts = [part for part in place.split("/") if part]
    for number in range(len(parts) - 1, -1, -1):
        yield "/".join(parts[number:]) + _SEPARATOR
    for number in itertools.count(2):
        yield f"{'/'.join(parts)}-{number}{_SEPARATOR}"


def list_tables(
    roots: Iterable[Root], store: Store, asked: Iterable[Root] = ()
) -> tuple[dict[str, TableFile], dict[Root, str]]:
    """Every file of the roots that may be a table, by its id. Where roots overlap, a file belongs to the first.

    Tables that only Spark can read are left out. What is in containers is remembered in the index's `store`. Roots that
    do not answer are returned with the reason; one that is `asked` for is an error.
    """
    files: dict[str, TableFile] = {}
    seen: set[str] = set()
    lists = _member_lists(store)
    named = {(root.path, root.pattern) for root in asked}
    unreachable: dict[Root, str] = {}

    def take(root: Root, error: SourceUnreachable) -> None:
        if (root.path, root.pattern) in named:
            raise error
        unreachable[root] = str(error)

    listed = list_lake((root for root in roots if not is_spark(root.path)), is_index, lists, take)
    if lists.has_changed:
        store.put(MEMBERS, seal({"version": LISTS_VERSION, "containers": lists.to_json()}))
    for table, file in listed.items():
        if file.refused or file.path not in seen:
            files[table] = file
            seen.add(file.path)
    return files, unreachable


def may_belong_to(table: str, some: Iterable[Root], roots: Sequence[Root]) -> bool:
    """Whether a table of the index may be one of `some` of its roots; of roots in one folder, any may have it."""
    own = max((root.prefix for root in roots if table.startswith(root.prefix)), key=len, default="")
    return any(root.prefix == own for root in some)


def _member_lists(store: Store) -> MemberLists:
    """What the last run has found in containers. Where that is lost or damaged, they are looked into again."""
    try:
        body = unseal(store.read(MEMBERS), MEMBERS)
    except (FileNotFoundError, IndexDamaged):
        return MemberLists()
    return MemberLists(body["containers"] if body["version"] == LISTS_VERSION else None)
