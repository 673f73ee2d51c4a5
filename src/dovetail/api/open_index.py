"""An open index: one generation of it, and what was decided about its columns."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from dovetail._storage.directory import Snapshot, open_snapshot
from dovetail.catalog.decisions import Decision, Decisions, read_decisions, with_declared
from dovetail.indexes.frozen import refuse_other_key
from dovetail.indexes.open_segment import OpenSegment, declared_joins
from dovetail.normalise.keyed import hash_key


class OpenIndex:
    """What all questions to an index are answered from."""

    def __init__(self, path: str | Path) -> None:
        self._snapshot: Snapshot = open_snapshot(path)
        refuse_other_key(self._snapshot.manifest.frozen, hash_key())
        self.segments = [OpenSegment(segment) for segment in self._snapshot.segments]

    @property
    def _decided(self) -> Decisions:
        """What databases declare, and what was decided so far: read for each question, so that it counts at once."""
        people = read_decisions(self._snapshot.store)
        return Decisions(with_declared(self._declared_joins, people)) if people else self._declared

    @cached_property
    def _declared_joins(self) -> tuple[Decision, ...]:
        """The foreign keys that databases declare."""
        return declared_joins(self.segments)

    @cached_property
    def _declared(self) -> Decisions:
        return Decisions(self._declared_joins)
