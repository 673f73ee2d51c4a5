"""The arrays of the mate pack, their writer and their reader side by side.

parameters        family of the hash, bits of a super key, alpha
characters        code points of the lake's characters, the most frequent first
ones              for every table how many bits a value sets
super_keys        for every row of every table its key, in words of 64 bits
token_rows        for every token how many cells hold it
items_before      for every 32nd entry of the tokens pack's set_counts the sum of those before it
posting_starts    where the rows of each column begin in posting_rows, and the end
posting_rows      for every column and token, as in set_counts, the rows that hold it, ascending; numbered from 0
                  within the table, in as few bytes as the table's rows need
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.mate.core import FAMILIES, SuperKeyParameters, bytes_for
from dovetail.indexes.rows.format import RowArrays
from dovetail.indexes.tokens.format import TokenArrays

NAME = "mate"
VERSION = 1
ENTRIES_A_SUM = 32


class MatePackWriter:
    """Takes keys and postings run by run."""

    def __init__(
        self, pack: PackWriter, parameters: SuperKeyParameters, ones: Array, rows: int, posting_starts: Array
    ) -> None:
        self._pack = pack
        self._words = parameters.words
        numbers = (FAMILIES[parameters.family], parameters.bits, parameters.ones)
        pack.add("parameters", np.array(numbers, np.uint64))
        pack.add("characters", np.array([ord(character) for character in parameters.characters], np.uint32))
        pack.add("ones", ones)
        pack.add("posting_starts", posting_starts)
        self._keys = pack.reserve("super_keys", "uint64", rows * self._words)
        self._postings = pack.reserve("posting_rows", "uint8", int(posting_starts[-1]))

    def write_counts(self, token_rows: Array, items_before: Array) -> None:
        self._pack.add("token_rows", token_rows)
        self._pack.add("items_before", items_before)

    def write_keys(self, first_row: int, keys: Array) -> None:
        self._keys.write(keys.reshape(-1), first_row * self._words)

    def write_postings(self, at: int, rows: Array) -> None:
        self._postings.write(rows, at)


class MateArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack, tokens: TokenArrays, rows: RowArrays) -> None:
        self._where = f"{pack.segment}/{pack.path.name}"
        self.parameters = _parameters(pack, self._where)
        self.ones = pack["ones"]
        self.token_rows = pack["token_rows"]
        self.items_before = pack["items_before"]
        self.posting_starts = pack["posting_starts"]
        self.posting_rows = pack["posting_rows"]
        self.row_bytes = bytes_for(np.diff(rows.first_rows))
        keys = pack["super_keys"]
        if len(keys) != rows.first_rows[-1] * self.parameters.words:
            raise IndexDamaged(f"{self._where} is damaged: its super keys are not as many as rows.")
        self.super_keys = keys.reshape(-1, self.parameters.words)
        for problem in self._misfits(tokens, rows):
            raise IndexDamaged(f"{self._where} is damaged: {problem}.")

    def _misfits(self, tokens: TokenArrays, rows: RowArrays) -> Iterator[str]:
        if len(self.ones) != len(rows.first_rows) - 1:
            yield "its tables differ in number"
        if len(self.token_rows) != tokens.tokens:
            yield "its tokens differ in number"
        if len(self.items_before) != len(tokens.set_counts) // ENTRIES_A_SUM + 1:
            yield "its sums differ in number"
        starts = self.posting_starts
        if len(starts) != tokens.columns + 1 or starts[0] != 0 or starts[-1] != len(self.posting_rows):
            yield "posting_starts does not span its array"


def _parameters(pack: Pack, where: str) -> SuperKeyParameters:
    numbers = pack["parameters"].tolist()
    names = {number: name for name, number in FAMILIES.items()}
    characters = pack["characters"]
    if len(numbers) != 3 or (len(characters) and int(characters.max()) > 0x10FFFF):
        raise IndexDamaged(f"{where} is damaged: the parameters of its keys are missing.")
    family, bits, ones = numbers
    found = SuperKeyParameters(names.get(family, str(family)), bits, ones, "".join(map(chr, characters.tolist())))
    found.require(where)
    return found
