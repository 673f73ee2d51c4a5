"""Packs whole numbers for a pack: as few bits as each block of 128 needs, any of them readable alone."""

from __future__ import annotations

import numpy as np

from dovetail._storage.packing_kernels import BLOCK, WIDEST, WIDTH_BITS, Packed, fill_blocks, measure_blocks
from dovetail._types import Array


def narrow(numbers: Array) -> Array:
    """The numbers in two bytes each where they fit, else in four: for what kernels read too often to unpack it."""
    return numbers.astype(np.uint16 if int(numbers.max(initial=0)) < 1 << 16 else np.uint32, copy=False)


def pack_numbers(numbers: Array) -> Packed:
    """The numbers, which must be from 0 to below 2^63, packed."""
    heads = np.zeros(2 * -(-len(numbers) // BLOCK), np.int64)
    words = np.zeros(measure_blocks(numbers, heads) + 1, np.uint64)
    fill_blocks(numbers, heads, words)
    return Packed(heads, words, len(numbers))


def split_packed(content: Array, numbers: int) -> Packed | None:
    """Heads and words that follow each other as packed numbers; None where they cannot be so many numbers."""
    heads = 2 * -(-numbers // BLOCK)
    if not 0 <= heads < len(content):
        return None
    packed = Packed(content[:heads].view(np.int64), content[heads:], numbers)
    last = int(packed.heads[-1]) if heads else 0
    fits = (last >> WIDTH_BITS) + 2 * (last & WIDEST) + 1 == len(packed.words)
    return packed if fits else None


class PackedRuns:
    """Packs numbers that come run by run, in order: only what is packed is kept in memory."""

    def __init__(self) -> None:
        self._parts: list[Packed] = []
        self._rest = np.empty(0, np.int64)
        self._words = 0
        self.length = 0

    def add(self, run: Array) -> None:
        self.length += len(run)
        rest = np.concatenate([self._rest, run])
        whole = len(rest) // BLOCK * BLOCK
        self._pack(rest[:whole])
        self._rest = rest[whole:]

    def finish(self) -> Packed:
        self._pack(self._rest)
        heads = [np.empty(0, np.int64), *(part.heads for part in self._parts)]
        words = [*(part.words for part in self._parts), np.zeros(1, np.uint64)]
        return Packed(np.concatenate(heads), np.concatenate(words), self.length)

    def _pack(self, numbers: Array) -> None:
        if not len(numbers):
            return
        packed = pack_numbers(numbers)
        packed.heads[1::2] += self._words << WIDTH_BITS
        self._parts.append(packed._replace(words=packed.words[:-1]))
        self._words += len(packed.words) - 1
