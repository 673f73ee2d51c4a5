"""Tokens, sets and postings: which values there are, which column holds which, and the other way round.

Exact. The first member of the registry, and what the others stand on.
"""

from __future__ import annotations

from dovetail.indexes.tokens.index import TOKENS
from dovetail.indexes.tokens.query import TokenReader

__all__ = ["TOKENS", "TokenReader"]
