"""Files of a lake: read whole, or refused with a reason in one line."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dovetail.errors import UnreadableTable
from dovetail.lake.containers.registry import container_of
from dovetail.lake.members import members_of
from dovetail.lake.reader import detect_layout, read
from dovetail.lake.streams import reasons

_FOLDER = Path(tempfile.mkdtemp(prefix="dovetail-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
_MEMBERS = 4  # of a container that are read; arbitrary


def split(data: bytes, suffixes: tuple[str, ...]) -> tuple[str, bytes]:
    """A suffix, which the first byte chooses, and the rest."""
    return (suffixes[data[0] % len(suffixes)], data[1:]) if data else (suffixes[0], b"")


def seed(number: int, content: bytes) -> bytes:
    return bytes([number]) + content


def read_whole(name: str, content: bytes) -> None:
    """A table: every batch has the columns of the layout."""
    path = _FOLDER / name
    path.write_bytes(content)
    try:
        _read(path)
    except UnreadableTable as reason:
        _require_sentence(reason)


def read_members(name: str, content: bytes) -> None:
    """A container, and its first tables. What is unpacked stays in its folder."""
    path = _FOLDER / name
    path.write_bytes(content)
    container = container_of(name)
    assert container is not None
    try:
        with reasons():
            found = members_of(path)
    except UnreadableTable as reason:
        _require_sentence(reason)
        return
    for member in found[:_MEMBERS]:
        with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
            try:
                with reasons():
                    made = container.extract(path, member.name, Path(folder))
                assert made.resolve().parent == Path(folder).resolve(), made
                _read(made)
            except UnreadableTable as reason:
                _require_sentence(reason)


def _read(path: Path) -> None:
    layout = detect_layout(path)
    assert len(set(layout.columns)) == len(layout.columns)
    for batch in read(path, layout):
        batch.validate(full=True)
        assert tuple(batch.schema.names) == layout.columns


def _require_sentence(reason: UnreadableTable) -> None:
    assert str(reason) and "\n" not in str(reason), reason
