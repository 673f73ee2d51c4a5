"""Which tables there are: walks a lake's root without reading any file.

Nothing outside the root is ever read. A link to a table that is listed by itself would name it a second time, and is
left out; a link to a file inside the root that is not (hidden, of another suffix, not wanted) is a table of its own.
Whatever else a link points to is listed with the reason why it is not read.
"""

from __future__ import annotations

import fnmatch
import functools
import glob
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dovetail._objects import is_remote
from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.containers.registry import SEPARATOR, is_container, log_of
from dovetail.lake.formats import format_of
from dovetail.lake.layout import DataFile
from dovetail.lake.schemes import refuse_password, source_class, split_table
from dovetail.lake.streams import reasons
from dovetail.lake.table_folders import ICEBERG, data_files, folder_fingerprint, is_mark

# Where tables come from that only a Spark session can read. The path of such a table is one of these, `/` and its name,
# or, of a file that its session reaches, the prefix and the address.
SPARK = "spark:"
CATALOG, DATAFRAMES = f"{SPARK}catalog", f"{SPARK}dataframes"
JDBC = "jdbc:"
"""How addresses of databases begin that Spark reads with a driver of the user's."""
SPARK_FORMAT = "spark"

# Addresses of other schemes than ours: `hdfs://node/lake`, `dbfs:/lake`.
_OTHER_ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]+:/")

_LISTINGS = 16  # folders at the same time: as of object stores

LEAVES = "link that leaves the lake"
HIDDEN = "link into a hidden folder"
BROKEN = "broken link"


