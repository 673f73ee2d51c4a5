"""The indexes that every segment holds, in the order in which they are built."""

from __future__ import annotations

from dovetail.indexes.josie import JOSIE
from dovetail.indexes.lsh_ensemble import LSH_ENSEMBLE
from dovetail.indexes.mate import MATE
from dovetail.indexes.pexeso import PEXESO
from dovetail.indexes.pieces import PIECES
from dovetail.indexes.protocol import Index
from dovetail.indexes.rows import ROWS
from dovetail.indexes.tokens import TOKENS

INDEXES: tuple[Index, ...] = (TOKENS, JOSIE, LSH_ENSEMBLE, ROWS, MATE, PIECES, PEXESO)
