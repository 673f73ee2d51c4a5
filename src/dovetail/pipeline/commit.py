"""Makes the next generation: new segments, and what the lake looks like as a whole with them."""

from __future__ import annotations

from typing import Any

from dovetail._storage.directory import IndexWriter
from dovetail._storage.segment import Segment, SegmentRef
from dovetail.catalog.statistics import statistics_of


def commit_segments(writer: IndexWriter, refs: tuple[SegmentRef, ...], last: bool = True, **changes: Any) -> None:
    """Commit; only the last commit of a run counts the lake anew, or a long run would count it over and over."""
    statistics = statistics_of([Segment(writer.segments, ref) for ref in refs]) if last else {}
    writer.commit(writer.manifest.next(segments=refs, statistics=statistics, **changes))
    writer.clean_segments()
