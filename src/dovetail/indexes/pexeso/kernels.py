"""Kernels: which values are texts, range search over sparse vectors, and from matching values to columns.

Range search over sparse unit vectors reads posting lists of their coordinates. Exact: what is left out is proven too
far. A query reads the lists of its dimensions, the cheapest first. From the dimensions read so far a part of every
product is known; the rest is at most the length of the query's rest times that of the other vector's rest
(Cauchy-Schwarz). Once the query's rest is shorter than the least product, a vector in no list is no candidate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

_PLACE_BITS = 12
BLOCK = 1 << _PLACE_BITS
"""Vectors whose sums are kept at a time, as many as a processor holds near. Lists are cut at blocks: a posting is the
place of a vector within its block and, in the four bits above, its weight: a class of sizes, and 8 more where it is
negative."""
_NEGATIVE = 8
# The classes of sizes, as shares of the vector's largest weight. A weight is mostly that or half of it, since most
# trigrams of a text occur once or twice; words with a digit weigh 7/4. Other weights cost time, never the answer.
_LEAST = np.array([0.0, 1 / 4, 1 / 3, 1 / 2, 1 / 2, 4 / 7, 3 / 4, 1.0])
_MOST = np.array([1 / 4, 1 / 3, 1 / 2, 1 / 2, 4 / 7, 3 / 4, 1.0, 1.0])
_SAME = 1e-6  # of shares: two float32 that are meant to be equal
_GRID = 84  # all bounds of classes are multiples of 1/84
_CLASSES = np.array(
    [
        min(
            np.flatnonzero((share + _SAME >= _LEAST) & (share - _SAME <= _MOST)),
            key=lambda each: _MOST[each] - _LEAST[each],
        )
        for share in np.arange(2 * _GRID + 1) / (2 * _GRID)
    ]
)  # of the shares 0, between 0 and 1/84, 1/84, and so on
_SCALES = 255  # steps of the largest weight of a vector
_SLACK = 1e-5  # of products, for float32
_ENOUGH = 0.75  # of the fourth power of the least product: what a query may leave unread; less makes fewer candidates


_LETTERS = 3
_OTHER_SCRIPT = 2  # letters that one of another script counts for: two are a word
_CHARACTERS = 4  # of a text in Latin letters: three are a code


@compiled
def mark_texts(content: Array, offsets: Array) -> Array:
    """Which of the texts have letters enough to be spelt or understood in another way."""
    found = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(offsets) - 1):
        characters, letters, others = 0, 0, 0
        for at in range(offsets[text], offsets[text + 1]):
            byte = content[at]
            if byte & 0xC0 == 0x80:  # not the first byte of a character
                continue
            characters += 1
            if 0x61 <= byte <= 0x7A or 0x41 <= byte <= 0x5A:
                letters += 1
            elif byte >= 0xC3:  # before it are Latin-1's signs
                others += 1
            if letters + _OTHER_SCRIPT * others >= _LETTERS and (characters >= _CHARACTERS or others > 0):
                found[text] = True
                break
    return found


@compiled
def count_columns(
    queries: Array, groups: Array, counts: Array, posting_offsets: Array, posting_columns: Array,
    rows: Array, values: Array, last: Array,
) -> None:  # fmt: skip
    """Add to each column the rows and values of the queries that match one of its values, each query once.

    The pairs of a query and a matching group follow each other; `last` holds for each column the last query
    counted.
    """
    for pair in range(len(queries)):
        query, group = queries[pair], groups[pair]
        for at in range(posting_offsets[group], posting_offsets[group + 1]):
            column = posting_columns[at]
            if last[column] != query:
                last[column] = query
                rows[column] += counts[query]
                values[column] += 1


@compiled
def groups_of_columns(columns: Array, set_group_offsets: Array, set_groups: Array, groups: int) -> Array:
    """Which groups of tokens any of the columns holds."""
    found = np.zeros(groups, np.bool_)
    for column in range(len(columns)):
        if columns[column]:
            for at in range(set_group_offsets[column], set_group_offsets[column + 1]):
                found[set_groups[at]] = True
    return found


class _Read(NamedTuple):
    """What is known of the vectors of one block."""

    upper: Array  # of the product with what was read, over the vector's largest weight
    squares: Array  # of the vector's weights that were read, from below, over the square of the largest
    marks: Array


@compiled
def coded_weight(share: float) -> int:
    """The narrowest class that holds a weight, by its share of the vector's largest, with its sign."""
    at = abs(share) * _GRID
    nearest = int64(at + 0.5)
    found = int64(_CLASSES[2 * nearest if abs(at - nearest) <= _GRID * _SAME else 2 * int64(at) + 1])
    return found | _NEGATIVE if share < 0 else found


