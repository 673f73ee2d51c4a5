"""Kernels over sketches and trees, and the two optimisations of LSH Ensemble: partitions of sizes, and their tuning.

Inputs are read-only C arrays; offsets were checked before. The compiled functions keep their plain Python form as
`.py_func`, which the tests use as the oracle.
"""

from __future__ import annotations

import numpy as np

from dovetail._compile import compiled, int64
from dovetail._types import Array

_NODES = 32


_HIGH_HALF = np.uint64(32)
_NOTHING = np.uint32(0xFFFFFFFF)
_DEVIATIONS = 2.5  # and one less, for the longer tail where sets are nearly equal


@compiled
def _lower_by_hashes(least: Array, hashes: Array, multipliers: Array, additions: Array) -> None:
    """Lower each minimum to the least value that its function takes over the hashes."""
    for i in range(len(hashes)):
        for k in range(len(least)):
            value = np.uint32((multipliers[k] * hashes[i] + additions[k]) >> _HIGH_HALF)
            least[k] = min(least[k], value)


@compiled
def sketch_hashes(hashes: Array, multipliers: Array, additions: Array) -> Array:
    """The MinHash signature of a set of tokens, given by their hashes."""
    least = np.full(len(multipliers), _NOTHING, np.uint32)
    _lower_by_hashes(least, hashes, multipliers, additions)
    return least


@compiled
def sketch_groups(
    groups: Array, group_tokens: Array, token_hashes: Array, multipliers: Array, additions: Array
) -> Array:
    """The signatures of some groups, by row."""
    found = np.empty((len(groups), len(multipliers)), np.uint32)
    for i in range(len(groups)):
        hashes = token_hashes[group_tokens[groups[i]] : group_tokens[groups[i] + 1]]
        found[i] = sketch_hashes(hashes, multipliers, additions)
    return found


@compiled
def sketch_sets(
    columns: Array,
    set_group_offsets: Array,
    set_groups: Array,
    group_tokens: Array,
    token_hashes: Array,
    shared: Array,
    shared_sketches: Array,
    multipliers: Array,
    additions: Array,
) -> Array:
    """The signatures of some columns' sets, a row for each function.

    The minimum over a set is the least of the minima over its groups: `shared` gives the row of `shared_sketches` for
    those groups that were sketched beforehand, and -1 for the others.
    """
    found = np.empty((len(multipliers), len(columns)), np.uint32)
    least = np.empty(len(multipliers), np.uint32)
    for i in range(len(columns)):
        least[:] = _NOTHING
        for at in range(set_group_offsets[columns[i]], set_group_offsets[columns[i] + 1]):
            group = set_groups[at]
            row = shared[group]
            if row < 0:
                hashes = token_hashes[group_tokens[group] : group_tokens[group + 1]]
                _lower_by_hashes(least, hashes, multipliers, additions)
            else:
                for k in range(len(least)):
                    least[k] = min(least[k], shared_sketches[row, k])
        for k in range(len(least)):
            found[k, i] = least[k]
    return found


@compiled
def _compare(signatures: Array, member: int, sketch: Array, start: int, rows: int) -> int:
    """-1, 0 or 1 as the member's values from `start` on are below, equal to or above the sketch's."""
    for k in range(start, start + rows):
        if signatures[k, member] < sketch[k]:
            return -1
        if signatures[k, member] > sketch[k]:
            return 1
    return 0


@compiled
def mark_candidates(sketch: Array, signatures: Array, trees: Array, bands: int, rows: int, seen: Array) -> int:
    """Mark the members that agree with the sketch in all `rows` values of at least one of `bands` bands.

    Tree k holds the members in the order of their values from k on, so each band is a binary search in the tree that
    begins with it. Returns how many tree entries matched.
    """
    members = trees.shape[1]
    matched = 0
    for band in range(bands):
        start = band * rows
        tree = trees[start]
        low, high = 0, members
        while low < high:
            middle = (low + high) >> 1
            if _compare(signatures, tree[middle], sketch, start, rows) < 0:
                low = middle + 1
            else:
                high = middle
        while low < members and _compare(signatures, tree[low], sketch, start, rows) == 0:
            seen[tree[low]] = 1
            matched += 1
            low += 1
    return matched


@compiled
def least_equal(similarity: float, permutations: int) -> int:
    """The fewest equal minima of two sets of this Jaccard similarity, at a confidence of about 99 %."""
    expected = similarity * permutations
    return int64(np.ceil(expected - _DEVIATIONS * np.sqrt(expected * (1.0 - similarity)))) - 1


@compiled
def _agrees(signatures: Array, member: int, sketch: Array, least: int) -> bool:
    """Whether at least so many of all values are equal."""
    left = least
    for k in range(len(sketch)):
        left -= signatures[k, member] == sketch[k]
        if left > len(sketch) - 1 - k:
            break
    return left <= 0


