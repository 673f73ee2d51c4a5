"""Builds the lsh_ensemble pack of a segment from its tokens pack; the chunks of columns are not needed again.

The costs of a search's steps are measured on a sample of a large segment, and stored with it. They decide how a search
is done, never what a verified answer holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from dovetail._compile import machine_code
from dovetail._storage.pack import PackWriter
from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.lsh_ensemble import format as lsh_format
from dovetail.indexes.lsh_ensemble.core import LEAST_COSTS, MOST_COSTS, LshCosts, SketchParameters, functions
from dovetail.indexes.lsh_ensemble.format import LshPackWriter
from dovetail.indexes.lsh_ensemble.kernels import cut_sizes, mark_candidates, sketch_groups, sketch_hashes, sketch_sets
from dovetail.indexes.lsh_ensemble.set_kernels import time_lists, verify_columns
from dovetail.indexes.protocol import WORTH_MEASURING, ColumnChunk
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

Forest = tuple[Array, Array]
_MOST_ITEMS = 200_000  # of a sample: less than a millisecond
# Sample sizes, arbitrary: large enough for a clock of nanoseconds, small beside the build of a segment.
_LISTS = 1000
_ASKED = 64
_HASHED = 512
_ROUNDS = 4  # the first compiles and maps pages; of the others the least counts, being disturbed least
MOST_PARTITIONS = 32  # the most that the paper's experiments use
_SETS_A_PARTITION = 32  # fewer are searched faster in one partition, however rough its bound
TYPICAL_COSTS = LshCosts(posting=1.3, search=4.5, look_up=2.1, probe=2.5, hash=12.7)
"""Of smaller segments: medians of 15,128 tables of open data and the web, on two cores of a server."""


class LshEnsembleBuilder:
    def __init__(self, memory_bytes: int, parameters: SketchParameters | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._parameters = parameters or SketchParameters()

    def add(self, chunk: ColumnChunk) -> None:
        """Nothing: the tokens pack, which is finished first, holds every set."""

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        tokens = TokenArrays(writer.pack(tokens_format.NAME))
        sketcher = Sketcher(tokens, self._parameters, self._memory_bytes)
        writer.write_part(lsh_format.NAME, lsh_format.VERSION, lambda pack: _write(pack, sketcher))
        return {}


class Sketcher:
    """Sketches columns. Groups that several columns hold are sketched once, as far as the memory allows.

    What is not shared is hashed again for each column: the result is the same.
    """

    def __init__(self, tokens: TokenArrays, parameters: SketchParameters, memory_bytes: int) -> None:
        self.parameters = parameters
        self.sizes = np.diff(tokens.set_offsets)
        self.tokens = tokens
        self._hashes = tokens.hashes()
        groups = self._worth_sharing(memory_bytes // 4)
        self._shared = np.full(tokens.groups, -1, np.int64)
        self._shared[groups] = np.arange(len(groups))
        self._sketches = sketch_groups(groups, tokens.group_tokens, self._hashes, *functions(parameters))

    def sketch(self, columns: Array) -> Array:
        """The signatures, with a row for every permutation."""
        tokens = self.tokens
        return sketch_sets(
            columns, tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens,
            self._hashes, self._shared, self._sketches, *functions(self.parameters),
        )  # fmt: skip

    def _worth_sharing(self, memory_bytes: int) -> Array:
        """The groups whose sketches save the most hashing, ascending."""
        lists, members = np.diff(self.tokens.posting_offsets), np.diff(self.tokens.group_tokens)
        saved = (lists - 1) * (members - 1)
        most = memory_bytes // (4 * self.parameters.permutations)
        groups = np.flatnonzero(saved > 0)
        if len(groups) > most:
            groups = np.sort(groups[np.argsort(-saved[groups], kind="stable")[:most]])
        return groups


def _write(pack: PackWriter, sketcher: Sketcher) -> None:
    members = partition(sketcher.sizes, sketcher.parameters.least_size)
    out = LshPackWriter(pack, sketcher.parameters, sketcher.sizes, members)
    forest = None
    for number in sorted(range(len(members)), key=lambda number: len(members[number])):
        signatures = sketcher.sketch(members[number])
        forest = signatures, plant(signatures, sketcher.parameters.depth)
        out.write(number, *forest)
    out.write_costs(costs_of(sketcher.tokens, sketcher.parameters, forest))  # on the widest partition


def partition(sizes: Array, least_size: int) -> list[Array]:
    """The columns of each partition, ascending; the partitions from small to large sets."""
    columns = np.flatnonzero(sizes >= least_size)
    if not len(columns):
        return []
    distinct, counts = np.unique(sizes[columns], return_counts=True)
    most = min(MOST_PARTITIONS, 1 + len(columns) // _SETS_A_PARTITION)
    cuts = cut_sizes(distinct, counts, most)
    part_of = np.searchsorted(distinct[cuts[1:] - 1], sizes[columns])
    return [columns[part_of == number] for number in range(len(cuts) - 1)]


def plant(signatures: Array, depth: int) -> Array:
    """For every row k the members in the order of their values k, k + 1, … k + depth - 1, then by place."""
    trees = np.empty(signatures.shape, np.uint32)
    for k in range(len(signatures)):
        trees[k] = _order(signatures[k : k + depth])
    return trees


def _order(values: Array) -> Array:
    """The items in the order of their values, row after row.

    Two values at a time are one number, and hardly any two items agree in the first; only those that do are ordered by
    the others.
    """
    keys = [_pair(values[row : row + 2]) for row in range(0, len(values), 2)]
    order: Array = np.argsort(keys[0], kind="stable")
    equal = np.diff(keys[0][order]) == 0
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    members = order[tied]
    order[tied] = members[np.lexsort([key[members] for key in reversed(keys)])]
    return order


def _pair(values: Array) -> Array:
    """Two rows of 32 bits as one of 64 bits with the same order."""
    pair: Array = values[0].astype(np.uint64) << np.uint64(32)
    return pair | values[1] if len(values) > 1 else pair


def costs_of(tokens: TokenArrays, parameters: SketchParameters, forest: Forest | None) -> LshCosts:
    """Measured where the segment is large, as it is as machine code that searches of it run."""
    if len(tokens.posting_columns) < WORTH_MEASURING:
        return TYPICAL_COSTS
    with machine_code():
        return measure(tokens, parameters, forest)


def measure(tokens: TokenArrays, parameters: SketchParameters, forest: Forest | None) -> LshCosts:
    """Sample this segment. `forest` is signatures and trees of one partition, none where no set is large enough."""
    random = np.random.default_rng(0)
    found = LshCosts(
        posting=_time_postings(random, tokens),
        **_time_sets(random, tokens),
        probe=_time_probes(random, *forest) if forest else 0.0,
        hash=_time_hashing(random, parameters),
    )
    return LshCosts(*np.clip(found, LEAST_COSTS, MOST_COSTS).tolist())


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


def _time_hashing(random: np.random.Generator, parameters: SketchParameters) -> float:
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
