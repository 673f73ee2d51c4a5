"""What the steps of a search cost on this machine: measured on a sample when a segment is built, and stored with it.

Costs decide how a search is done, never what a verified answer says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dovetail._types import Array
from dovetail.indexes.lsh_ensemble.core import Parameters, functions
from dovetail.indexes.lsh_ensemble.kernels import mark_candidates, sketch_hashes
from dovetail.indexes.lsh_ensemble.set_kernels import time_lists, verify_columns
from dovetail.indexes.tokens.format import TokenArrays

Forest = tuple[Array, Array]

_MOST_ITEMS = 200_000  # of a sample: less than a millisecond
_LISTS = 1000
_ASKED = 64
_HASHED = 512
_ROUNDS = 4  # the first compiles and maps pages; of the others the least counts, being disturbed least


class Costs(NamedTuple):
    """In nanoseconds."""

    posting: float  # count a posting
    search: float  # search a group of the query in a set
    look_up: float  # look a group of a set up in a table of the query's
    probe: float  # compare a sketch with one in a tree
    hash: float  # take a token of the query into its sketch


LEAST = Costs(posting=0.1, search=1.0, look_up=0.2, probe=0.5, hash=4.0)
MOST = Costs(posting=100.0, search=20_000.0, look_up=200.0, probe=2_000.0, hash=20_000.0)
"""No machine is outside of these; what was measured on a tiny segment may be, and is moved to the nearest."""


def measure(tokens: TokenArrays, parameters: Parameters, forest: Forest | None) -> Costs:
    """Sample this segment. `forest` is signatures and trees of one partition, none where no set is large enough."""
    random = np.random.default_rng(0)
    found = Costs(
        posting=_time_postings(random, tokens),
        **_time_sets(random, tokens),
        probe=_time_probes(random, *forest) if forest else 0.0,
        hash=_time_hashing(random, parameters),
    )
    return Costs(*np.clip(found, LEAST, MOST).tolist())


def _time_postings(random: np.random.Generator, tokens: TokenArrays) -> float:
    counts, touched = np.zeros(tokens.columns, np.uint32), np.empty(tokens.columns + 1, np.uint32)
    postings = (tokens.posting_offsets, tokens.posting_columns)
    lists = _sample(random, tokens.posting_offsets)
    items = int(np.sum(tokens.posting_offsets[lists + 1] - tokens.posting_offsets[lists]))
    return _each(items, lists, lambda some: time_lists(some, postings, counts, touched))


def _time_sets(random: np.random.Generator, tokens: TokenArrays) -> dict[str, float]:
    """Verify the same sets in both ways: all their groups looked up, and a few groups searched in each."""
    columns = _sample(random, tokens.set_group_offsets).astype(np.uint32)
    if not len(columns):
        return {"search": 0.0, "look_up": 0.0}
    sets = (tokens.set_group_offsets, tokens.set_groups, tokens.set_offsets)
    items = int(np.sum(np.diff(tokens.set_group_offsets)[columns]))
    asked = np.unique(random.choice(tokens.set_groups, _ASKED)).astype(np.int64)
    after = np.arange(len(asked), -1, -1)

    def verify(look_up: float, search: float) -> Callable[[Array], object]:
        return lambda some: verify_columns(some, sets, asked, after, 1, look_up, search)

    return {
        "search": _each(len(columns) * len(asked), columns, verify(1.0, 0.0)),
        "look_up": _each(items, columns, verify(0.0, 1.0)),
    }


def _time_probes(random: np.random.Generator, signatures: Array, trees: Array) -> float:
    bands, members = trees.shape
    seen = np.zeros(members, np.uint8)

    def probe(some: Array) -> None:
        sketch = random.integers(0, 1 << 32, (bands,), np.uint32)  # another one each time: the paths are cold
        mark_candidates(sketch, signatures, trees, len(some), 1, seen)

    return _each(bands * members.bit_length(), trees, probe)


def _time_hashing(random: np.random.Generator, parameters: Parameters) -> float:
    hashes = random.integers(0, 1 << 63, _HASHED, dtype=np.uint64)
    return _each(_HASHED, hashes, lambda some: sketch_hashes(some, *functions(parameters)))


def _sample(random: np.random.Generator, offsets: Array) -> Array:
    """Some lists, ascending, each as likely as it is long, no more than are read in a moment."""
    if not offsets[-1]:
        return np.empty(0, np.int64)
    drawn = np.unique(np.searchsorted(offsets, random.integers(0, offsets[-1], _LISTS), side="right") - 1)
    drawn = random.permutation(drawn)
    read = np.cumsum(offsets[drawn + 1] - offsets[drawn])
    few: Array = np.sort(drawn[: max(1, int(np.searchsorted(read, _MOST_ITEMS)))])
    return few


def _each(items: int, sample: Array, run: Callable[[Array], object]) -> float:
    """Nanoseconds for each of the sample's items, without those of the call."""
    return (_least_time(run, sample) - _least_time(run, sample[:0])) / items if items else 0.0


def _least_time(run: Callable[[Array], object], sample: Array) -> int:
    times = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter_ns()
        run(sample)
        times.append(time.perf_counter_ns() - begun)
    return min(times[1:])