@compiled
def candidates_in(
    partitions: Array,
    bands: Array,
    rows: Array,
    sketch: Array,
    layout: tuple[Array, Array, Array, Array],
    set_offsets: Array,
    asked: int,
    need: int,
    allowed: Array,
) -> tuple[Array, int]:
    """The candidates of some partitions: columns that, by their sketch, may hold `need` of `asked` tokens.

    Columns that agree with the sketch in a band are compared with it in all values: given the column's own size,
    that decides better than the band. `layout` is (offsets, columns, signatures, trees). Returns also how many tree
    entries matched.
    """
    offsets, columns, signatures, trees = layout
    total = 0
    for i in range(len(partitions)):
        total += offsets[partitions[i] + 1] - offsets[partitions[i]]
    found = np.empty(total, np.uint32)
    hits, matched = 0, 0
    for i in range(len(partitions)):
        start, width = offsets[partitions[i]], offsets[partitions[i] + 1] - offsets[partitions[i]]
        place = slice(start * len(sketch), (start + width) * len(sketch))
        matrix, order = signatures[place].reshape(-1, width), trees[place].reshape(-1, width)
        seen = np.zeros(width, np.uint8)
        matched += mark_candidates(sketch, matrix, order, bands[i], rows[i], seen)
        for member in range(width):
            column = columns[start + member]
            size = set_offsets[column + 1] - set_offsets[column]
            if not seen[member] or size < need or (len(allowed) and not allowed[column]):
                continue
            if _agrees(matrix, member, sketch, least_equal(need / (asked + size - need), len(sketch))):
                found[hits] = column
                hits += 1
    return found[:hits], matched


@compiled
def cut_sizes(sizes: Array, counts: Array, parts: int) -> Array:
    """Cut ascending distinct `sizes`, `counts[i]` sets of each, into at most `parts` runs of least total cost.

    The cost of a run is its expected number of false positives, Σ count · (1 − size / greatest size) (Equation 2.18).
    It satisfies the quadrangle inequality, so the best last cut never moves left when the end moves right: divide and
    conquer over the ends is exact and takes O(parts · n log n) instead of O(parts · n²). Returns where the runs begin,
    and len(sizes) at the end.
    """
    n = len(sizes)
    parts = min(parts, n)
    sets = np.zeros(n + 1)
    tokens = np.zeros(n + 1)
    for i in range(n):
        sets[i + 1] = sets[i] + counts[i]
        tokens[i + 1] = tokens[i] + counts[i] * sizes[i]
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    begins = np.zeros((parts + 1, n + 1), np.int64)
    for part in range(1, parts + 1):
        best = _one_more(best, begins[part], part, sizes, sets, tokens)
    cuts = np.empty(parts + 1, np.int64)
    cuts[parts] = n
    for part in range(parts, 0, -1):
        cuts[part - 1] = begins[part, cuts[part]]
    return cuts


@compiled
def _one_more(best: Array, begins: Array, part: int, sizes: Array, sets: Array, tokens: Array) -> Array:
    """The least cost of `part` runs over every beginning of the sizes, from that of one run less."""
    n = len(sizes)
    costs = np.full(n + 1, np.inf)
    stack = np.empty((128, 4), np.int64)
    stack[0] = np.array([part, n, part - 1, n - 1])
    open_ranges = 1
    while open_ranges:
        open_ranges -= 1
        low, high, first, last = stack[open_ranges]
        if low > high:
            continue
        end = (low + high) // 2
        at = first
        for begin in range(first, min(last, end - 1) + 1):
            run = sets[end] - sets[begin] - (tokens[end] - tokens[begin]) / sizes[end - 1]
            if best[begin] + run < costs[end]:
                costs[end] = best[begin] + run
                at = begin
        begins[end] = at
        stack[open_ranges] = np.array([low, end - 1, first, at])
        stack[open_ranges + 1] = np.array([end + 1, high, at, last])
        open_ranges += 2
    return costs


@compiled
def tune(threshold: float, ratio: float, permutations: int, depth: int, recall: float) -> tuple[int, int]:
    """(bands, rows) of the least FP + FN among those that find a set at the threshold with probability `recall`.

    `ratio` is |X| / |Q|. The integrals of Equations 2.23 and 2.24 are midpoint sums; powers come by multiplication.
    """
    errors = np.zeros((depth + 1, permutations + 1))
    greatest = min(1.0, ratio)
    edge = min(threshold, greatest)
    for node in range(_NODES):
        place = (node + 0.5) / _NODES
        _add_error(errors, place * edge, ratio, edge / _NODES, True)
        if greatest > edge:
            _add_error(errors, edge + place * (greatest - edge), ratio, (greatest - edge) / _NODES, False)
    least, bands, rows = np.inf, 0, 0
    similarity = edge / (ratio + 1.0 - edge)
    power = 1.0
    for r in range(1, depth + 1):
        power *= similarity
        missed = 1.0
        for b in range(1, permutations // r + 1):
            missed *= 1.0 - power
            if 1.0 - missed >= recall and errors[r, b] < least:
                least, bands, rows = errors[r, b], b, r
    return bands, rows


@compiled
def _add_error(errors: Array, containment: float, ratio: float, weight: float, below: bool) -> None:
    """Add to every (rows, bands) how often a set of this containment is wrongly found, or wrongly missed."""
    similarity = containment / (ratio + 1.0 - containment)
    power = 1.0
    for r in range(1, errors.shape[0]):
        power *= similarity
        missed = 1.0
        for b in range(1, (errors.shape[1] - 1) // r + 1):
            missed *= 1.0 - power
            errors[r, b] += weight * (1.0 - missed if below else missed)
