"""How a run of Spark on this machine stays within an amount of memory: how many workers it has, and what each takes.

Measured on 15,128 tables of 143 MB: the driver takes up to 280 MB, Java 350 MB, and a worker 600 MB for a segment of
72 MB of raw tables. A worker of segments of 37 MB takes 460 MB, and one of a few tables 240.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass

from dovetail._spark.session import SparkRequest
from dovetail.errors import InputError
from dovetail.settings import DEFAULTS, MB, Settings

_DRIVER_AND_JAVA_MB = 700
_WORKER_MB = 650  # with the settings below, about
_LEAST_WORKER_MB = 500
_JAVA_HEAP_MB = 512  # little more than the least with which Spark starts
# What of a worker's memory is given to raw tables of a segment, to a slice and to sorting: so that a worker stayed
# below its part on the tables above, and otherwise arbitrary.
_SEGMENT_SHARE, _SLICE_SHARE, _SORTING_SHARE = 1 / 8, 1 / 16, 1 / 16


@dataclass(frozen=True)
class Budget:
    """What a run may take, in megabytes, on a machine with so many cores."""

    memory_mb: int
    cores: int

    @classmethod
    def of(cls, limit: int) -> Budget:
        budget = cls(limit // MB, os.cpu_count() or 1)
        if budget.memory_mb < _DRIVER_AND_JAVA_MB + _LEAST_WORKER_MB:
            raise InputError(
                f"Indexing needs at least {_DRIVER_AND_JAVA_MB + _LEAST_WORKER_MB} MB of memory: {_DRIVER_AND_JAVA_MB} "
                f"for Spark and {_LEAST_WORKER_MB} for one worker."
            )
        return budget

    @property
    def workers(self) -> int:
        return max(1, min(self.cores, (self.memory_mb - _DRIVER_AND_JAVA_MB) // _WORKER_MB))

    @property
    def worker_mb(self) -> int:
        return (self.memory_mb - _DRIVER_AND_JAVA_MB) // self.workers

    def settings(self, given: Settings) -> Settings:
        """The settings of a run, where they are not given: never larger than by default."""
        shares = {"segment_mb": _SEGMENT_SHARE, "slice_mb": _SLICE_SHARE, "memory_mb": _SORTING_SHARE}
        smaller = {
            name: max(1, min(getattr(DEFAULTS, name), int(self.worker_mb * share)))
            for name, share in shares.items()
            if getattr(given, name) == getattr(DEFAULTS, name)
        }
        return dataclasses.replace(given, **smaller)

    def spark(self, given: SparkRequest) -> SparkRequest:
        """The session of a run, where none is given: what runs on a cluster has its own limits."""
        if given.session is not None or given.master is not None:
            return given
        conf = {"spark.driver.memory": f"{_JAVA_HEAP_MB}m"} | dict(given.conf)
        return SparkRequest(None, f"local[{self.workers},4]", conf)


def within_memory(limit: int | None, settings: Settings, spark: SparkRequest) -> tuple[Settings, SparkRequest]:
    """Settings and session of a run that is to take at most `limit` bytes; as they are without a limit."""
    if limit is None:
        return settings, spark
    budget = Budget.of(limit)
    return budget.settings(settings), budget.spark(spark)
