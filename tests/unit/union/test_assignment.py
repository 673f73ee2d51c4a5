"""The assignment of columns has the greatest weight."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.union.alignment import best_assignment

weights = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(weights)
def test_equal_to_brute_force(values):
    matrix = np.array(values) / 6
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    best = max(
        sum(wide[row, column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(wide.shape[1]), wide.shape[0])
    )
    found = best_assignment(matrix)
    assert abs(sum(matrix[pair] for pair in found) - best) < 1e-9
    assert len({row for row, _ in found}) == len({column for _, column in found}) == len(found)
    assert all(matrix[pair] > 0 for pair in found)
    assert found == sorted(found)
