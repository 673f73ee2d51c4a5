"""The index directory: generations, the one writer, and snapshots for readers.

my-index/
  dovetail-index.json  the marker, see `marker.py`
  manifest-<N>.json    generation N, created only if absent, never replaced; readers of it hold a shared lock on it
  segments/<id>/       immutable; those that no manifest names are leftovers
  staging/             what a running build has read of big tables; empty at rest
  writer.lock          held by the one writer, released by the system when its process ends
  decisions.json       what people decided, see `catalog/decisions.py`; belongs to no generation, never removed
  members.json         what is in containers of the lake, see `pipeline/roots.py`; found out again where it is lost

In an object store nothing is locked. Which writer goes on is decided by who creates the next manifest, and what a
reader may still need is kept for a time: old generations, and segments that another writer may be about to commit.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from dovetail._objects import StoredObject
from dovetail._storage.manifest import Manifest
from dovetail._storage.marker import is_draft, mark_as_index, require_index
from dovetail._storage.sealed import seal, unseal
from dovetail._storage.segment import Segment, SegmentRef, is_segment_id
from dovetail._storage.store import Address, LocalStore, Store, open_store
from dovetail.errors import BuildFailed, IndexDamaged, InputError, NotAnIndex, WriterConflict

_MANIFEST = re.compile(r"manifest-(\d+)\.json")
SEGMENTS, QUESTIONS, _STAGING = "segments", "questions", "staging"
# Failures of the place we write to: trying again cannot help, and the user can mend it.
TARGET_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# Seconds after which what no manifest names is of no writer that is at work: a batch takes minutes, a day is safe.
_UNFINISHED = 86_400
_FETCHES = 16  # descriptions of segments at the same time; arbitrary, an object store answers each in some 0.02 s


@dataclass(frozen=True)
class Snapshot:
    """One generation. Its segments open their files when asked, and hold the generation until then."""

    store: Store
    manifest: Manifest
    segments: tuple[Segment, ...]


@dataclass
class Cleaned:
    """What a writer has removed: generations that nobody can ask for any more, and segments of none of the others."""

    generations: int = 0
    segments: int = 0
    bytes: int = 0


def open_snapshot(address: Address) -> Snapshot:
    """The newest generation. A writer may replace it meanwhile: then the still newer one is opened."""
    store = open_store(address)
    with _reachable(store):
        while True:
            generation = _require_generation(store)
            try:
                hold = store.hold(_manifest_name(generation))
                manifest = _read_manifest(store, generation)
                return Snapshot(store, manifest, _segments(store, manifest, hold))
            except FileNotFoundError as error:
                if newest_generation(store) == generation:
                    name = _manifest_name(generation)
                    raise IndexDamaged(f"{store.address} is damaged: {name} cannot be read.") from error


def open_segment(index: Address, ref: SegmentRef) -> Segment:
    """A segment of an index, which nobody may write to meanwhile."""
    return Segment(open_store(index).sub(SEGMENTS), ref)


def newest_manifest(index: Address) -> Manifest:
    store = open_store(index)
    return _read_manifest(store, _require_generation(store))


class IndexWriter:
    """The one writer of an index: sees the newest generation, writes segments beside it and commits the next."""

    def __init__(self, store: Store, manifest: Manifest, keep_hours: float) -> None:
        self.store = store
        self.manifest = manifest
        self.cleaned = Cleaned()
        self._keep_seconds = keep_hours * 3600
        run = _STAGING if store.is_local else f"{_STAGING}/{secrets.token_hex(8)}"  # of one writer among others
        self.shared = store.sub(run)
        """What a running build sets aside, for its driver and its workers."""

    def open_segments(self, manifest: Manifest) -> tuple[Segment, ...]:
        """The segments of a manifest, committed or not. They need no hold: only this writer could remove them."""
        return _segments(self.store, manifest)

    def snapshot(self) -> Snapshot:
        """The newest generation."""
        return Snapshot(self.store, self.manifest, self.open_segments(self.manifest))

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the newest generation, wholly or not at all."""
        try:
            self.store.put_if_absent(_manifest_name(manifest.generation), seal(manifest.to_json()))
        except FileExistsError:
            raise WriterConflict(
                f"Another writer has committed generation {manifest.generation} meanwhile. Run the command again."
            ) from None
        self.manifest = manifest

    def clean_segments(self, opening: bool = False) -> None:
        """Remove what nobody can ask for any more: old generations without a reader, drafts, and their segments."""
        files = {entry.name: entry for entry in self.store.entries(deep=False)}
        written = {int(match[1]): files[name].modified for name in files if (match := _MANIFEST.fullmatch(name))}
        if max(written, default=0) > self.manifest.generation:
            return  # another writer has moved on, or an interrupt came right after our commit
        needed = {ref.id for ref in self.manifest.segments}
        removed: set[str] = set()
        for generation in sorted(written)[:-1]:
            name = _manifest_name(generation)
            replaced = min(when for other, when in written.items() if other > generation)
            ids = set() if self.store.is_local else _segments_named(self.store, name)
            if time.time() - replaced >= self._keep_seconds and self.store.delete_unless_held(name):
                self.cleaned.generations += 1
                removed |= ids
            else:
                needed |= ids or _segments_named(self.store, name)
        drafts = [n for n in files if is_draft(n) or (n.startswith("manifest-") and not _MANIFEST.fullmatch(n))]
        self.store.delete(drafts)
        if self.store.is_local or removed or opening:
            self._remove_segments(needed, removed)

    def _remove_segments(self, needed: set[str], removed: set[str]) -> None:
        """Remove segments that are not needed: in an object store the old ones only, another writer may work there."""
        for id, files in _segment_files(self.store, needed).items():
            unfinished = time.time() - max((file.modified for file in files), default=0.0) < _UNFINISHED
            if self.store.is_local or id in removed or not unfinished:
                self.store.delete([f"{SEGMENTS}/{id}"] if self.store.is_local else [file.name for file in files])
                self.cleaned.segments += 1
                self.cleaned.bytes += sum(file.bytes for file in files)

    def clean_staging(self) -> None:
        """Remove what a build has set aside, its own or one that was killed; in an object store, what is old, too."""
        if self.store.is_local:
            self.store.delete([_STAGING])
            return
        own, old = self.shared.absolute.removeprefix(f"{self.store.absolute}/"), time.time() - _UNFINISHED
        found = (entry for folder in (_STAGING, QUESTIONS) for entry in self.store.entries(folder))
        self.store.delete(e.name for e in found if e.name.startswith(f"{own}/") or e.modified < old)


