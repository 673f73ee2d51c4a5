"""One-to-one assignments of greatest weight (Kuhn 1955; shortest augmenting paths as in Jonker and Volgenant 1987)."""

from __future__ import annotations

import numpy as np

from dovetail._types import Array


def best_assignment(weights: Array) -> list[tuple[int, int]]:
    """Pairs of a row and a column, each at most once, with the greatest sum of weights; none has the weight 0."""
    if weights.shape[0] > weights.shape[1]:
        return sorted((row, column) for column, row in best_assignment(weights.T))
    costs = -np.asarray(weights, np.float64)
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.full(columns + 1, rows)  # the last column is where each search begins, the last row is none
    for row in range(rows):
        row_of[columns] = row
        column, came_from = columns, np.full(columns, columns)
        nearest, done = np.full(columns, np.inf), np.zeros(columns + 1, bool)
        while row_of[column] < rows:
            done[column] = True
            current = row_of[column]
            reduced = costs[current] - row_price[current] - column_price[:columns]
            closer = ~done[:columns] & (reduced < nearest)
            nearest[closer], came_from[closer] = reduced[closer], column
            open_columns = np.where(done[:columns], np.inf, nearest)
            following = int(np.argmin(open_columns))
            step = open_columns[following]
            row_price[row_of[done]] += step
            column_price[done] -= step
            nearest[~done[:columns]] -= step
            column = following
        while column != columns:
            previous = int(came_from[column])
            row_of[column] = row_of[previous]
            column = previous
    pairs = ((int(row_of[column]), column) for column in range(columns) if row_of[column] < rows)
    return sorted(pair for pair in pairs if weights[pair] > 0)
