"""Files that a user asks for: looked at before the work, and there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dovetail.errors import InputError


def check_place(path: Path) -> None:
    """Before work that may take long."""
    if path.is_dir():
        raise InputError(f"Cannot write {path}: it is a folder.")
    if not path.resolve().parent.is_dir():
        raise InputError(f"Cannot write {path}: there is no folder {path.parent}.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft to write to, which takes the file's place in the end. What fails before leaves the old file as it was."""
    check_place(path)
    if path.exists() and not path.is_file():  # a pipe or a device
        yield path
        return
    place = path.resolve()
    draft = place.with_name(f".{place.name}.{os.getpid()}.draft")
    try:
        yield draft
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
