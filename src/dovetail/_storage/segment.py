"""A segment: some tables, whole, with their catalog rows and every index over them. Immutable once written.

    segments/<id>/segment.json     sealed: versions, counts, and length and checksum of each pack
    segments/<id>/<part>.dvt       one pack for the catalog and one for each index

The id is drawn anew by every attempt to write a segment, so that two attempts at the same work never meet.
"""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dovetail._storage.pack import SUFFIX, Pack, PackWriter
from dovetail._storage.sealed import REBUILD, checksum_of, seal, sync_folder, unseal, write_durably
from dovetail._storage.store import Address, open_store
from dovetail.errors import FormatMismatch, IndexDamaged, InputError

SEGMENT_VERSION = 2
DESCRIPTION = "segment.json"
_PART = re.compile(r"[a-z_]+")


def is_segment_id(name: str) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[0-9a-f]{16}", name) is not None


@dataclass(frozen=True)
class SegmentRef:
    """How a manifest names a segment: its id, what makes it unmistakable, and which of its tables are dead.

    `totals` are those of its live tables; empty until the segment is committed, and wherever `dead` has changed since.
    """

    id: str
    checksum: str
    tables: int
    dead: tuple[int, ...] = ()
    totals: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "dead": list(self.dead)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> SegmentRef:
        if not is_segment_id(values["id"]):  # a part of paths
            raise IndexDamaged(f"The manifest is damaged: {values['id']!r} is no segment.")
        return cls(**{**values, "dead": tuple(values["dead"])})


def new_segment_id() -> str:
    return secrets.token_hex(8)  # see is_segment_id


def describe_segment(
    id: str, counts: dict[str, int], parts: dict[str, dict[str, Any]], without: Iterable[str] = ()
) -> tuple[SegmentRef, bytes]:
    """How a manifest names the segment, and the content of its description. `without` are parts left out on purpose."""
    data = seal({"version": SEGMENT_VERSION, "id": id, "counts": counts, "parts": parts, "without": sorted(without)})
    return SegmentRef(id, checksum_of(data), counts["tables"]), data


class SegmentWriter:
    """Writes the packs of one segment and, last, its description.

    Where several tasks write packs of one segment, each has a writer of its own with the id of all, and is lent the
    packs of the others that it needs.
    """

    def __init__(self, segments: Path, id: str | None = None, without: Iterable[str] = ()) -> None:
        """`without` are the parts that are left out on purpose."""
        self._without = sorted(without)
        self.id = id or new_segment_id()
        self.folder = segments / self.id
        self.folder.mkdir(parents=True)
        self.parts: dict[str, dict[str, Any]] = {}
        """Of each pack that is written its version, its length in bytes and its checksum."""
        self._lent: dict[str, Pack] = {}

    def write_part(self, name: str, version: int, write: Callable[[PackWriter], None]) -> None:
        """Write the pack `name` through `write`, and remember it for the description."""
        path = self.folder / (name + SUFFIX)
        with PackWriter(path, name, version, self.id) as pack:
            write(pack)
        self.parts[name] = {
            "version": version,
            "bytes": path.stat().st_size,
            "checksum": f"{pack.checksum:016x}",
        }

    def pack(self, name: str) -> Pack:
        """A part that is already written: later indexes may build on earlier ones."""
        if name in self._lent:
            return self._lent[name]
        return Pack(self.folder / (name + SUFFIX), name, self.parts[name]["version"])

    def lend(self, pack: Pack) -> None:
        """Let what follows read a pack of this segment that another task has written."""
        self._lent[pack.name] = pack

    def finish(self, counts: dict[str, int]) -> SegmentRef:
        ref, data = describe_segment(self.id, counts, self.parts, self._without)
        write_durably(self.folder / DESCRIPTION, data)
        sync_folder(self.folder)
        sync_folder(self.folder.parent)
        return ref


