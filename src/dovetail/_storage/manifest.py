"""The manifest: one generation of an index, as a value.

Everything that must be the same over all segments is frozen here: settings, the normaliser and its Unicode tables, and
what indexes have settled when the first tables came.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail._storage.segment import SegmentRef
from dovetail.errors import FormatMismatch
from dovetail.normalise import NORMALISER_VERSION, UNICODE_VERSION
from dovetail.settings import Settings

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Manifest:
    """Which segments make up the index, where its tables come from, and what was frozen when it was created."""

    generation: int
    segments: tuple[SegmentRef, ...] = ()
    roots: tuple[dict[str, Any], ...] = ()
    settings: Settings = field(default_factory=Settings)
    statistics: dict[str, int] = field(default_factory=dict)  # of the whole lake, dead tables left out
    frozen: dict[str, dict[str, Any]] = field(default_factory=dict)  # by index; empty before the first tables come

    def next(self, **changes: Any) -> Manifest:
        return replace(self, generation=self.generation + 1, **changes)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "normaliser": NORMALISER_VERSION,
            "unicode": UNICODE_VERSION,
            "generation": self.generation,
            "settings": self.settings.to_json(),
            "statistics": self.statistics,
            "frozen": self.frozen,
            "roots": list(self.roots),
            "segments": [segment.to_json() for segment in self.segments],
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Manifest:
        _refuse_other("index format", body["format"], FORMAT_VERSION)
        _refuse_other("normaliser", body["normaliser"], NORMALISER_VERSION)
        missing = [name for name in ("settings", "statistics", "frozen", "roots", "segments") if name not in body]
        if missing:
            raise FormatMismatch(
                f"The index says nothing of {', '.join(missing)}: another Dovetail has written it. Build it again with "
                "`dovetail index`."
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
            settings=Settings.from_json(body["settings"]),
            statistics=body["statistics"],
            frozen=body["frozen"],
        )


def _refuse_other(what: str, found: int, known: int) -> None:
    if found != known:
        raise FormatMismatch(
            f"The index was written with {what} {found}; this Dovetail knows {what} {known}. "
            "Build it again with `dovetail index`, or use the Dovetail that wrote it."
        )
