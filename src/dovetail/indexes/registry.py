"""The indexes that every segment holds, in the order in which they are built."""

from __future__ import annotations

from dovetail.indexes.lsh_ensemble import LSH_ENSEMBLE
from dovetail.indexes.protocol import Index
from dovetail.indexes.tokens import TOKENS

INDEXES: tuple[Index, ...] = (TOKENS, LSH_ENSEMBLE)