@dataclass(frozen=True)
class Root:
    """Where tables come from, and which of them are wanted. Remembered by the index."""

    path: str
    pattern: str = "*"
    prefix: str = ""  # set for roots beyond the first, so that ids never meet
    tables: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dialects: tuple[tuple[str, str], ...] = ()  # (glob, dialect)
    exclude_columns: tuple[str, ...] = ()  # globs, as `column_rules` reads them
    hash_columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str) -> Root:
        """The root of a folder, a glob or a single file; of an address, what ends as tables do is a single file."""
        refuse_password(source)
        if is_remote(source):
            return cls._of_address(source)
        if source_class(source):
            address, table = split_table(source)
            return cls(address.rstrip("/"), glob.escape(table) if table else "*")
        if _OTHER_ADDRESS.match(source) or source.startswith(JDBC):
            source = SPARK + source
        if is_spark(source):
            return cls(source.rstrip("/"))
        path = Path(source)
        if path.is_dir():
            return cls(str(path.resolve()))
        if path.exists():
            return cls(str(path.parent.resolve()), glob.escape(path.name))
        if not glob.has_magic(source):
            raise InputError(f"There is no file or folder {source}.")
        parts = Path(source).parts
        fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
        folder = Path(*parts[:fixed]) if fixed else Path()
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder}, which {source} looks into.")
        return cls(str(folder.resolve()), "/".join(parts[fixed:]))

    @classmethod
    def _of_address(cls, address: str) -> Root:
        scheme, _, place = address.rstrip("/").partition("://")
        parts = place.split("/")
        fixed = next((i for i, part in enumerate(parts) if i and glob.has_magic(part)), len(parts))
        if fixed == len(parts) and fixed > 1 and may_be_table(parts[-1]):
            return cls(f"{scheme}://{'/'.join(parts[:-1])}", glob.escape(parts[-1]))
        return cls(f"{scheme}://{'/'.join(parts[:fixed])}", "/".join(parts[fixed:]) or "*")

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def names_one_file(self) -> bool:
        return self.pattern == glob.escape(self.pattern_as_name)

    @property
    def pattern_as_name(self) -> str:
        """The name that the pattern is the escaped form of, where it is one."""
        return re.sub(r"\[([*?[])\]", r"\1", self.pattern)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Root:
        return cls(
            values["path"], values["pattern"], values["prefix"], tuple(values["tables"]), tuple(values["exclude"]),
            tuple((pattern, dialect) for pattern, dialect in values["dialects"]),
            tuple(values.get("exclude_columns", ())), tuple(values.get("hash_columns", ())),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file that may be a table. The fingerprint changes whenever the file, or the way to read it, does.

    A lake may have millions, hence the slots.
    """

    table: str
    path: str
    bytes: int
    fingerprint: str
    dialect: str = ""
    refused: str = ""  # why it is not even to be opened
    exclude_columns: Sequence[str] = ()  # globs of names
    hash_columns: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def is_spark(path: str) -> bool:
    """Whether only a Spark session can read this table, or the tables of this root."""
    return path.startswith(SPARK)


def matches(name: str, pattern: str) -> bool:
    """Whether a glob matches a table's id. `*` also matches `/`; `**/` may match nothing; an id matches itself."""
    globs = (pattern, pattern.replace("**/", ""))
    return name == pattern or any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def fingerprint(path: str, status: os.stat_result, dialect: str) -> str:
    """Of a file with this status; of a database, of its log too."""
    readable = os.access(path, os.R_OK)
    return f"{_log_mark(path)}{status.st_size}-{status.st_mtime_ns}-{'r' if readable else 'x'}-{dialect}"


def _log_mark(path: str) -> str:
    """Nothing where a database has no log, or an empty one: those who read may make one."""
    log = log_of(path)
    try:
        status = os.stat(log) if log else None  # noqa: PTH116  # as below
    except FileNotFoundError:
        status = None
    return f"{status.st_size}-{status.st_mtime_ns}+" if status and status.st_size else ""


def list_files(root: Root, skip: Callable[[Path], bool]) -> Iterator[TableFile]:
    """Every file of a folder that may be a table, or would be one if it could be read. `skip` names folders to omit.

    Folders of one depth are looked into at the same time: where a disk is behind a network, waiting takes longest.
    """
    if root.names_one_file:
        yield from _look_at(root, Path(root.path, root.pattern_as_name))
        return
    look = functools.partial(_look_into, root, skip)
    with ThreadPoolExecutor(_LISTINGS) as threads:
        level = [root.path]
        while level:
            below: list[str] = []
            for files, folders in threads.map(look, level):
                yield from files
                below += folders
            level = below


def _look_at(root: Root, path: Path) -> Iterator[TableFile]:
    """The one file of a root, if it may be a table."""
    name = _written(path.name)
    if path.name.startswith(".") or not may_be_table(path.name) or not is_wanted(root, name):
        return
    reason = _file_link(path, root) if path.is_symlink() else ""
    if reason is not None:
        yield _table_file(root, str(path), name, reason)


def _look_into(root: Root, skip: Callable[[Path], bool], folder: str) -> tuple[list[TableFile], list[str]]:
    """The files of one folder that may be tables, and the folders in it to look into."""
    inside = folder.removeprefix(root.path).strip("/")
    prefix = f"{inside}/" if inside else ""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        refused = f"folder cannot be listed: {error.strerror}"
        return ([_table_file(root, folder, _written(inside), refused)] if is_wanted(root, _written(inside)) else []), []
    if is_wanted(root, inside or root.name) and _is_table(entries):
        return [folder_table(root, prefix, f"{folder}/")], []
    files: list[TableFile] = []
    folders: list[str] = []
    for entry in entries:
        reason: str | None = ""
        if entry.name.startswith("."):
            continue
        if _is_folder(entry):
            reason = (_folder_link(Path(entry.path), root) if entry.is_symlink() else "") or None
            if not (entry.is_symlink() or skip(Path(entry.path))):
                folders.append(entry.path)
        elif not may_be_table(entry.name):
            continue
        elif entry.is_symlink():
            reason = _file_link(Path(entry.path), root)
        if reason is not None and is_wanted(root, name := _written(prefix + entry.name)):
            files.append(_table_file(root, entry.path, name, reason))
    return files, folders


def is_table_folder(path: Path) -> bool:
    with os.scandir(path) as found:
        return _is_table(list(found))


def _is_table(entries: list[os.DirEntry[str]]) -> bool:
    """Whether a folder is a table, by what is in it."""
    return any(
        is_mark(entry.name, "/") or (entry.name == ICEBERG and _holds_metadata(entry.path))
        if _is_folder(entry)
        else is_mark(entry.name)
        for entry in entries
    )


def _holds_metadata(folder: str) -> bool:
    try:
        return any(is_mark(ICEBERG, file.name) for file in Path(folder).iterdir())
    except OSError:  # whoever walks on into it reports that
        return False


def folder_table(root: Root, inside: str, address: str, listed: Sequence[DataFile] | None = None) -> TableFile:
    """The table that a folder is; `inside` is its name below the root, which may be the table itself."""
    name = _written(inside.rstrip("/")) or root.name
    dialect = dialect_of(root, name)
    try:
        with reasons():
            files = data_files(address, listed)
    except UnreadableTable as reason:
        return TableFile(root.prefix + name, address, 0, f"refused: {reason}", refused=str(reason))
    size = sum(file.bytes for file in files)
    return TableFile(root.prefix + name, address, size, folder_fingerprint(files, dialect), dialect)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _written(name: str) -> str:
    """A name as text, whatever its bytes are."""
    return name.encode("utf-8", "backslashreplace").decode()


def _folder_link(path: Path, root: Root) -> str:
    """Why a link to a folder is not followed; nothing where the folder is listed by itself."""
    target = Path(os.path.realpath(path))  # unlike resolve, it survives loops
    if not target.is_relative_to(root.path):
        return LEAVES
    return HIDDEN if _is_hidden(target, root) else ""


def _file_link(path: Path, root: Root) -> str | None:
    """Why a link to a file is refused: nothing where it is read, None where its target is listed by itself."""
    target = Path(os.path.realpath(path))  # unlike resolve, it survives loops
    if not target.is_relative_to(root.path):
        return LEAVES
    if not target.exists():
        return BROKEN
    name = target.relative_to(root.path).as_posix()
    listed = not _is_hidden(target, root) and may_be_table(target.name) and is_wanted(root, name)
    return None if listed else ""


def _is_hidden(path: Path, root: Root) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root.path).parts)


