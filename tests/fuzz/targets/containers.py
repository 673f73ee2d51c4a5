"""Archives, spreadsheets, databases and pages."""

from __future__ import annotations

import contextlib
import gzip
import io
import sqlite3
import tarfile
import zipfile

import openpyxl

from targets.files import read_members, seed, split

_SUFFIXES = (".zip", ".tar", ".tar.gz", ".sqlite", ".html", ".xlsx", ".ods")
_TABLE = b"id,name\n1,one\n2,two\n"


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("a/b.csv"), _TABLE)
        archive.writestr(zipfile.ZipInfo("../c.jsonl"), b'{"a": 1}\n')
    return made.getvalue()


def _tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo("../a.csv")
        info.size = len(_TABLE)
        archive.addfile(info, io.BytesIO(_TABLE))
    return made.getvalue()[:2048]


def _sqlite() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT)")
        database.executemany("INSERT INTO a VALUES (?, ?)", [(1, "one"), (2, None)])
        database.commit()
        return database.serialize()


def _workbook() -> bytes:
    """Not compressed, so that what is in it can be changed, and without what is not read."""
    written, made = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    for row in (("id", "name"), (1, "one"), (2, None)):
        book.active.append(row)
    book.save(written)
    with zipfile.ZipFile(written) as whole, zipfile.ZipFile(made, "w") as archive:
        for name in whole.namelist():
            if name.startswith(("_rels", "xl/w", "xl/_rels", "xl/shared")):
                archive.writestr(zipfile.ZipInfo(name), whole.read(name))
    return made.getvalue()


_PAGE = b"<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4</table>"
SEEDS = [seed(0, _zip()), seed(1, _tar()), seed(3, _sqlite()), seed(4, _PAGE), seed(5, _workbook())]
SEEDS.append(seed(2, gzip.compress(_tar(), mtime=0)))


def check(data: bytes) -> None:
    suffix, content = split(data, _SUFFIXES)
    read_members(f"container{suffix}", content)
