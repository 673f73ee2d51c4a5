"""The arrays of the mate pack, their writer and their reader side by side.

parameters        family of the hash, bits of a super key, alpha
characters        code points of the lake's characters, the most frequent first
ones              for every table how many bits a value sets
super_keys        for every row of every table its key, in words of 64 bits; empty where keys have no bits
token_rows        for every token how many cells hold it
items_before      for every 32nd entry of the tokens pack's set_counts the sum of those before it
posting_rows      for every column and token, as in set_counts, the rows that hold it, ascending; numbered from 0
                  within the table
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.packing import PackedRuns, pack_numbers
from dovetail._storage.packing_kernels import packed_at, unpack
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.mate.core import FAMILIES, SuperKeyParameters
from dovetail.indexes.rows.format import RowArrays
from dovetail.indexes.tokens.format import TokenArrays

NAME = "mate"
VERSION = 2
ENTRIES_A_SUM = 32


class MatePackWriter:
    """Takes keys and postings run by run."""

    def __init__(self, pack: PackWriter, parameters: SuperKeyParameters, ones: Array, rows: int) -> None:
        self._pack = pack
        self._words = parameters.words
        numbers = (FAMILIES[parameters.family], parameters.bits, parameters.ones)
        pack.add("parameters", np.array(numbers, np.uint64))
        pack.add("characters", np.array([ord(character) for character in parameters.characters], np.uint32))
        pack.add("ones", ones)
        self._keys = pack.reserve("super_keys", "uint64", rows * self._words)
        self._postings = PackedRuns()

    def write_counts(self, token_rows: Array, items_before: Array) -> None:
        self._pack.add_packed("token_rows", pack_numbers(token_rows))
        self._pack.add_packed("items_before", pack_numbers(items_before))

    def write_keys(self, first_row: int, keys: Array) -> None:
        self._keys.write(keys.reshape(-1), first_row * self._words)

    def write_postings(self, rows: Array) -> None:
        """Those that follow the ones already written."""
        self._postings.add(rows)

    def finish_postings(self) -> None:
        self._pack.add_packed("posting_rows", self._postings.finish())


class MateArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack, tokens: TokenArrays, rows: RowArrays) -> None:
        self._where = f"{pack.segment}/{pack.path.name}"
        self.parameters = _parameters(pack, self._where)
        self.ones = pack["ones"]
        self.token_rows = pack.packed("token_rows")
        self.items_before = pack.packed("items_before")
        self.posting_rows = pack.packed("posting_rows")
        keys = pack["super_keys"]
        if len(keys) != rows.first_rows[-1] * self.parameters.words:
            raise IndexDamaged(f"{self._where} is damaged: its super keys are not as many as rows.")
        self.super_keys = keys.reshape(int(rows.first_rows[-1]), self.parameters.words)
        for problem in self._misfits(tokens, rows):
            raise IndexDamaged(f"{self._where} is damaged: {problem}.")

    def _misfits(self, tokens: TokenArrays, rows: RowArrays) -> Iterator[str]:
        if len(self.ones) != len(rows.first_rows) - 1:
            yield "its tables differ in number"
        if self.token_rows.length != tokens.tokens:
            yield "its tokens differ in number"
        if self.items_before.length != tokens.set_counts.length // ENTRIES_A_SUM + 1:
            yield "its sums differ in number"
        last = self.items_before.length - 1
        rest = unpack(tokens.set_counts, last * ENTRIES_A_SUM, tokens.set_counts.length)
        if packed_at(self.items_before, last) + rest.sum() != self.posting_rows.length:
            yield "its postings are not as many as the sets count"


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
