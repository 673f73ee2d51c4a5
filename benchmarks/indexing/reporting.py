"""What the reports of these benchmarks share: tables in Markdown, and what they were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

_PACKAGES = ("dovetail-lake", "pyspark", "pyarrow", "duckdb")


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    lines = [names, [":--"] + ["--:"] * (len(names) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """One line: cores, memory, and the versions that matter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory, Python {platform.python_version()}, {versions}."


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def emit(report: str, file: Path | None) -> None:
    """Print a report, and write it if a file is given."""
    print(report)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(report + "\n", encoding="utf-8")
