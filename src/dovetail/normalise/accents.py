"""Text without accents and case, character for character: how values are compared while programs are learned."""

from __future__ import annotations

import unicodedata


class _Plain(dict[int, str]):
    """Each character without accents and case, always as one character, so that positions stay."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        base = unicodedata.normalize("NFD", character)[0].lower()
        found = base if len(base) == 1 else character
        self[code] = found
        return found


_PLAIN = _Plain()


def plain(text: str) -> str:
    """The text without accents and case, character for character."""
    return text.translate(_PLAIN)
