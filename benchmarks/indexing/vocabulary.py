"""The shared words of the generated lake: made up from syllables, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_STARTS = ("b", "br", "c", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w")
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ou", "é", "ü", "å")
_MIDDLE_SHARES = (0.22, 0.22, 0.17, 0.17, 0.1, 0.05, 0.04, 0.01, 0.01, 0.01)
_ENDS = ("", "n", "r", "l", "s", "nd", "rt")
_COMPANY_ENDS = (" Ltd", " GmbH", " & Sons", " Inc", ", Inc.", " Group", "")
_SCATTER = 988_854_381  # 200 ** 4 over the golden ratio, and no multiple of 2 or 5
_CODE_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


@dataclass(frozen=True)
class Vocabulary:
    """Word lists from which columns of many tables draw, so that their values overlap."""

    countries: pa.Array
    cities: pa.Array
    first_names: pa.Array
    last_names: pa.Array
    companies: pa.Array
    products: pa.Array
    phrases: pa.Array
    country_codes: pa.Array
    code_prefixes: pa.Array
    days: pa.Array  # 1 January 1980 and on, as 31/12/1999


def make_vocabulary(seed: int) -> Vocabulary:
    rng = np.random.default_rng([seed, 1])
    words = _words(rng, 12_000)
    last = _words(rng, 20_000)
    ends = rng.choice(_COMPANY_ENDS, len(last)).tolist()
    return Vocabulary(
        countries=_titles(_words(rng, 240)),
        cities=_titles(_pairs(rng, _words(rng, 30_000), words, share=0.3)),
        first_names=_titles(_words(rng, 3_000)),
        last_names=_titles(last),
        companies=pa.array([f"{a.title()}{end}" for a, end in zip(last, ends, strict=True)]),
        products=pa.array(_pairs(rng, _words(rng, 8_000), words, share=0.8)),
        phrases=pa.array(_phrases(rng, words, 20_000)),
        country_codes=pa.array(_codes(rng, 240, 2)),
        code_prefixes=pa.array(_codes(rng, 400, 3)),
        days=_days(),
    )


def _words(rng: np.random.Generator, number: int) -> list[str]:
    """Distinct words of two to four syllables."""
    drawn = 2 * number
    syllables = [
        rng.choice(_STARTS, (drawn, 4)),
        rng.choice(_MIDDLES, (drawn, 4), p=_MIDDLE_SHARES),
        rng.choice(_ENDS, (drawn, 4)),
    ]
    lengths = rng.integers(2, 5, drawn)
    rows = zip(*(part.tolist() for part in syllables), lengths.tolist(), strict=True)
    words = ("".join(a + b + c for a, b, c in zip(x[:n], y[:n], z[:n], strict=True)) for x, y, z, n in rows)
    return list(dict.fromkeys(words))[:number]


def spelled(numbers: npt.NDArray[np.int64]) -> pa.Array:
    """A word of four syllables for each number from 0 to 1.6 billion; near numbers have words that differ."""
    syllables = pa.array([start + middle for start in _STARTS for middle in _MIDDLES])
    base = len(syllables)
    scattered = numbers * _SCATTER % base**4  # one to one, as the factor has no divisor in common with the base
    places = (scattered // base**power % base for power in range(4))
    return pc.binary_join_element_wise(*(syllables.take(pa.array(place)) for place in places), "")


def _titles(words: list[str]) -> pa.Array:
    return pc.utf8_title(pa.array(words))


def _pairs(rng: np.random.Generator, firsts: list[str], seconds: list[str], share: float) -> list[str]:
    """`firsts`, a share of them followed by a second word."""
    followed = (rng.random(len(firsts)) < share).tolist()
    chosen = rng.choice(len(seconds), len(firsts)).tolist()
    return [f"{a} {seconds[b]}" if two else a for a, b, two in zip(firsts, chosen, followed, strict=True)]


def _phrases(rng: np.random.Generator, words: list[str], number: int) -> list[str]:
    """Parts of sentences; some hold commas, quotes or new lines, as notes typed by people do."""
    lengths = rng.integers(2, 9, number).tolist()
    ranks = np.floor(len(words) ** rng.random((number, 8))).astype(int) % len(words)
    kinds = rng.choice(4, number, p=(0.84, 0.12, 0.03, 0.01)).tolist()
    phrases = []
    for length, row, kind in zip(lengths, ranks.tolist(), kinds, strict=True):
        first, *rest = (words[rank] for rank in row[:length])
        middle = (" ", ", ", ' "', "\n")[kind]
        phrases.append(f"{first}{middle}{' '.join(rest)}" + ('"' if kind == 2 else ""))
    return phrases


def _codes(rng: np.random.Generator, number: int, length: int) -> list[str]:
    letters = rng.choice(list(_CODE_LETTERS), (4 * number, length)).tolist()
    return list(dict.fromkeys("".join(row) for row in letters))[:number]


def _days() -> pa.Array:
    days = np.arange(np.datetime64("1980-01-01"), np.datetime64("2026-01-01"))
    return pc.strftime(pa.array(days), "%d/%m/%Y")
