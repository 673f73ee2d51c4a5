"""What can go wrong, as one tree. Every message says what was found, what is allowed and what to do next.

DovetailError
├── InputError               the request cannot be carried out as given (exit code 2)
│   ├── NotAnIndex           the path holds no index
│   └── UnknownName          a table or column that the index does not have
├── UnreadableTable          one file of the lake is no table or cannot be read; never ends a run
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


class UnreadableTable(DovetailError):
    """One file of the lake is no table or cannot be read. The message is the reason, without the path."""


class IndexDamaged(DovetailError):
    """Bytes on disk are not those that were written."""


class FormatMismatch(DovetailError):
    """Written by another version of the format, the normaliser or an index."""


class WriterConflict(DovetailError):
    """Another writer holds the index, or has committed since it was read."""


class BuildFailed(DovetailError):
    """The pipeline could not finish. What was committed before stays."""
