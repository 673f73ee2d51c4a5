"""MANY as published: candidates from Bloom signatures, validated with exact sets.

Tschirschnitz, Papenbrock, Naumann: Detecting Inclusion Dependencies on Very Many Tables, TODS 42(3), 2017,
doi:10.1145/3105959. Whole inclusions only.

| paper | here |
|---|---|
| m, k, p | `BloomParameters.bits`, `hashes`, `passes` |
| sigMatrix | `bit_matrix` |
| dep2refs, ref2deps | `BloomParameters.strategy` |
| indexed bit-vector | `BloomParameters.vectors`, `active` in `_intersect` |
| IND-Validator | `_includes` |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail._types import Array
from dovetail.graph.signature_kernels import bit_matrix, proposed
from dovetail.graph.value_sets import ValueSets


@dataclass(frozen=True)
class BloomParameters:
    """By default those of the paper's experiments on many tables."""

    bits: int = 650
    hashes: int = 6
    passes: int = 2
    strategy: str = "dep2refs"
    vectors: str = "indexed"


class SignatureMatrix:
    """The signatures of all sets: `bits` times `passes` bits for each."""

    def __init__(self, sets: ValueSets, parameters: BloomParameters) -> None:
        self._sets = sets
        self._parameters = parameters
        self._matrix = bit_matrix(
            sets.group_offsets,
            sets.groups,
            sets.private,
            len(sets.weights),
            parameters.bits,
            parameters.hashes,
            parameters.passes,
        )
        marks = np.zeros((len(sets) + 63) // 64 * 64, np.uint8)
        marks[: len(sets)] = sets.referable_sets
        self._allowed = np.packbits(marks, bitorder="little").view(np.uint64)
        self.candidates = 0
        """How many pairs the signatures have left to validate."""

    @property
    def nbytes(self) -> int:
        """The memory of the signatures."""
        return int(self._matrix.nbytes)

    def find(self, first: int, last: int, most: Array, found: Array) -> tuple[int, int]:
        """Fill `found` with (dependent, referenced, overlap) for the sets of this range.

        Returns the set to continue with, in case `found` became full, and the number of rows.
        """
        sets, referenced = self._sets, self._parameters.strategy == "ref2deps"
        indexed = self._parameters.vectors == "indexed"
        next_set, filled, looked_at = proposed(
            self._matrix, first, last, referenced, indexed, most, self._allowed, sets.sizes, sets.private,
            sets.group_offsets, sets.groups, found,
        )  # fmt: skip
        self.candidates += looked_at
        return next_set, filled
