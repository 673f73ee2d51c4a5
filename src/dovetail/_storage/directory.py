"""The index directory: generations, the one writer, and snapshots for readers.

my-index/
  dovetail-index.json  the marker, see `marker.py`
  manifest-<N>.json    generation N, created only if absent, never replaced; readers of it hold a shared lock on it
  segments/<id>/       immutable; those that no manifest names are leftovers
  staging/             what a running build has read of big tables; empty at rest
  writer.lock          held by the one writer, released by the system when its process ends
  decisions.json       what people decided, see `catalog/decisions.py`; belongs to no generation, never removed
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail._storage.manifest import Manifest
from dovetail._storage.marker import is_draft, mark_as_index, require_index
from dovetail._storage.sealed import create_whole, seal, unseal
from dovetail._storage.segment import Segment, SegmentRef, is_segment_id
from dovetail.errors import BuildFailed, IndexDamaged, InputError, NotAnIndex, WriterConflict

_MANIFEST = re.compile(r"manifest-(\d+)\.json")
_LOCK, _SEGMENTS, _STAGING = "writer.lock", "segments", "staging"
# Failures of the place we write to: trying again cannot help, and the user can mend it.
TARGET_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# A file system without locks, as some network ones are.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


@dataclass(frozen=True)
class Snapshot:
    """One generation. Its segments open their files when asked, and hold the generation until then."""

    path: Path
    manifest: Manifest
    segments: tuple[Segment, ...]


class _Hold:
    """A shared lock on a manifest: while it lives, no writer removes this generation.

    One descriptor for an open index, however many segments it has. The system releases it with the process.
    """

    def __init__(self, manifest: Path) -> None:
        self._descriptor = os.open(manifest, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)  # a writer has it only for the moment of removing the file
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        manifest.stat()  # removed between opening and locking: FileNotFoundError

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


def open_snapshot(path: Path) -> Snapshot:
    """The newest generation. A writer may replace it meanwhile: then the still newer one is opened."""
    while True:
        generation = _require_generation(path)
        try:
            hold = _Hold(path / _manifest_name(generation))
            manifest = _read_manifest(path, generation)
            return Snapshot(path, manifest, _segments(path, manifest, hold))
        except FileNotFoundError as error:
            if _newest_generation(path) == generation:
                raise IndexDamaged(f"{path} is damaged: {_manifest_name(generation)} cannot be read.") from error


def open_segment(path: Path, ref: SegmentRef) -> Segment:
    """A segment of the index at `path`, which nobody may write to meanwhile."""
    return Segment(path / _SEGMENTS, ref)


def newest_manifest(path: Path) -> Manifest:
    return _read_manifest(path, _require_generation(path))


class IndexWriter:
    """The one writer of an index: sees the newest generation, writes segments beside it and commits the next."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.segments = path / _SEGMENTS
        self.staging = path / _STAGING

    def open_segments(self, manifest: Manifest) -> tuple[Segment, ...]:
        """The segments of a manifest, committed or not. They need no hold: only this writer could remove them."""
        return _segments(self.path, manifest)

    def snapshot(self) -> Snapshot:
        """The newest generation."""
        return Snapshot(self.path, self.manifest, self.open_segments(self.manifest))

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the newest generation, wholly or not at all."""
        try:
            create_whole(self.path / _manifest_name(manifest.generation), seal(manifest.to_json()))
        except FileExistsError:
            raise WriterConflict(
                f"Another writer has committed generation {manifest.generation} meanwhile. Run the command again."
            ) from None
        self.manifest = manifest

    def clean_segments(self) -> None:
        """Remove what nobody can ask for any more: old generations without a reader, drafts, and their segments."""
        if _newest_generation(self.path) > self.manifest.generation:
            return  # another writer has moved on, or an interrupt came right after our commit
        needed = {ref.id for ref in self.manifest.segments}
        for file in self.path.iterdir():
            match = _MANIFEST.fullmatch(file.name)
            if match and int(match[1]) < self.manifest.generation:
                needed |= _remove_unless_held(file)
            elif is_draft(file.name) or (file.name.startswith("manifest-") and not match):
                file.unlink()
        for folder in self.segments.iterdir():
            if is_segment_id(folder.name) and folder.name not in needed:
                _remove(folder)

    def clean_staging(self) -> None:
        """Remove what a build has set aside, its own or one that was killed."""
        _remove(self.staging)


@contextlib.contextmanager
def open_writer(path: Path, create: bool = False) -> Iterator[IndexWriter]:
    """The one writer of the index at `path`; with `create`, an absent or empty folder becomes an index."""
    try:
        if create:
            mark_as_index(path)
        else:
            _require_generation(path)
        (path / _SEGMENTS).mkdir(exist_ok=True)
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"Cannot write to {path}: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WriterConflict(
                f"Another process is writing to {path}. Wait until it has finished, then run the command again."
            ) from None
        generation = _newest_generation(path)
        manifest = _read_manifest(path, generation) if generation else Manifest(0)
        # Workers may have another working folder than the driver.
        writer = IndexWriter(path.absolute(), manifest)
        writer.clean_segments()
        writer.clean_staging()
        try:
            yield writer
        finally:
            writer.clean_segments()
            writer.clean_staging()
    except OSError as error:
        if error.errno in TARGET_FAILURES:
            reason = os.strerror(error.errno)  # Arrow's own sentence is long
            raise BuildFailed(f"Cannot write to {path}: {reason}. What was committed stays.") from error
        raise
    finally:
        os.close(lock)


def _segments(path: Path, manifest: Manifest, hold: _Hold | None = None) -> tuple[Segment, ...]:
    return tuple(Segment(path / _SEGMENTS, ref, hold) for ref in manifest.segments)


def _manifest_name(generation: int) -> str:
    return f"manifest-{generation}.json"


def _newest_generation(path: Path) -> int:
    """0 where there is none."""
    matches = (_MANIFEST.fullmatch(entry.name) for entry in path.iterdir())
    return max((int(match[1]) for match in matches if match), default=0)


def _require_generation(path: Path) -> int:
    require_index(path)
    generation = _newest_generation(path)
    if generation == 0:
        raise NotAnIndex(
            f"{path} is an index without tables: its first build did not finish. "
            f"Run `dovetail index LAKE --to {path}` again."
        )
    return generation


def _read_manifest(path: Path, generation: int) -> Manifest:
    name = _manifest_name(generation)
    manifest = Manifest.from_json(unseal((path / name).read_bytes(), name))
    if manifest.generation != generation:
        raise IndexDamaged(f"{name} is damaged: it holds generation {manifest.generation}.")
    return manifest


def _remove_unless_held(file: Path) -> set[str]:
    """Remove an old manifest, unless a reader holds it: then the ids of its segments, which are still needed."""
    descriptor = os.open(file, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.unlink()
        return set()
    except BlockingIOError:
        return {ref["id"] for ref in unseal(file.read_bytes(), file.name)["segments"]}
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """Remove a folder. A worker of a killed run may still be writing into it: the next writer removes the rest."""
    shutil.rmtree(folder, ignore_errors=True)
