"""Zip and tar archives: every file in them that is a table by its name."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from dovetail.errors import UnreadableTable
from dovetail.lake.containers.registry import Member, gone
from dovetail.lake.formats import format_of, split_suffix
from dovetail.lake.object_path import TablePath
from dovetail.lake.streams import broken, compression_of, open_bytes, refuse_bomb

LARGEST_MEMBER = 1 << 36
"""Of a file in an archive, unpacked: 64 GB, whatever it was packed to. It is written to the disk of scratch files."""
_COMPRESSIONS = ("gz", "zst", "bz2", "xz")
"""Of tar archives."""


class ZipArchive:
    """Its directory is at its end, and says where each member is."""

    in_place = True

    def members(self, path: TablePath) -> list[Member]:
        with _opened_zip(path) as archive:
            tables = [info for info in archive.infolist() if _is_table(info.filename)]
        refuse_bomb(sum(info.file_size for info in tables), path.stat().st_size)  # members may share their bytes
        return [Member(info.filename, info.file_size) for info in tables]

    def extract(self, path: TablePath, name: str, folder: Path) -> Path:
        with _opened_zip(path) as archive:
            try:
                info = archive.getinfo(name)
            except KeyError:
                raise gone(name) from None
            if info.flag_bits & 1:
                raise UnreadableTable("encrypted in its archive")
            refuse_bomb(info.file_size, info.compress_size)  # no more than it says is unpacked
            with archive.open(info) as file:
                return _written(file, name, folder)


class TarArchive:
    """Plain or compressed, which its first bytes tell."""

    in_place = False

    def members(self, path: Path) -> list[Member]:
        with _opened_tar(path) as archive:
            return [Member(info.name, info.size) for info in archive if info.isreg() and _is_table(info.name)]

    def extract(self, path: Path, name: str, folder: Path) -> Path:
        with _opened_tar(path) as archive:
            for info in archive:
                if info.name == name and info.isreg() and (file := archive.extractfile(info)) is not None:
                    return _written(file, name, folder)
        raise gone(name)


def _is_table(name: str) -> bool:
    """As for files of a folder; what macOS adds to archives is hidden too."""
    parts = PurePosixPath(name).parts
    return format_of(name) is not None and not any(part.startswith((".", "__MACOSX")) for part in parts)


def _written(file: IO[bytes], name: str, folder: Path) -> Path:
    """The unpacked file, under a name of our own with the suffixes of the member: no name leaves the folder."""
    stem, suffix = split_suffix(name)
    path = folder / f"member{split_suffix(stem)[1]}{suffix}"
    with path.open("wb") as target:
        written = 0
        while chunk := file.read(1 << 20):
            written += len(chunk)
            if written > LARGEST_MEMBER:
                raise UnreadableTable(f"larger than {LARGEST_MEMBER >> 30} GB in its archive")
            target.write(chunk)
    return path


@contextmanager
def _opened_zip(path: TablePath) -> Iterator[zipfile.ZipFile]:
    damage = zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, UnicodeError, ValueError
    with path.open("rb") as file, broken("ZIP archive", *damage), zipfile.ZipFile(file) as archive:
        yield archive


@contextmanager
def _opened_tar(path: Path) -> Iterator[tarfile.TarFile]:
    compression = compression_of(path, known=_COMPRESSIONS)
    with (
        broken("tar archive", tarfile.TarError, EOFError, ValueError),
        open_bytes(path, compression) as file,
        tarfile.open(fileobj=file, mode="r|", errors="replace") as archive,
    ):
        yield archive
