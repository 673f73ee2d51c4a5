"""Shared by building and querying: the family of hash functions, sketches, and thresholds as rationals."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.errors import FormatMismatch, InputError
from dovetail.indexes.lsh_ensemble.kernels import sketch_hashes


class LshCosts(NamedTuple):
    """In nanoseconds."""

    posting: float  # count a posting
    search: float  # search a group of the query in a set
    look_up: float  # look a group of a set up in a table of the query's
    probe: float  # compare a sketch with one in a tree
    hash: float  # take a token of the query into its sketch


LEAST_COSTS = LshCosts(posting=0.1, search=1.0, look_up=0.2, probe=0.5, hash=4.0)
MOST_COSTS = LshCosts(posting=100.0, search=20_000.0, look_up=200.0, probe=2_000.0, hash=20_000.0)
"""The range of any machine; a measurement on a tiny segment may fall outside and is clipped."""


FAMILY = 1
"""Version of the family: h → the high half of a·h + b modulo 2^64, a odd, with a and b drawn by SplitMix64."""
SEED = 20160905  # arbitrary, but the same for ever: sketches of different seeds cannot be compared
CHOICES = (64, 128, 256)  # permutations; the paper uses 256
DEPTH = 8  # the most rows of a band


@dataclass(frozen=True)
class SketchParameters:
    """What two sketches must have in common to be compared, and how deep the trees over them are sorted."""

    family: int = FAMILY
    seed: int = SEED
    permutations: int = 128
    depth: int = DEPTH

    def require(self, where: str) -> None:
        """Raise FormatMismatch unless this Dovetail makes such sketches."""
        if self.family != FAMILY or self.permutations not in CHOICES or self.depth != DEPTH:
            raise FormatMismatch(
                f"{where} holds sketches of {self}; this Dovetail knows family {FAMILY} with "
                f"{', '.join(map(str, CHOICES))} permutations and depth {DEPTH}. Build the index again with "
                "`dovetail index`."
            )

    @property
    def least_size(self) -> int:
        """The smallest set that gets a sketch: a smaller one has fewer tokens than its sketch has numbers."""
        return self.permutations

    def to_array(self) -> Array:
        return np.array(astuple(self), np.uint64)

    def __str__(self) -> str:
        return f"family {self.family}, seed {self.seed}, {self.permutations} permutations and depth {self.depth}"


@cache
def functions(parameters: SketchParameters) -> tuple[Array, Array]:
    """Multipliers and additions of the family's functions."""
    drawn = split_mix(parameters.seed, 2 * parameters.permutations)
    return drawn[::2] | np.uint64(1), drawn[1::2].copy()


def split_mix(seed: int, count: int) -> Array:
    """The first numbers of SplitMix64: a generator that nobody will change under us."""
    mask = (1 << 64) - 1
    drawn, state = [], seed
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        value = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        drawn.append(value ^ (value >> 31))
    return np.array(drawn, np.uint64)


@dataclass(frozen=True)
class Sketch:
    """A MinHash signature with the parameters that it was made by."""

    parameters: SketchParameters
    values: Array

    @classmethod
    def of(cls, parameters: SketchParameters, hashes: Array) -> Sketch:
        """The sketch of the set of tokens that have these XXH64 hashes."""
        return cls(parameters, sketch_hashes(hashes, *functions(parameters)))

    def jaccard(self, other: Sketch) -> float:
        """The estimated Jaccard similarity: the share of equal minima."""
        if self.parameters != other.parameters:
            raise FormatMismatch(
                f"Sketches of {self.parameters} and of {other.parameters} cannot be compared. Sketch both sets with "
                "the same parameters."
            )
        return float(np.mean(self.values == other.values))


def as_ratio(threshold: Fraction | float | int | str) -> Fraction:
    """The threshold as it is written: 0.7 is seven tenths, not the double that lies next to it."""
    ratio = threshold if isinstance(threshold, Fraction) else Fraction(str(threshold))
    if not 0 < ratio <= 1:
        raise InputError(f"The threshold is {threshold}; it must be above 0 and at most 1, such as 0.7.")
    return ratio


def least_overlap(threshold: Fraction, size: int) -> int:
    """The fewest common tokens with overlap / size ≥ threshold, in whole numbers."""
    return -(-threshold.numerator * size // threshold.denominator)
