"""The manifest: one generation of an index, as a value.

What must be the same over all segments is frozen here when the first tables come: the normaliser with its Unicode
tables, and the parameters of single indexes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail._storage.sealed import REBUILD
from dovetail._storage.segment import SegmentRef
from dovetail.errors import FormatMismatch, IndexDamaged
from dovetail.normalise import NORMALISER_VERSION, UNICODE_VERSION


@dataclass(frozen=True)
class Manifest:
    """Which segments make up the index, where its tables come from, and what was frozen when it was created."""

    generation: int
    segments: tuple[SegmentRef, ...] = ()
    roots: tuple[dict[str, Any], ...] = ()
    statistics: dict[str, int] = field(default_factory=dict)  # of the whole lake, dead tables left out
    frozen: dict[str, dict[str, Any]] = field(default_factory=dict)  # by index; empty before the first tables come

    def next(self, **changes: Any) -> Manifest:
        return replace(self, generation=self.generation + 1, **changes)

    def to_json(self) -> dict[str, Any]:
        return {
            "normaliser": NORMALISER_VERSION,
            "unicode": UNICODE_VERSION,
            "generation": self.generation,
            "statistics": self.statistics,
            "frozen": self.frozen,
            "roots": list(self.roots),
            "segments": [segment.to_json() for segment in self.segments],
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Manifest:
        try:
            return cls._from_json(body)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise IndexDamaged(f"The manifest is damaged: {error!r}.") from error

    @classmethod
    def _from_json(cls, body: dict[str, Any]) -> Manifest:
        if body["normaliser"] != NORMALISER_VERSION:
            raise FormatMismatch(
                f"The index was written with normaliser {body['normaliser']}; this Dovetail has normaliser "
                f"{NORMALISER_VERSION}. {REBUILD}"
            )
        if body["unicode"] != UNICODE_VERSION:
            warnings.warn(
                f"The index was written with Unicode {body['unicode']} and is read with {UNICODE_VERSION}: "
                "values with characters that are new between the two may not match.",
                stacklevel=2,
            )
        return cls(
            generation=body["generation"],
            segments=tuple(SegmentRef.from_json(segment) for segment in body["segments"]),
            roots=tuple(body["roots"]),
            statistics=body["statistics"],
            frozen=body["frozen"],
        )
