"""Builds the josie pack of a segment from its tokens pack: positions, and the read costs of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from dovetail._storage.segment import SegmentWriter
from dovetail.indexes.josie import format as josie_format
from dovetail.indexes.josie.core import Array, Costs
from dovetail.indexes.josie.kernels import positions_of, time_lists, time_sets
from dovetail.indexes.protocol import Piece
from dovetail.indexes.tokens import format as tokens_format
from dovetail.indexes.tokens.format import TokenArrays

_SAMPLES = 1000  # as in section 3.4.3
_CHUNKS = 10
_MOST_ITEMS = 500_000  # of all samples together: some milliseconds
_ROUNDS = 3  # one after another, so that a chunk has left the nearest cache when it is read again
LEAST = Costs(s0=100.0, s1=0.2, l0=5.0, l1=0.2)
MOST = Costs(s0=20_000.0, s1=100.0, l0=20_000.0, l1=100.0)
"""No machine is outside of these; a fit to a tiny segment's few samples may be, and is moved to the nearest."""


class JosieBuilder:
    """All that it needs is in the tokens pack, so pieces pass it by."""

    def add(self, piece: Piece) -> None:
        pass

    def finish(self, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
        tokens = TokenArrays(writer.pack(tokens_format.NAME))
        positions = positions_of(
            tokens.posting_offsets, tokens.set_group_offsets, tokens.set_groups, tokens.group_tokens
        )
        costs = np.array(measure(tokens), np.float64)
        writer.write_part(
            josie_format.NAME, josie_format.VERSION, lambda pack: josie_format.write(pack, positions, costs)
        )
        return {}


def measure(tokens: TokenArrays) -> Costs:
    """Read costs from samples of this segment: sets and lists in chunks of like size, and a line through each."""
    random = np.random.default_rng(0)
    sets = _sample(random, tokens.set_group_offsets)
    lists = _sample(random, tokens.posting_offsets)
    counts = np.zeros(tokens.columns, np.int32)
    ones = np.ones(min(_MOST_ITEMS, len(tokens.set_groups)), np.int64)

    def read_sets(chunk: Array) -> int:
        return time_sets(tokens.set_group_offsets, tokens.set_groups, chunk, ones)

    def read_lists(chunk: Array) -> int:
        return time_lists(tokens.posting_offsets, tokens.posting_columns, chunk, counts)

    fitted = Costs(*_fit(sets, read_sets), *_fit(lists, read_lists))
    return Costs(*np.clip(fitted, LEAST, MOST).tolist())


def _sample(random: np.random.Generator, offsets: Array) -> Array:
    """Some lists, by size, no more than can be read in a moment: half by lot, half as often as they have items.

    Long lists are few, and are what searches meet.
    """
    if not offsets[-1]:
        return np.empty(0, np.int64)
    by_lot = random.integers(0, len(offsets) - 1, _SAMPLES // 2)
    by_item = np.searchsorted(offsets, random.integers(0, offsets[-1], _SAMPLES // 2), side="right") - 1
    chosen = random.permutation(np.unique(np.concatenate([by_lot, by_item])))
    sizes = offsets[chosen + 1] - offsets[chosen]
    few = (sizes > 0) & (np.cumsum(sizes) <= _MOST_ITEMS)
    by_size: Array = chosen[few][np.argsort(sizes[few], kind="stable")]
    return by_size


def _fit(sample: Array, read: Callable[[Array], int]) -> tuple[float, float]:
    """Nanoseconds for each list and for each item in it; zeros where there is nothing to measure."""
    read(sample)  # so that code is compiled and pages are mapped before the clock runs
    chunks = [chunk for chunk in np.array_split(sample, _CHUNKS) if len(chunk)]
    rounds = [[_time(read, chunk) for chunk in chunks] for _ in range(_ROUNDS)]
    calling = min(_time(read, sample[:0])[1] for _ in range(_ROUNDS))
    seen = []
    for chunk, *times in zip(chunks, *rounds, strict=True):
        items, nanoseconds = min(times, key=lambda one: one[1])  # the others were disturbed
        seen.append((len(chunk), items, max(nanoseconds - calling, 1)))
    if not seen:
        return 0.0, 0.0
    lists, items, times = np.array(seen, np.float64).T
    # Relative errors count: else the few longest lists alone would decide.
    (each, item), *_ = np.linalg.lstsq(np.stack([lists, items], 1) / times[:, None], np.ones(len(times)), rcond=None)
    return float(each), float(item)


def _time(read: Callable[[Array], int], chunk: Array) -> tuple[int, int]:
    """Items and nanoseconds."""
    start = time.perf_counter_ns()
    items = read(chunk)
    return items, time.perf_counter_ns() - start