class Segment:
    """A segment of an index. Its description and its packs are opened when they are first asked for.

    `hold` is what keeps a writer from removing the files meanwhile; it lives as long as this does.
    """

    def __init__(self, segments: Address, ref: SegmentRef, hold: object = None) -> None:
        self.ref = ref
        self._store = open_store(segments)
        self._hold = hold
        self._packs: dict[str, Pack] = {}

    def describe(self) -> None:
        """Read the description now; whoever asks for it later need not wait."""
        _ = self._description

    @property
    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = self._description["counts"]
        return counts

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """Of each pack its version, its length in bytes and its checksum."""
        parts: dict[str, dict[str, Any]] = self._description["parts"]
        return parts

    @property
    def without(self) -> list[str]:
        """The parts that were left out on purpose."""
        without: list[str] = self._description["without"]
        return without

    def pack(self, name: str) -> Pack:
        if name not in self._packs:
            if name in self.without:
                index = self._store.address.removesuffix("/segments")
                raise InputError(
                    f"The index was made without {name}; `dovetail compact {index} --with {name}` adds it."
                )
            if name not in self.parts:
                raise FormatMismatch(f"Segment {self.ref.id} has no {name}: another Dovetail wrote it. {REBUILD}")
            with self._missing_is_damage(name + SUFFIX):
                path = self._store.local_file(self._name(name + SUFFIX), functools.partial(self._is_whole, name))
                self._packs[name] = self._opened(path, name)
        return self._packs[name]

    def _opened(self, path: Path, name: str) -> Pack:
        """A pack. What it says of damage names its file alone, and every segment has one of that name."""
        try:
            return Pack(path, name, self.parts[name]["version"])
        except (IndexDamaged, FormatMismatch) as error:
            raise type(error)(f"{self.ref.id}/{error}") from error

    def damage(self, names: Iterable[str] | None = None) -> list[str]:
        """What is wrong with these parts, by default with all; empty where every byte is as it was written."""
        found = []
        for name in self.parts if names is None else names:
            pack, stated = self.pack(name), self.parts[name]
            if not pack.is_whole():
                found.append(f"{self.ref.id}/{name}{SUFFIX}: the content does not match its checksum")
            elif pack.segment != self.ref.id or f"{pack.checksum:016x}" != stated["checksum"]:
                found.append(f"{self.ref.id}/{name}{SUFFIX}: a whole file, but of another segment")
        return found

    @functools.cached_property
    def _description(self) -> dict[str, Any]:
        with self._missing_is_damage(DESCRIPTION):
            path = self._store.local_file(self._name(DESCRIPTION), self._is_described)
            data = path.read_bytes()
        if checksum_of(data) != self.ref.checksum:
            raise IndexDamaged(f"{self.ref.id}/{DESCRIPTION} is damaged: it is not the one that the manifest names.")
        description = unseal(data, f"{self.ref.id}/{DESCRIPTION}")
        if description["version"] != SEGMENT_VERSION:
            raise FormatMismatch(
                f"Segment {self.ref.id} has format {description['version']}; this Dovetail reads format "
                f"{SEGMENT_VERSION}. {REBUILD}"
            )
        if not all(map(_PART.fullmatch, description["parts"])):  # names of files
            raise IndexDamaged(f"{self.ref.id}/{DESCRIPTION} is damaged: it names parts that are none.")
        return description

    def _name(self, file: str) -> str:
        return f"{self.ref.id}/{file}"

    def _is_described(self, path: Path) -> bool:
        return checksum_of(path.read_bytes()) == self.ref.checksum

    def _is_whole(self, name: str, path: Path) -> bool:
        """Whether a pack that was fetched is the one that the description names."""
        pack = Pack(path, name, self.parts[name]["version"])
        return pack.is_whole() and f"{pack.checksum:016x}" == self.parts[name]["checksum"]

    @contextlib.contextmanager
    def _missing_is_damage(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise IndexDamaged(
                f"{self.ref.id}/{name} is missing: the index is damaged, or was rewritten after it was opened on a "
                "file system without locks."
            ) from error
