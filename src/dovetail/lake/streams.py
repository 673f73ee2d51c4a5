"""Opening files as streams of bytes, with every failure turned into a short reason."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from dovetail.errors import UnreadableTable

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


@contextmanager
def reasons() -> Iterator[None]:
    """Turns what the operating system and the decompressors raise into `UnreadableTable`."""
    try:
        yield
    except FileNotFoundError:
        raise UnreadableTable("vanished") from None
    except PermissionError:
        raise UnreadableTable("permission denied") from None
    except IsADirectoryError:
        raise UnreadableTable("a directory, not a file") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UnreadableTable(f"broken gzip stream: {error}") from error
    except OSError as error:
        raise UnreadableTable(f"cannot be read: {error.strerror or error}") from error


@contextmanager
def open_bytes(path: Path, compression: str) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed. Only an uncompressed stream can seek."""
    with reasons(), path.open("rb") as file:
        if compression == "gz":
            yield cast(BinaryIO, gzip.GzipFile(fileobj=file))
        elif compression == "zst":
            with broken_zstd():
                yield cast(BinaryIO, pa.CompressedInputStream(file, "zstd"))
        else:
            yield file


@contextmanager
def broken_zstd() -> Iterator[None]:
    """Arrow's decompressor, unlike zstandard's stream reader, tells a stream that is cut off from one that ends."""
    try:
        yield
    except OSError as error:
        raise UnreadableTable(f"broken zstd stream: {error}") from error


def compression_of(path: Path) -> str:
    """The compression that the first bytes show: a `.csv` that is a gzip stream inside is not rare."""
    with open_bytes(path, "") as file:
        magic = file.read(4)
    if magic.startswith(GZIP_MAGIC):
        return "gz"
    return "zst" if magic == ZSTD_MAGIC else ""


def read_fully(file: BinaryIO, size: int) -> bytes:
    """Up to `size` bytes, fewer only at the end: a single `read` of a decompressor does not promise that."""
    pieces = []
    while size > 0 and (piece := file.read(min(size, 1 << 24))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
