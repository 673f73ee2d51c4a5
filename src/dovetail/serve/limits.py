"""What one client may ask of the server."""

from __future__ import annotations

import os
from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """All but `threads` are arbitrary: what a laptop of 16 GB does for several people at once."""

    upload_mb: int = 100  # of a file as it is sent
    table_mb: int = 500  # of a table in memory: an upload that is unpacked, a joined table
    rows: int = 5_000_000  # of a join
    seconds: float = 60.0  # of a question about tables
    lake_seconds: float = 900.0  # of a question about the whole lake, the first time
    sql_seconds: float = 10.0
    sql_mb: int = 1_000  # of memory
    hits: int = 1_000
    shown_rows: int = 10_000  # of a table, in one answer
    kept_mb: int = 2_000  # of uploads and results in memory and on disk
    threads: int = max(2, os.cpu_count() or 1)
    waiting: int = 256  # questions that wait for a thread

    @property
    def upload_bytes(self) -> int:
        return self.upload_mb * MB

    @property
    def table_bytes(self) -> int:
        return self.table_mb * MB
