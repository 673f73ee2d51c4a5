"""The foreign keys and candidate keys of one generation of an index: found at the first question, then kept.

They are kept in a pack beside the index, or in the user's cache folder where the index is read-only or in an object
store. Its name says for which generation, segments and version of the scores it holds: another one is never read for an
answer, and a damaged one is ignored. What a new generation can reuse are the comparisons of rows, which take most of
the time: segments are immutable, so columns of segments that both generations have share the same combinations.

    <index>/answers/keys-<generation>-<scores version>-<digest of the segments>.dvt
    $XDG_CACHE_HOME/dovetail/<digest of the index's path>/…      with the path itself in `index`
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._interrupt import tidied
from dovetail._objects import is_remote
from dovetail._progress import Progress, silent
from dovetail._storage.cache import user_cache
from dovetail._storage.directory import Snapshot
from dovetail._storage.pack import SUFFIX, Pack, PackWriter
from dovetail._storage.sealed import checksum_of
from dovetail._storage.store import LocalStore
from dovetail.errors import FormatMismatch, IndexDamaged
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.candidate_keys import CandidateKeyTable
from dovetail.graph.composite_keys import Pairing, arrays_of_overlaps, overlaps_of_arrays
from dovetail.graph.find_keys import LakeKeys, find_keys
from dovetail.graph.foreign_keys import ForeignKeyTable
from dovetail.graph.row_tuples import TupleOverlap
from dovetail.graph.score import SCORES_VERSION
from dovetail.indexes.tokens.format import running_sum

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest

_NAME, _VERSION = "keys", 1
_FOLDER = "answers"
_FILE = re.compile(rf"keys-(\d+)-(\d+)-([0-9a-f]+){re.escape(SUFFIX)}")
_DRAFT = ".draft"
_OLD_DRAFT = 3600.0  # seconds after which a draft belongs to a process that was killed


def lake_keys(
    snapshot: Snapshot, columns: LakeColumns, progress: Progress = silent, spark: SparkRequest | None = None
) -> LakeKeys:
    """The keys of a snapshot: the kept ones, or else found, on Spark if that is asked for, and kept."""
    place = _Place(snapshot)
    kept = place.load()
    if kept is not None:
        return kept
    known = place.reusable(columns)
    if spark is None or not snapshot.segments:
        found = find_keys(columns, known, progress)
    else:
        from dovetail.graph.find_keys import keys_on_spark

        found = keys_on_spark(snapshot, columns, known, spark, progress)
    place.save(found, columns)
    return found


class _Place:
    """Where the keys of one snapshot are kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._generation = snapshot.manifest.generation
        self._segments = [ref.to_json() for ref in snapshot.manifest.segments]
        store = snapshot.store
        local = store.path.resolve() if isinstance(store, LocalStore) else None
        self._index = str(local or store.address)
        in_cache = user_cache() / checksum_of(os.fsencode(self._index))
        self._folders = (local / _FOLDER, in_cache) if local else (in_cache,)
        digest = checksum_of(json.dumps(self._segments, sort_keys=True).encode())
        self._file = f"keys-{self._generation}-{SCORES_VERSION}-{digest}{SUFFIX}"

    def load(self) -> LakeKeys | None:
        for folder in self._folders:
            pack = _whole_pack(folder / self._file)
            if pack is not None:
                return LakeKeys(
                    _table(ForeignKeyTable, pack, "foreign"), _table(CandidateKeyTable, pack, "candidate"), {}
                )
        return None

    def reusable(self, columns: LakeColumns) -> dict[Pairing, TupleOverlap]:
        """The overlaps of another generation's keys, as far as its segments are still there."""
        for file in self._others():
            pack = _whole_pack(file)
            if pack is not None:
                return dict(_renumbered(pack, self._segments, columns))
        return {}

    def _others(self) -> Iterator[Path]:
        """Kept keys of older generations, the newest first."""
        files = [file for folder in self._folders for file in _kept_files(folder)]
        yield from sorted(files, key=lambda file: -_generation(file))

    def save(self, found: LakeKeys, columns: LakeColumns) -> None:
        """Keep the keys; a failure costs the next question time and nothing else."""
        failure: OSError | None = None
        for folder in self._folders:
            in_cache = folder.name != _FOLDER
            if any(_generation(file) > self._generation for file in _kept_files(folder)):
                return  # the index has moved on, and nobody will ask for this generation any more
            try:
                folder.mkdir(parents=in_cache, exist_ok=True)
                if in_cache:
                    (folder / "index").write_bytes(os.fsencode(self._index))
                self._write(folder, found, columns)
            except OSError as error:
                failure = error
            else:
                _clean(folder, self._file)
                if in_cache:
                    _clean_cache(folder.parent)
                return
        warnings.warn(f"The keys could not be kept and will be found again next time: {failure}.", stacklevel=2)

    def _write(self, folder: Path, found: LakeKeys, columns: LakeColumns) -> None:
        draft = folder / f"{secrets.token_hex(8)}{_DRAFT}"
        with tidied(lambda: draft.unlink(missing_ok=True)):
            with PackWriter(draft, _NAME, _VERSION, _FOLDER) as pack:
                _add_table(pack, "foreign", found.foreign_keys)
                _add_table(pack, "candidate", found.candidates)
                for name, array in arrays_of_overlaps(found.overlaps).items():
                    pack.add(_OVERLAP + name, array.reshape(-1))
                counts = np.diff(columns.offsets).tolist()
                segments = [[ref["id"], count] for ref, count in zip(self._segments, counts, strict=True)]
                pack.add("segments", np.frombuffer(json.dumps(segments).encode(), np.uint8))
            draft.replace(folder / self._file)


