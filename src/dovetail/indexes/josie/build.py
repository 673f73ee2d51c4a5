"""Builds the josie pack of a segment from its tokens pack: positions, and the read costs of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from dovetail._compile import machine_code
from dovetail._storage.segment import SegmentWriter
from dovetail._types import Array
from dovetail.indexes.josie import format as josie_format
from dovetail.indexes.josie.core import JosieCosts, PostingLists, Scratch
from dovetail.indexes.josie.kernels import merge_list, positions_of, time_sets
from dovetail.indexes.protocol import WORTH_MEASURING, ColumnChunk
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

_SETS = 1000  # as in section 3.4.3
_QUERIES = 200  # columns sampled as queries
_CHUNKS = 10
_MOST_ITEMS = 500_000  # of all sampled sets, and of the lists of all sampled queries: some milliseconds
_ROUNDS = 3  # one after another, so that a chunk has left the nearest cache when it is read again
_JUMP = (20.0, 200.0)  # nanoseconds of a cache miss, on any machine: few samples do not show it well
LEAST_COSTS = JosieCosts(s0=0.0, s1=0.2, l0=0.0, l1=0.2, set_size=0.0)
MOST_COSTS = JosieCosts(s0=_JUMP[1], s1=100.0, l0=_JUMP[1], l1=100.0, set_size=2.0**32)
"""The range of any machine; a fit to few samples may fall outside and is clipped."""
TYPICAL_COSTS = JosieCosts(s0=150.0, s1=2.1, l0=200.0, l1=1.8, set_size=0.0)
"""Of smaller segments: medians of 15,128 tables of open data and the web, on two cores of a server."""


class JosieBuilder:
    """All that it needs is in the tokens pack, so it skips the chunks."""

    def add(self, chunk: ColumnChunk) -> None:
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        tokens = TokenArrays(writer.pack(tokens_format.NAME))
        positions = positions_of(
            tokens.posting_offsets, tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens
        )
        costs = np.array(costs_of(tokens), np.float64)
        writer.write_part(
            josie_format.NAME, josie_format.VERSION, lambda pack: josie_format.write(pack, positions, costs)
        )
        return {}


def costs_of(tokens: TokenArrays) -> JosieCosts:
    """Measured where the segment is large, as it is as machine code that searches of it run."""
    if len(tokens.posting_columns) < WORTH_MEASURING:
        return TYPICAL_COSTS._replace(set_size=_typical_size(tokens.set_group_offsets))
    with machine_code():
        return measure(tokens)


def measure(tokens: TokenArrays) -> JosieCosts:
    """Read costs from samples of this segment: sets in chunks of like size, queries, and a plane through each."""
    random = np.random.default_rng(0)
    sets = _sample(random, tokens.set_group_offsets, _SETS)
    sizes = np.diff(tokens.set_group_offsets)[sets]
    few = np.cumsum(sizes) <= _MOST_ITEMS
    by_size = sets[few][np.argsort(sizes[few], kind="stable")]
    chunks = [chunk for chunk in np.array_split(by_size, _CHUNKS) if len(chunk)]
    queries = _queries(tokens, sets[:_QUERIES])
    of_sets, of_lists = _fit(chunks, _set_reader(tokens)), _fit(queries, _list_reader(tokens))
    fitted = JosieCosts(*of_sets, *of_lists, _typical_size(tokens.set_group_offsets))
    return JosieCosts(*np.clip(fitted, LEAST_COSTS, MOST_COSTS).tolist())


def _sample(random: np.random.Generator, offsets: Array, number: int) -> Array:
    """Some lists in no order: half by lot, half as often as they have items, since searches read long lists most."""
    if not offsets[-1]:
        return np.empty(0, np.int64)
    by_lot = random.integers(0, len(offsets) - 1, number // 2)
    by_item = np.searchsorted(offsets, random.integers(0, offsets[-1], number // 2), side="right") - 1
    return random.permutation(np.unique(np.concatenate([by_lot, by_item])))


def _queries(tokens: TokenArrays, columns: Array) -> list[Array]:
    """The groups of 1, 2, 3 … of the columns together, as far as their lists can be read in a moment."""
    lengths = np.diff(tokens.posting_offsets)
    queries: list[Array] = []
    items, first = 0, 0
    while first < len(columns):
        together = columns[first : first + len(queries) + 1]
        first += len(together)
        sets = [tokens.set_groups[slice(*tokens.set_group_offsets[[c, c + 1]])] for c in together]
        groups = np.unique(np.concatenate(sets)).astype(np.int64)
        items += int(lengths[groups].sum())
        if items > _MOST_ITEMS and queries:
            break
        queries.append(groups)
    return queries


def _typical_size(offsets: Array) -> float:
    """How many groups the set has that a posting leads to, the median of all postings."""
    sizes = np.sort(np.diff(offsets))
    return float(sizes[np.searchsorted(np.cumsum(sizes), offsets[-1] / 2)]) if len(sizes) else 0.0


Reader = Callable[[Array], tuple[int, int]]
"""Reads lists or sets; returns how many, and how many items or steps."""


def _set_reader(tokens: TokenArrays) -> Reader:
    ones = np.ones(max(1, int(np.diff(tokens.set_group_offsets).max(initial=0))), np.int64)

    def read(columns: Array) -> tuple[int, int]:
        return len(columns), time_sets(tokens.set_group_offsets, tokens.set_groups, columns, ones)

    return read


def _list_reader(tokens: TokenArrays) -> Reader:
    """By MergeList-D as it is: counting, ranking and clearing are part of what an item costs."""
    postings = PostingLists(tokens.posting_offsets, tokens.posting_columns, np.empty(0, tokens.posting_columns.dtype))
    scratch = Scratch.of(tokens.columns)

    def read(groups: Array) -> tuple[int, int]:
        work = np.zeros(4, np.int64)
        merge_list(postings, groups, np.ones(len(groups), np.int64), 10, 1, np.empty(0, np.bool_), scratch, work)
        return int(work[0]), int(work[1])

    return read


def _fit(samples: list[Array], read: Reader) -> tuple[float, float]:
    """Nanoseconds for each list, within reason, and for each item in it; zeros where there is nothing to measure."""
    if not samples:
        return 0.0, 0.0
    for sample in samples:
        read(sample)  # so that code is compiled and pages are mapped before the clock runs
    rounds = [[_time(read, sample) for sample in samples] for _ in range(_ROUNDS)]
    calling = min(_time(read, samples[0][:0])[2] for _ in range(_ROUNDS))
    best = [min(times, key=lambda one: one[2]) for times in zip(*rounds, strict=True)]  # the others were disturbed
    lists, items, times = np.array(best, np.float64).T
    times = np.maximum(times - calling, 1)
    # Weighed by the root of the time, else either the few longest or the many shortest alone would decide.
    weigh = times**-0.5
    (each, _), *_ = np.linalg.lstsq(np.stack([lists, items], 1) * weigh[:, None], times * weigh, rcond=None)
    each = np.clip(each, *_JUMP)
    (item,), *_ = np.linalg.lstsq((items * weigh)[:, None], (times - each * lists) * weigh, rcond=None)
    return float(each), float(item)


def _time(read: Reader, sample: Array) -> tuple[int, int, int]:
    """Lists, items and nanoseconds."""
    start = time.perf_counter_ns()
    lists, items = read(sample)
    return lists, items, time.perf_counter_ns() - start
