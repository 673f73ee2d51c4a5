"""Delimited text, plain and compressed."""

from __future__ import annotations

import gzip

from targets.files import read_whole, seed, split

_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst")
SEEDS = [
    seed(0, b"id,name\n1,one\n2,two\n"),
    seed(0, b'id;"a ""b"""\r\n1;"two\nlines"\r\n2;\xe9\r\n'),
    seed(0, b"\xff\xfei\x00d\x00,\x00a\x00\n\x001\x00,\x002\x00\n\x00"),
    seed(1, b"# note\nsep=\t\na\tb\n1\t2\n\nSource: x\n"),
    seed(2, b"a|b|c\n1|2|3\n4|5|6\n"),
    seed(3, gzip.compress(b"a,b\n1,2\n", mtime=0)),
]


def check(data: bytes) -> None:
    suffix, content = split(data, _SUFFIXES)
    read_whole(f"table{suffix}", content)
