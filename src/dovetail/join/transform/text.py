"""How texts are compared: while learning character by character, when joining by the project's normaliser."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import pyarrow as pa

from dovetail.normalise import fold


class _Plain(dict[int, str]):
    """Each character without accents and case, always as one character, so that positions stay."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        base = unicodedata.normalize("NFD", character)[0].lower()
        plain = base if len(base) == 1 else character
        self[code] = plain
        return plain


_PLAIN = _Plain()


def plain(text: str) -> str:
    """The text without accents and case, character for character."""
    return text.translate(_PLAIN)


def join_keys(values: Sequence[str | None]) -> list[str | None]:
    """What must be equal for two values to join: folded text; null for what is empty."""
    folded: list[str | None] = fold(pa.array(values, pa.string())).to_pylist()
    return [value or None for value in folded]
