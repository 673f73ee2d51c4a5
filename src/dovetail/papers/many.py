"""MANY: all unary inclusion dependencies of a lake, candidates from Bloom signatures, validated with exact sets.

Fabian Tschirschnitz, Thorsten Papenbrock, Felix Naumann: Detecting Inclusion Dependencies on Very Many Tables. TODS
42(3), 2017. doi:10.1145/3105959.

| paper | here |
|---|---|
| m, k, p | `BloomParameters.bits`, `hashes`, `passes` |
| sigMatrix | `bit_matrix` |
| dep2refs, ref2deps | `BloomParameters.strategy` |
| indexed bit-vector | `BloomParameters.vectors`, `active` in `_intersect` |
| filters of section 3.2 | `InclusionFilters` |
| IND-Validator | `_includes` |

Guarantee: exact. Whole inclusions of single columns.

Departures: columns with the same values are one set, and a group of tokens that the same sets hold is hashed as one
item. docs/algorithms/many.md has the product's search, which proposes candidates by posting lists.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, Literal

import numpy as np

from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import InclusionFilters, InclusionFinder, InclusionQuery
from dovetail.graph.inclusion_dependencies import InclusionDependencies
from dovetail.graph.value_sets import ValueSets
from dovetail.papers.arguments import Answer, Index, segments_of
from dovetail.papers.many_kernels import bit_matrix, proposed


@dataclass(frozen=True)
class BloomParameters:
    """By default those of the paper's experiments on many tables."""

    bits: int = 650
    hashes: int = 6
    passes: int = 2
    strategy: Literal["dep2refs", "ref2deps"] = "dep2refs"
    vectors: Literal["indexed", "plain"] = "indexed"

    def __post_init__(self) -> None:
        if min(self.bits, self.hashes, self.passes) < 1:
            raise InputError("`bits`, `hashes` and `passes` must be at least 1.")
        if self.strategy not in ("dep2refs", "ref2deps") or self.vectors not in ("indexed", "plain"):
            raise InputError("`strategy` is dep2refs or ref2deps, and `vectors` indexed or plain.")


PUBLISHED = BloomParameters()
PUBLISHED_FILTERS = InclusionFilters()


@dataclass(frozen=True)
class SignatureWork:
    """Pairs of sets that the signatures left to validate, and the bytes of the signatures."""

    candidates: int
    signature_bytes: int


def inclusion_dependencies(
    index: Index,
    parameters: BloomParameters = PUBLISHED,
    filters: InclusionFilters = PUBLISHED_FILTERS,
    *,
    null_is_a_value: bool = False,
    threads: int = 1,
) -> Answer[dict[str, Any], SignatureWork]:
    """The dependencies of the whole lake, best first, each as `lake.inds` gives it."""
    finder = SignatureFinder(
        LakeColumns(segments_of(index)), InclusionQuery(filters, null_is_a_value=null_is_a_value), parameters, threads
    )
    found = InclusionDependencies(finder).to_dicts()
    return Answer(found, finder.work)


class SignatureFinder(InclusionFinder):
    """Finds the dependencies of a lake by signatures, as `InclusionFinder` does by posting lists."""

    def __init__(
        self,
        columns: LakeColumns,
        query: InclusionQuery,
        parameters: BloomParameters = PUBLISHED,
        threads: int = 1,
        sets: ValueSets | None = None,
    ) -> None:
        if query.containment != 1:
            raise InputError("Signatures find whole inclusions only; `containment` must be 1.")
        super().__init__(columns, query, threads, sets=sets)
        mine, (bits, hashes, passes, strategy, vectors) = self.sets, astuple(parameters)
        self._referenced, self._indexed = strategy == "ref2deps", vectors == "indexed"
        self._matrix = bit_matrix(
            mine.group_offsets, mine.groups, mine.private, len(mine.weights), bits, hashes, passes
        )
        marks = np.zeros((len(mine) + 63) // 64 * 64, np.uint8)
        marks[: len(mine)] = mine.referable_sets
        self._allowed = np.packbits(marks, bitorder="little").view(np.uint64)
        self._looked_at: list[int] = []  # by each call of the kernel; threads append

    @property
    def work(self) -> SignatureWork:
        """So far."""
        return SignatureWork(sum(self._looked_at), int(self._matrix.nbytes))

    def _propose(self, first: int, stop: int, least: Array, most: Array, found: Array) -> tuple[int, int]:
        sets = self.sets
        next_set, filled, looked_at = proposed(
            self._matrix, first, stop, self._referenced, self._indexed, most, self._allowed, sets.sizes, sets.private,
            sets.group_offsets, sets.groups, found,
        )  # fmt: skip
        self._looked_at.append(looked_at)
        return next_set, filled
