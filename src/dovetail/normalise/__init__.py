"""One normaliser, used by scan, query and join: raw values to tokens, by the type of their column.

    fold      raw text to folded text            what people mean to be equal is equal
    gather    folded values to evidence          row counts by class of value; slices add up
    decide    evidence to the column's type      a column is what all of its values are
    tokens    folded values to tokens            equal tokens join; null joins nothing
    plain     any text without accents and case  where likeness is enough

Whatever changes a token of any value raises ``NORMALISER_VERSION``; an index remembers it and the Unicode
version.
"""

from __future__ import annotations

import unicodedata

from dovetail.normalise.column_type import ColumnType, TypeEvidence, decide, gather
from dovetail.normalise.folding import characters, fold, fold_one, plain
from dovetail.normalise.tokenise import normalise, normalise_value, tokens

NORMALISER_VERSION: int = 1
UNICODE_VERSION: str = unicodedata.unidata_version

__all__ = [
    "NORMALISER_VERSION",
    "UNICODE_VERSION",
    "ColumnType",
    "TypeEvidence",
    "characters",
    "decide",
    "fold",
    "fold_one",
    "gather",
    "normalise",
    "normalise_value",
    "plain",
    "tokens",
]
