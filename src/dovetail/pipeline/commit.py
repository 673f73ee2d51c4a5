"""Makes the next generation, and with it what the lake looks like as a whole."""

from __future__ import annotations

from dataclasses import replace

from dovetail._storage.directory import IndexWriter
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import Segment
from dovetail.indexes.statistics import statistics_of


def commit(writer: IndexWriter, manifest: Manifest, last: bool = True) -> None:
    """Commit; only the last commit of a run counts the lake anew, or a long run would count it over and over."""
    segments = [Segment(writer.segments, ref) for ref in manifest.segments]
    writer.commit(replace(manifest, statistics=statistics_of(segments) if last else {}))
    writer.clean_segments()
