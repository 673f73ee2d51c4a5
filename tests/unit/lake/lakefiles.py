"""Shared by the tests of reading: writing a file and reading it whole."""

from __future__ import annotations

from pathlib import Path

from dovetail.lake.reader import DialectOverride, Layout, Part, RowCounter, detect_layout, read

Rows = list[list[str | None]]


def written(folder: Path, name: str, content: str | bytes, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


def rows_of(path: Path, layout: Layout, part: Part | None = None, counter: RowCounter | None = None) -> Rows:
    rows: Rows = []
    for batch in read(path, layout, part, counter):
        assert tuple(batch.schema.names) == layout.columns
        rows += [list(row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]
    return rows


def table_of(path: Path, override: DialectOverride | None = None) -> tuple[tuple[str, ...], Rows]:
    layout = detect_layout(path, override)
    return layout.columns, rows_of(path, layout)
