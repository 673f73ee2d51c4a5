"""Failures as a client sees them: one sentence and a status code, never a traceback."""

from __future__ import annotations

import logging
import os

from dovetail._storage.pack import damage_of_open_packs
from dovetail.errors import DovetailError, IndexDamaged, UnknownName, WriterConflict


class Refused(DovetailError):
    """The server does not do this; `status` says in HTTP why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str]]:
        return type(self), (self.status, str(self))


class Busy(Refused):
    """Too many questions wait; `seconds` is when to try again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(BUSY, f"The server is busy. Try again in {seconds} seconds.")
        self.seconds = seconds


BAD_REQUEST, UNAUTHORISED, FORBIDDEN, NOT_FOUND, GONE, LENGTH_REQUIRED, TOO_LARGE = 400, 401, 403, 404, 410, 411, 413
FAILED, BUSY, OUT_OF_TIME = 500, 503, 504
UNEXPECTED = "Something went wrong on the server; its log says what."
UNAVAILABLE = "The server cannot use one of its files now; its log says which. Try again later."
_log = logging.getLogger("dovetail.serve")

_STATUS: tuple[tuple[type[DovetailError], int], ...] = (
    (UnknownName, NOT_FOUND),
    (WriterConflict, BUSY),
    (IndexDamaged, FAILED),
)


def status_of(error: DovetailError) -> int:
    if isinstance(error, Refused):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), BAD_REQUEST)


def explained(error: Exception, what: str) -> DovetailError:
    """What a client is told of a failure. The log has what no client needs to know; of a bug, the traceback, too."""
    if isinstance(error, DovetailError):
        return error
    damage = damage_of_open_packs()
    if damage:
        _log.error("%s failed: %s", what, damage)
        return Refused(FAILED, damage)
    if isinstance(error, OSError) and error.filename is not None:  # a disk or a store, as on the command line
        _log.error("%s failed: cannot use %s: %s", what, os.fsdecode(error.filename), error.strerror)
        return Refused(BUSY, UNAVAILABLE)
    _log.error("%s failed", what, exc_info=error)
    return Refused(FAILED, UNEXPECTED)
