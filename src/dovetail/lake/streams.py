"""Opening files as streams of bytes, and what each failure means: a bad file, a fault that may pass, or a bug.

`reasons` tells the three apart by the type of the exception. What the file is to blame for becomes `UnreadableTable`,
what may pass becomes `TemporarilyUnreadable`, and any other exception is a bug of ours and goes on as it is. Small
files can be made that unpack to fill any disk: `Unpacked` refuses those.
"""

from __future__ import annotations

import bz2
import csv
import errno
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from dovetail.errors import TemporarilyUnreadable, UnreadableTable, VanishedTable
from dovetail.lake.object_path import TablePath

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MAGIC = {GZIP_MAGIC: "gz", ZSTD_MAGIC: "zst", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
_TABLE_COMPRESSIONS = ("gz", "zst")
"""Of text. The others are of archives alone."""
LASTING = frozenset({errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR, errno.EOVERFLOW})
"""What the operating system says of the path itself. Whatever else it says (EIO, EMFILE, ESTALE …) may pass."""
ARROW_CONTENT = (
    pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.lib.ArrowCapacityError, pa.lib.ArrowSerializationError,
)  # fmt: skip
"""What Arrow raises about the bytes that it is given."""
# Arrow's decompressor, unlike zstandard's stream reader, tells a stream that is cut off from one that ends.
_DECOMPRESSORS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "gz": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    "zst": ("zstd", lambda file: pa.CompressedInputStream(file, "zstd")),
    "bz2": ("bzip2", bz2.BZ2File),
    "xz": ("xz", lzma.LZMAFile),
}
LARGEST_RATIO = 250
"""Of unpacked to packed bytes. Of 373 tables of 0.1 to 3 MB of Open Data, half packed to a quarter of their bytes or
less, one in a hundred to a 28th, and the best, of nearly equal lines, to a 125th; this is twice as much. A stream of
one byte reaches 1,030 with deflate and more with others."""
ALWAYS_UNPACKED = 1 << 30
"""Bytes that are unpacked whatever the ratio: reading a gigabyte takes seconds, and harms nobody."""


@contextmanager
def reasons() -> Iterator[None]:
    """Turns what the operating system and the parsers raise into `UnreadableTable`, with a short reason."""
    try:
        yield
    except FileNotFoundError:
        raise VanishedTable("vanished") from None
    except PermissionError:
        raise UnreadableTable("permission denied") from None
    except MemoryError as error:
        raise TemporarilyUnreadable("cannot be read now: out of memory") from error
    except OSError as error:
        if error.errno in LASTING:
            raise UnreadableTable(f"cannot be read: {error.strerror}") from error
        raise TemporarilyUnreadable(f"cannot be read now: {error.strerror or error}") from error
    except RecursionError as error:
        raise UnreadableTable("broken content: nested too deep") from error
    except (UnicodeError, csv.Error, *ARROW_CONTENT) as error:
        raise UnreadableTable(f"broken content: {first_line(error)}") from error


@contextmanager
def broken(what: str, *types: type[Exception]) -> Iterator[None]:
    """Turns these errors of a decoder, and those that Arrow raises as an OSError without a number, into a reason."""
    try:
        yield
    except types as error:
        raise UnreadableTable(f"broken {what}: {first_line(error)}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise UnreadableTable(f"broken {what}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def open_bytes(path: TablePath, compression: str) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed. Only an uncompressed stream can seek."""
    with path.open("rb") as file:
        if not compression:
            yield file
            return
        what, opened = _DECOMPRESSORS[compression]
        with broken(f"{what} stream", zlib.error, lzma.LZMAError, EOFError):
            yield cast(BinaryIO, Unpacked(opened(file), path.stat().st_size))


def compression_of(path: TablePath, known: Container[str] = _TABLE_COMPRESSIONS) -> str:
    """The compression that the first bytes show: a `.csv` that is a gzip stream inside is not rare."""
    with open_bytes(path, "") as file:
        head = file.read(max(map(len, _MAGIC)))
    found = (name for magic, name in _MAGIC.items() if head.startswith(magic) and name in known)
    return next(found, "")


def read_fully(file: BinaryIO, size: int) -> bytes:
    """Up to `size` bytes, fewer only at the end: a single `read` of a decompressor does not promise that."""
    pieces = []
    while size > 0 and (piece := file.read(min(size, 1 << 24))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def refuse_bomb(unpacked: int, packed: int) -> None:
    """Raises where so many bytes come of so few that they are taken for an attack."""
    if unpacked > ALWAYS_UNPACKED and unpacked > LARGEST_RATIO * packed:
        raise UnreadableTable(
            f"unpacks to more than {LARGEST_RATIO} times its size and {ALWAYS_UNPACKED >> 30} GB: taken for an attack"
        )


class Unpacked(io.RawIOBase):
    """What comes out of a decompressor, counted against the bytes that were packed."""

    def __init__(self, stream: Any, packed: int) -> None:
        super().__init__()
        self._stream: IO[bytes] = stream
        self._packed = packed
        self._read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._read += len(content)
        refuse_bomb(self._read, self._packed)
        return content