@compiled
def largest_weights(starts: Array, weights: Array) -> Array:
    """Of each vector the size of its largest weight."""
    found = np.zeros(len(starts) - 1, np.float64)
    for row in range(len(starts) - 1):
        for k in range(starts[row], starts[row + 1]):
            found[row] = max(found[row], abs(np.float64(weights[k])))
    return found


@compiled
def coded_scales(largest: Array) -> Array:
    """Largest weights in eight bits, rounded up."""
    codes: Array = np.minimum(np.ceil(largest * _SCALES), _SCALES).astype(np.uint8)
    return codes


@compiled
def count_lists(starts: Array, dimensions: Array, base: int, lengths: Array) -> None:
    """Add some vectors, numbered from `base`, to the lengths of the lists of each dimension and block."""
    for row in range(len(starts) - 1):
        for k in range(starts[row], starts[row + 1]):
            lengths[dimensions[k], (base + row) // BLOCK] += 1


@compiled
def fill_lists(starts: Array, dimensions: Array, weights: Array, base: int, ends: Array, postings: Array) -> None:
    """Append some vectors, numbered from `base`, to lists that end at `ends`."""
    largest = largest_weights(starts, weights)
    for row in range(len(starts) - 1):
        for k in range(starts[row], starts[row + 1]):
            at = ends[dimensions[k]]
            code = coded_weight(np.float64(weights[k]) / largest[row])
            postings[at] = (base + row) & (BLOCK - 1) | code << _PLACE_BITS
            ends[dimensions[k]] = at + 1


@compiled
def candidates(
    starts: Array, dimensions: Array, weights: Array, list_starts: Array, postings: Array, scales: Array,
    allowed: Array, least: float, room: int,
) -> tuple[Array, Array, int]:  # fmt: skip
    """Pairs of a query and an allowed vector whose product may reach `least`; and how many queries they are of.

    Fewer than all where the pairs reach `room`: call again for the others.
    """
    size = len(allowed)
    known = _Read(np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.bool_))
    touched = np.empty(BLOCK, np.int64)
    found_queries = np.empty(room + size, np.int64)
    found_places = np.empty(room + size, np.int64)
    most, square = _decoded()
    largest = np.arange(_SCALES + 1) / _SCALES
    smallest = (np.maximum(np.arange(_SCALES + 1) - 1, 0) / _SCALES) ** 2
    found = 0
    for query in range(len(starts) - 1):
        if found >= room:
            return found_queries[:found], found_places[:found], query
        part = slice(starts[query], starts[query + 1])
        order, making, reading, rest = _plan(dimensions[part], weights[part], list_starts, least)
        lists = dimensions[part][order[:reading]]
        gains = _gains(weights[part][order[:reading]], most)
        for base in range(0, size, BLOCK):
            block = base // BLOCK
            count = 0
            for k in range(reading):
                gain = gains[k]
                for at in range(list_starts[lists[k], block], list_starts[lists[k], block + 1]):
                    posting = postings[at]
                    place = posting & np.uint16(BLOCK - 1)
                    if not known.marks[place]:
                        if k >= making or not allowed[base + place]:
                            continue
                        known.marks[place] = True
                        touched[count] = place
                        count += 1
                    code = posting >> np.uint16(_PLACE_BITS)
                    known.upper[place] += gain[code]
                    known.squares[place] += square[code]
            for k in range(count):
                place = touched[k]
                scale = scales[base + place]
                missing = least - _SLACK - known.upper[place] * largest[scale]
                near = missing <= rest * (1.0 + _SLACK)
                if near and missing > 0.0:  # by its own rest, not by the longest there can be
                    other = np.sqrt(max(1.0 - known.squares[place] * smallest[scale], 0.0))
                    near = missing <= rest * (other + _SLACK)
                if near:
                    found_queries[found] = query
                    found_places[found] = base + place
                    found += 1
                known.upper[place] = 0.0
                known.squares[place] = 0.0
                known.marks[place] = False
    return found_queries[:found], found_places[:found], len(starts) - 1


