"""All that an index says of its lake, as plain values that two indexes can be compared by."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from dovetail._storage.directory import newest_manifest
from dovetail._storage.marker import MARKER
from dovetail.api.lake import Lake

Contents = dict[str, dict[str, Any]]


def contents_of(index: Path | Lake) -> Contents:
    """For each live table its record, its columns' records, their sets with the rows of each token, and its rows."""
    lake = index if isinstance(index, Lake) else Lake(index)
    found: Contents = {}
    for segment in lake.segments:
        for number, alive in enumerate(segment.alive):
            if not alive:
                continue
            record = segment.catalog.table(number)
            assert record.table not in found, "a table is alive only once"
            found[record.table] = {
                "table": dataclasses.replace(record, path=""),
                "columns": segment.catalog.columns_of(number),
                "sets": [_set_of(segment, column) for column in segment.catalog.column_range(number)],
                "rows": [_rows_of(segment, column) for column in segment.catalog.column_range(number)],
            }
    return found


def leftovers(index: Path) -> set[str]:
    """What is in the folder of an index at rest and should not be."""
    manifest = newest_manifest(index)
    expected = {MARKER, f"manifest-{manifest.generation}.json", "segments", "writer.lock"}
    expected |= {f"segments/{segment.id}" for segment in manifest.segments}
    present = {entry.name for entry in index.iterdir()}
    present |= {f"segments/{entry.name}" for entry in (index / "segments").iterdir()}
    return present - expected


def _rows_of(segment: Any, column: int) -> list[str | None]:
    names = segment.tokens.tokens(segment.tokens.set_of(column)[0]).to_pylist()
    return [names[code] if code >= 0 else None for code in segment.rows.codes(column).tolist()]


def _set_of(segment: Any, column: int) -> dict[str, int]:
    ids, counts = segment.tokens.set_of(column)
    return dict(zip(segment.tokens.tokens(ids).to_pylist(), counts.tolist(), strict=True))
