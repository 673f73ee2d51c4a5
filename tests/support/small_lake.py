"""A lake of a few small tables."""

from __future__ import annotations

from pathlib import Path


def write_lake(folder: Path, tables: list[list[tuple[str, ...]]]) -> Path:
    """Tables t0.csv, t1.csv, … of three columns."""
    lake = folder / "lake"
    lake.mkdir()
    for number, rows in enumerate(tables):
        lines = ["one,two,three", *(",".join(f'"{cell}"' for cell in row) for row in rows)]
        (lake / f"t{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lake