@compiled
def _plan(dimensions: Array, weights: Array, list_starts: Array, least: float) -> tuple[Array, int, int, float]:
    """In which order a query's lists are read, how many make candidates and are read at all, and what rest is left."""
    order = _order(dimensions, weights, list_starts)
    rest = 0.0
    for weight in weights:
        rest += np.float64(weight) * np.float64(weight)
    making = len(order)
    for k in range(len(order)):
        if making == len(order) and np.sqrt(rest) < least - 2 * _SLACK:
            making = k
        if making < len(order) and rest < least**4 * _ENOUGH:
            return order, making, k, np.sqrt(rest)
        rest = max(rest - np.float64(weights[order[k]]) * np.float64(weights[order[k]]), 0.0)
    return order, making, len(order), np.sqrt(rest)


@compiled
def _decoded() -> tuple[Array, Array]:
    """Of each code the largest weight with its sign, and the square of the least; the vector's largest being 1."""
    most, square = np.empty(2 * _NEGATIVE, np.float32), np.empty(2 * _NEGATIVE, np.float32)
    for code in range(2 * _NEGATIVE):
        size = code % _NEGATIVE
        most[code] = _MOST[size] + _SAME if code < _NEGATIVE else -_MOST[size] - _SAME
        square[code] = max(_LEAST[size] - _SAME, 0.0) ** 2
    return most, square


@compiled
def _gains(weights: Array, most: Array) -> Array:
    """What each code adds to the bound of a product with each of the weights."""
    found = np.empty((len(weights), len(most)), np.float32)
    for k in range(len(weights)):
        for code in range(len(most)):
            found[k, code] = max(weights[k] * most[code], np.float32(0.0))
    return found


@compiled
def _order(dimensions: Array, weights: Array, list_starts: Array) -> Array:
    """The query's coordinates, those first whose lists are short for their weight."""
    costs = np.empty(len(dimensions), np.float64)
    blocks = list_starts.shape[1] - 1
    for k in range(len(dimensions)):
        length = list_starts[dimensions[k], blocks] - list_starts[dimensions[k], 0]
        costs[k] = length / (np.float64(weights[k]) * np.float64(weights[k]))
    return np.argsort(costs)


@compiled
def squared_distances(
    a_starts: Array, a_dimensions: Array, a_weights: Array, a_rows: Array,
    b_starts: Array, b_dimensions: Array, b_weights: Array, b_rows: Array,
) -> Array:  # fmt: skip
    """Of pairs of sparse vectors, in float64."""
    found = np.empty(len(a_rows), np.float64)
    for pair in range(len(a_rows)):
        i, i_end = a_starts[a_rows[pair]], a_starts[a_rows[pair] + 1]
        j, j_end = b_starts[b_rows[pair]], b_starts[b_rows[pair] + 1]
        total = 0.0
        while i < i_end or j < j_end:
            left = a_dimensions[i] if i < i_end else np.int32(2**31 - 1)
            right = b_dimensions[j] if j < j_end else np.int32(2**31 - 1)
            difference = 0.0
            if left <= right:
                difference += np.float64(a_weights[i])
                i += 1
            if right <= left:
                difference -= np.float64(b_weights[j])
                j += 1
            total += difference * difference
        found[pair] = total
    return found
