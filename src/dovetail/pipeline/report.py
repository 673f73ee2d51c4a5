"""What a run did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dovetail.indexes.statistics import Skipped


@dataclass
class Report:
    """What a run did, and what the index holds after it."""

    generation: int = 0
    segments: int = 0
    tables: int = 0
    columns: int = 0
    rows: int = 0
    values: int = 0
    bytes: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    spark_start_seconds: float = 0.0
    skipped: list[Skipped] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "skipped": [vars(skipped) for skipped in self.skipped]}
