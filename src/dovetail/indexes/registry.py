"""The indexes that every segment holds, in the order in which they are built."""

from __future__ import annotations

from dovetail.indexes.josie.index import JOSIE
from dovetail.indexes.lists.index import LISTS
from dovetail.indexes.lsh_ensemble.index import LSH_ENSEMBLE
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.pieces.index import PIECES
from dovetail.indexes.protocol import Index
from dovetail.indexes.rows.index import ROWS
from dovetail.indexes.tokens.index import TOKENS

INDEXES: tuple[Index, ...] = (TOKENS, JOSIE, LSH_ENSEMBLE, ROWS, MATE, PIECES, PEXESO, LISTS)