@contextlib.contextmanager
def open_writer(address: Address, create: bool = False, keep_hours: float | None = None) -> Iterator[IndexWriter]:
    """The one writer of an index; with `create`, an absent or empty folder becomes one.

    A generation is kept for `keep_hours` after the next one has come, by default as long as the store needs.
    """
    store = open_store(address)
    with contextlib.ExitStack() as working:
        try:
            if create:
                mark_as_index(store)
            else:
                _require_generation(store)
            if isinstance(store, LocalStore):
                (store.path / SEGMENTS).mkdir(exist_ok=True)
            working.enter_context(store.writing())
        except OSError as error:
            raise InputError(f"Cannot write to {store.address}: {error.strerror}.") from error
        try:
            generation = newest_generation(store)
            manifest = _read_manifest(store, generation) if generation else Manifest(0)
            writer = IndexWriter(store, manifest, store.keep_hours if keep_hours is None else keep_hours)
            writer.clean_segments(opening=True)
            writer.clean_staging()
            try:
                yield writer
            finally:
                writer.clean_segments()
                writer.clean_staging()
        except OSError as error:
            if error.errno in TARGET_FAILURES or not store.is_local:
                # Arrow's own sentence is long.
                reason = os.strerror(error.errno or 0) if store.is_local else error.strerror
                raise BuildFailed(f"Cannot write to {store.address}: {reason}. What was committed stays.") from error
            raise


@contextlib.contextmanager
def _reachable(store: Store) -> Iterator[None]:
    """Turns what an object store says into a sentence."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if store.is_local:
            raise
        raise InputError(f"Cannot read {error.filename}: {error.strerror}.") from error


def _segments(store: Store, manifest: Manifest, hold: object = None) -> tuple[Segment, ...]:
    folder = store.sub(SEGMENTS)
    segments = tuple(Segment(folder, ref, hold) for ref in manifest.segments)
    if not store.is_local:
        with ThreadPoolExecutor(_FETCHES) as threads:  # one after the other, each would wait for an answer
            list(threads.map(Segment.describe, segments))
    return segments


def _manifest_name(generation: int) -> str:
    return f"manifest-{generation}.json"


def newest_generation(store: Store) -> int:
    """0 where there is none."""
    matches = (_MANIFEST.fullmatch(entry.name) for entry in store.entries(deep=False))
    return max((int(match[1]) for match in matches if match), default=0)


def _require_generation(store: Store) -> int:
    require_index(store)
    generation = newest_generation(store)
    if generation == 0:
        raise NotAnIndex(
            f"{store.address} is an index without tables: its first build did not finish. "
            f"Run `dovetail index LAKE --to {store.address}` again."
        )
    return generation


def _read_manifest(store: Store, generation: int) -> Manifest:
    name = _manifest_name(generation)
    manifest = Manifest.from_json(unseal(store.read(name), name))
    if manifest.generation != generation:
        raise IndexDamaged(f"{name} is damaged: it holds generation {manifest.generation}.")
    return manifest


def _segments_named(store: Store, manifest: str) -> set[str]:
    return {ref["id"] for ref in unseal(store.read(manifest), manifest)["segments"]}


def _segment_files(store: Store, without: set[str]) -> dict[str, list[StoredObject]]:
    """The files of every segment but these, by its id."""
    if isinstance(store, LocalStore):
        ids = (path.name for path in (store.path / SEGMENTS).iterdir() if is_segment_id(path.name))
        return {id: list(store.entries(f"{SEGMENTS}/{id}")) for id in ids if id not in without}
    found: dict[str, list[StoredObject]] = {}
    for entry in store.entries(SEGMENTS):
        id = entry.name.split("/")[1]
        if is_segment_id(id) and id not in without:
            found.setdefault(id, []).append(entry)
    return found
