"""Text without accents and case, character for character: how values are compared while programs are learned."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

LETTER, DIGIT = 1, 2
_CODES = 1 << 16  # characters beyond are letters as they are


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


@cache
def characters() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """For kernels: for every character its plain one, and whether it is a letter, a digit or neither."""
    folded = np.arange(_CODES, dtype=np.uint32)
    kinds = np.zeros(_CODES, np.uint8)
    for code in range(_CODES):
        character = chr(code)
        if character.isalnum():
            folded[code] = ord(plain(character))
            kinds[code] = DIGIT if character.isdigit() else LETTER
    return folded, kinds
