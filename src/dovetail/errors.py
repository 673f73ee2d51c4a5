"""What can go wrong, as one tree. Every message says what was found, what is allowed and what to do next.

DovetailError
├── InputError               the request cannot be carried out as given (exit code 2)
│   ├── NotAnIndex           the path holds no index
│   ├── UnknownName          a table or column that the index does not have
│   └── SourceUnreachable    a place where tables live does not answer, which no table is to blame for
├── UnreadableTable          one file of the lake is not a table or cannot be read; never ends a run
│   ├── TemporarilyUnreadable    for a reason that may pass: too many open files, a stale handle, no memory
│   └── VanishedTable            the file is not there any more
├── IndexDamaged             bytes on disk are not those that were written
├── FormatMismatch           written by another format, normaliser or index version
├── WriterConflict           another writer holds, or has moved on, the index
└── BuildFailed              the pipeline could not finish; what was committed before stays
"""

from __future__ import annotations


class DovetailError(Exception):
    """The base of every error that Dovetail raises on purpose."""


class InputError(DovetailError):
    """The request cannot be carried out as given."""


class NotAnIndex(InputError):
    """The path holds no index."""


class UnknownName(InputError):
    """A table or column that the index does not have."""


class SourceUnreachable(InputError):
    """A place where tables live does not answer, or does not let us in. Never recorded as a fault of its tables."""


class UnreadableTable(DovetailError):
    """One file of the lake is not a table or cannot be read. The message is the reason, without the path."""


class TemporarilyUnreadable(UnreadableTable):
    """One file cannot be read now, for a reason that lies outside it and may pass. Worth another attempt."""


class VanishedTable(UnreadableTable):
    """The file is not there any more, or this machine does not see it."""


class IndexDamaged(DovetailError):
    """Bytes on disk are not those that were written."""


class FormatMismatch(DovetailError):
    """Written by another version of the format, the normaliser or an index."""


class WriterConflict(DovetailError):
    """Another writer holds the index, or has committed since it was read."""


class BuildFailed(DovetailError):
    """The pipeline could not finish. What was committed before stays."""
