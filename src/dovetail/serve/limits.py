"""What one client may ask of the server."""

from __future__ import annotations

import os
from dataclasses import dataclass

MB = 1_000_000
_MOST_PROCESSES = 8  # unless asked for: each has some 150 MB of its own


def processes_by_cores() -> int:
    """One for each core that this process may use."""
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)


@dataclass(frozen=True)
class Limits:
    """Arbitrary: what a laptop of 16 GB does for several people at once."""

    upload_mb: int = 100  # of a file as it is sent
    table_mb: int = 500  # of a table in memory: an upload that is unpacked, a joined table
    rows: int = 5_000_000  # of a join
    seconds: float = 60.0  # of a question about tables
    lake_seconds: float = 900.0  # of a question about the whole lake, the first time
    sql_seconds: float = 10.0
    sql_mb: int = 1_000  # of memory
    hits: int = 1_000
    shown_rows: int = 10_000  # of a table, in one answer
    kept_mb: int = 2_000  # of uploads and results on disk
    kept_tables: int = 1_000  # uploads and results on disk, however small
    kept_steps: int = 10_000  # of results that had to make room, and can be made again
    opened_mb: int = 1_000  # of uploads and results in memory
    downloads: int = 32  # at the same time
    answers_mb: int = 100  # of answers to questions about tables, in memory
    processes: int = 0  # that answer questions about tables; 0: threads of the server do
    threads: int = 8  # that look things up
    lake_threads: int = 2  # for questions about the whole lake
    waiting: int = 256  # questions of each kind that wait

    @property
    def upload_bytes(self) -> int:
        return self.upload_mb * MB

    @property
    def table_bytes(self) -> int:
        return self.table_mb * MB
