"""Lakes made of a lake: several copies, or a share of its tables. Hard links where the disk allows, else copies.

Symbolic links would not do: an index never follows them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from dovetail.lake.listing import Root, TableFile
from dovetail.lake.source import list_lake


def tables_of(lake: Path) -> list[TableFile]:
    return list(list_lake([Root.of(str(lake))]).values())


def lake_bytes(lake: Path) -> int:
    return sum(file.bytes for file in tables_of(lake))


def copies(lake: Path, number: int, to: Path) -> Path:
    """A lake of `number` copies of `lake`, each in a folder of its own."""
    files = tables_of(lake)
    for copy in range(number):
        _place(files, to / f"copy-{copy + 1:03d}")
    return to


def share(lake: Path, part: float, to: Path) -> Path:
    """A lake of a share of the tables, with the sizes of the whole: in order of size, one of every few is taken."""
    files = sorted(tables_of(lake), key=lambda file: (file.bytes, file.table))
    number = max(1, round(part * len(files)))
    _place((files[int((place + 0.5) * len(files) / number)] for place in range(number)), to)
    return to


def warm(lake: Path) -> None:
    """Read every file once, so that nobody is measured on a cold disk."""
    for file in tables_of(lake):
        if os.access(file.path, os.R_OK):
            with Path(file.path).open("rb", buffering=0) as stream:
                while stream.read(1 << 20):
                    pass


def _place(files: Iterable[TableFile], to: Path) -> None:
    for file in files:
        target = to / file.table
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.hardlink_to(file.path)
        except OSError:  # another disk, or a file that is not ours to link
            shutil.copy2(file.path, target)
