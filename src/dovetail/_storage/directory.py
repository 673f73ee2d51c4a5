"""The index directory: generations, the one writer, and snapshots for readers.

my-index/
  manifest-<N>.json    generation N, created only if absent, never replaced
  segments/<id>/       immutable; those that no manifest names are leftovers
  staging/             what a running build has read of big tables; empty at rest
  writer.lock          held by the one writer, released by the system when its process ends
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail._storage.manifest import Manifest
from dovetail._storage.sealed import seal, sync_folder, unseal, write_durably
from dovetail._storage.segment import Segment, SegmentRef
from dovetail.errors import BuildFailed, IndexDamaged, InputError, NotAnIndex, WriterConflict

_MANIFEST = re.compile(r"manifest-(\d+)\.json")
_LOCK, _SEGMENTS, _STAGING = "writer.lock", "segments", "staging"
# Failures of the place we write to: trying again cannot help, and the user can mend it.
TARGET_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Snapshot:
    """One generation with all of its files open."""

    path: Path
    manifest: Manifest
    segments: tuple[Segment, ...]


def open_snapshot(path: Path) -> Snapshot:
    """The newest generation. A writer may replace it meanwhile: then the still newer one is opened."""
    while True:
        generation = _require_generation(path)
        try:
            manifest = _read_manifest(path, generation)
            return Snapshot(path, manifest, tuple(Segment(path / _SEGMENTS, ref) for ref in manifest.segments))
        except FileNotFoundError as error:
            if _newest_generation(path) == generation:
                missing = Path(error.filename).relative_to(path)
                raise IndexDamaged(f"{path} is damaged: {missing} is missing.") from error


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

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the newest generation, wholly or not at all."""
        name = f"manifest-{manifest.generation}.json"
        draft = self.path / f"{name}.{secrets.token_hex(4)}"
        write_durably(draft, seal(manifest.to_json()))
        try:
            os.link(draft, self.path / name)
            self.manifest = manifest  # at once: an interrupt from here on must not take it for a leftover
        except FileExistsError:
            raise WriterConflict(
                f"Another writer has committed generation {manifest.generation} meanwhile. Run the command again."
            ) from None
        finally:
            draft.unlink()
        sync_folder(self.path)

    def clean_segments(self) -> None:
        """Remove what no new reader can ask for any more: old generations, drafts, segments that none names."""
        if _newest_generation(self.path) > self.manifest.generation:
            return  # another writer has moved on, and what is here is its own
        named = {segment.id for segment in self.manifest.segments}
        newest = f"manifest-{self.manifest.generation}.json"
        for file in self.path.glob("manifest-*"):
            if file.name != newest:
                file.unlink()
        for folder in self.segments.glob("*"):
            if folder.name not in named:
                _remove(folder)

    def clean_staging(self) -> None:
        """Remove what a build has set aside, its own or one that was killed."""
        _remove(self.staging)


@contextlib.contextmanager
def open_writer(path: Path, create: Manifest | None = None) -> Iterator[IndexWriter]:
    """The one writer of the index at `path`; with `create`, an absent index begins as that generation 0."""
    if create is None:
        _require_generation(path)
    _refuse_foreign_folder(path)
    try:
        (path / _SEGMENTS).mkdir(parents=True, exist_ok=True)
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
        manifest = _read_manifest(path, generation) if generation else create
        assert manifest is not None
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
            raise BuildFailed(f"Cannot write to {path}: {error.strerror}. What was committed stays.") from error
        raise
    finally:
        os.close(lock)


def _newest_generation(path: Path) -> int:
    """0 where there is none."""
    if not path.is_dir():
        return 0
    matches = (_MANIFEST.fullmatch(entry.name) for entry in path.iterdir())
    return max((int(match[1]) for match in matches if match), default=0)


def _require_generation(path: Path) -> int:
    generation = _newest_generation(path)
    if generation == 0:
        raise NotAnIndex(f"{path} holds no index. Make one with `dovetail index LAKE --to {path}`.")
    return generation


def _read_manifest(path: Path, generation: int) -> Manifest:
    name = f"manifest-{generation}.json"
    manifest = Manifest.from_json(unseal((path / name).read_bytes(), name))
    if manifest.generation != generation:
        raise IndexDamaged(f"{name} is damaged: it holds generation {manifest.generation}.")
    return manifest


def _remove(folder: Path) -> None:
    """Remove a folder. A worker of a killed run may still be writing into it: the next writer removes the rest."""
    shutil.rmtree(folder, ignore_errors=True)


def _refuse_foreign_folder(path: Path) -> None:
    """Never scatter an index among somebody's files."""
    if path.is_file():
        raise InputError(f"{path} is a file; --to takes a folder for the index.")
    ours = {_LOCK, _SEGMENTS, _STAGING, "answers"}  # the last holds kept answers, see graph/lake_keys.py
    if path.is_dir():
        for entry in path.iterdir():
            if entry.name not in ours and not entry.name.startswith("manifest-"):
                raise InputError(f"{path} holds other files ({entry.name}); choose an empty or new folder.")