def may_be_table(name: str) -> bool:
    """Whether a file is a table, or holds tables, by its name."""
    return format_of(name) is not None or is_container(name)


def is_wanted(root: Root, name: str) -> bool:
    """Whether a file is asked for; of a container, one of its members may be."""
    if not matches(name, root.pattern):
        return False
    if root.tables and not any(matches(name, pattern.partition(SEPARATOR)[0]) for pattern in root.tables):
        return False
    return not any(matches(name, pattern) for pattern in root.exclude)


def is_excluded(root: Root, name: str) -> bool:
    """Whether a member of a container that is asked for is not."""
    container = name.partition(SEPARATOR)[0]
    wanted = not root.tables or any(matches(name, pattern) or matches(container, pattern) for pattern in root.tables)
    return not wanted or any(matches(name, pattern) for pattern in root.exclude)


def dialect_of(root: Root, name: str) -> str:
    """What the user says of how to read a table."""
    return next((dialect for pattern, dialect in root.dialects if matches(name, pattern)), "")


def _table_file(root: Root, path: str, name: str, refused: str) -> TableFile:
    dialect = dialect_of(root, name)
    if not refused:
        try:
            status = os.stat(path)  # noqa: PTH116  # making a Path of each of a million files takes as long
            if stat.S_ISREG(status.st_mode):
                path.encode()
                current = fingerprint(path, status, dialect)
                return TableFile(root.prefix + name, path, status.st_size, current, dialect)
            refused = "not a regular file"
        except FileNotFoundError:
            refused = "vanished"
        except UnicodeEncodeError:
            refused = "file name is not valid UTF-8"
    return TableFile(root.prefix + name, name, 0, f"refused: {refused}", refused=refused)