def _add_table(pack: PackWriter, prefix: str, table: ForeignKeyTable | CandidateKeyTable) -> None:
    for field in fields(table):
        values = getattr(table, field.name)
        pack.add(f"{prefix}_{field.name}", values if field.name == "score" else values.astype(np.int64))


def _table(kind: Any, pack: Pack, prefix: str) -> Any:
    return kind(**{field.name: pack[f"{prefix}_{field.name}"] for field in fields(kind)})


_OVERLAP = "overlap_"


def _renumbered(
    pack: Pack, segments: Sequence[dict[str, Any]], columns: LakeColumns
) -> Iterator[tuple[Pairing, TupleOverlap]]:
    """The overlaps of a pack between columns that are still there, with the column numbers of today."""
    first_now = {ref["id"]: int(first) for ref, first in zip(segments, columns.offsets[:-1], strict=True)}
    before = json.loads(pack["segments"].tobytes())
    number = np.concatenate(
        [np.empty(0, np.int64)]
        + [np.arange(count) + first_now[id] if id in first_now else np.full(count, -1) for id, count in before]
    )
    arrays = {name: pack[_OVERLAP + name] for name in ("offsets", "dependent", "referenced", "counts")}
    dependent, referenced = number[arrays["dependent"]], number[arrays["referenced"]]
    gone = running_sum((dependent < 0) | (referenced < 0))[arrays["offsets"]]
    still = np.flatnonzero(gone[1:] == gone[:-1])
    yield from overlaps_of_arrays(**arrays | {"dependent": dependent, "referenced": referenced}, places=still)


def _whole_pack(path: Path) -> Pack | None:
    """The pack, unless it is missing, damaged or of another version."""
    try:
        pack = Pack(path, _NAME, _VERSION)
        return pack if pack.is_whole() else None
    except (OSError, IndexDamaged, FormatMismatch):
        return None  # as good as none: the keys are found again, and the file is replaced


def _kept_files(folder: Path) -> list[Path]:
    return [file for file in folder.glob(f"keys-*{SUFFIX}") if _FILE.fullmatch(file.name)]


def _generation(file: Path) -> int:
    found = _FILE.fullmatch(file.name)
    assert found is not None
    return int(found[1])


def _clean(folder: Path, newest: str) -> None:
    """Remove the keys of former generations, and drafts of processes that were killed."""
    for file in _kept_files(folder):
        if file.name != newest:
            file.unlink(missing_ok=True)
    for draft in folder.glob(f"*{_DRAFT}"):
        with contextlib.suppress(FileNotFoundError):  # another process has just finished it
            if time.time() - draft.stat().st_mtime > _OLD_DRAFT:
                draft.unlink()


def _clean_cache(cache: Path) -> None:
    """Remove what is kept for indexes that are gone."""
    for note in cache.glob("*/index"):
        index = os.fsdecode(note.read_bytes())
        if not is_remote(index) and not Path(index).exists():
            shutil.rmtree(note.parent, ignore_errors=True)
