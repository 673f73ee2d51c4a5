"""Columns that match mine value by value, in spelling or meaning; segments are searched one after the other.

Joinability counts rows: a value of mine that has a match in the column counts as often as it occurs in mine. A column
is dropped as soon as the values that are left cannot lift it to what is asked for (the paper's Lemma 7, with mismatches
counted once for each of my values). The counts of a column that stays are always complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail._cancel import check_cancelled
from dovetail._types import Array
from dovetail.embedders.calibration import Matching
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.core import Space, TextVectors
from dovetail.indexes.pexeso.kernels import count_columns
from dovetail.indexes.pexeso.query import VectorMatches
from dovetail.tables.input_column import InputColumn

_PARTS = 4  # into which the values are cut that are asked after the first columns can be dropped


@dataclass(frozen=True)
class SimilarMatch:
    """A column, and how many rows and distinct values of mine have a match in it."""

    segment: OpenSegment
    column: int
    rows: int
    values: int
    near: VectorMatches  # of the whole segment

    @property
    def table(self) -> str:
        return self.segment.names[int(self.segment.table_of[self.column])]

    @property
    def order(self) -> tuple[int, int, str, int]:
        """Most rows first, then most values; ties by table, then by the column's place in it."""
        return (-self.rows, -self.values, self.table, self.column)

    def mapping(self) -> tuple[Array, Array, Array]:
        """My values that have a match, ascending, the most similar token for each, and how similar it is."""
        members = self.segment.tokens.set_of(self.column)[0]
        inside = np.isin(self.near.tokens, members)
        queries, tokens, similarities = (
            part[inside] for part in (self.near.queries, self.near.tokens, self.near.similarities)
        )
        # Of equally similar ones the first by name: ids are another segment's business.
        names = np.argsort(np.argsort(np.array(self.segment.tokens.tokens(tokens).to_pylist(), object)))
        order = np.lexsort((names, -similarities, queries))
        found, first = np.unique(queries[order], return_index=True)
        return found, tokens[order][first], similarities[order][first]


@dataclass(frozen=True)
class TextQuery:
    """My values as vectors; those that are not texts match only equal values."""

    column: InputColumn
    texts: Array  # places among the column's tokens
    codes: Array
    vectors: TextVectors

    @classmethod
    def of(cls, column: InputColumn, space: Space) -> TextQuery:
        marks = column.texts
        texts = np.flatnonzero(marks)
        return cls(column, texts, np.flatnonzero(~marks), space.embedded(column.tokens.take(pa.array(texts))))


def similar(
    segments: Sequence[OpenSegment],
    asked: TextQuery,
    matching: Matching,
    k: int | None,
    least: int,
    columns: list[Array],
) -> list[SimilarMatch]:
    """The columns in which at least `least` rows of mine have a match: all, or the `k` best. Exact."""
    found: list[SimilarMatch] = []
    for segment, allowed in zip(segments, columns, strict=True):
        check_cancelled()
        found = sorted(
            [*found, *_in_segment(segment, asked, matching, k, least, allowed)], key=lambda match: match.order
        )
        if k is not None:
            found = found[:k]
            # What has fewer rows than the last of the k so far need not be looked at in the other segments.
            least = max(least, found[-1].rows) if len(found) == k else least
    return found


def _in_segment(
    segment: OpenSegment, asked: TextQuery, matching: Matching, k: int | None, least: int, allowed: Array
) -> list[SimilarMatch]:
    count = RowCount(segment, asked.column.counts)
    found = [equal_codes(segment, asked)]
    count.add(found[0])
    weights = asked.column.counts[asked.texts]
    left = int(weights.sum())
    order = np.argsort(-weights, kind="stable")  # what counts most first: columns drop out sooner
    parts = _parts(order, weights, left - least)
    if k is None:  # the best k need counts of nearly all columns
        some = segment.texts.joinable(asked.vectors, weights, matching, least, count.rows, allowed)
        if some is not allowed:
            allowed, parts = some, [order]  # Lemma 7 has been applied
    alive = allowed
    for part in parts:
        near = segment.texts.near(asked.vectors.take(part), matching, alive)
        found.append(VectorMatches(asked.texts[part][near.queries], near.tokens, near.similarities))
        count.add(found[-1])
        left -= int(weights[part].sum())
        alive = allowed & (count.rows + left >= max(least, _kth(count.rows[allowed], k)))
        if not alive.any():
            return []
    near = VectorMatches.joined(found)
    chosen = np.flatnonzero(alive & (count.rows >= max(least, 1)))
    return [SimilarMatch(segment, int(c), int(count.rows[c]), int(count.values[c]), near) for c in chosen]


def equal_codes(segment: OpenSegment, asked: TextQuery) -> VectorMatches:
    """My values that are not texts, with the tokens that are the same."""
    equal = segment.texts.equal(asked.column.tokens.take(pa.array(asked.codes)))
    return VectorMatches(asked.codes[equal.queries], equal.tokens, equal.similarities)


def _parts(order: Array, weights: Array, spare: int) -> list[Array]:
    """The values in parts: first those whose mismatches cannot rule out a column, then the others."""
    first = int(np.searchsorted(np.cumsum(weights[order]), max(spare, 0), side="right")) + 1
    rest = np.array_split(order[first:], _PARTS)
    return [part for part in (order[:first], *rest) if len(part)]


def _kth(rows: Array, k: int | None) -> int:
    """The rows that the k-th best column has so far: the k-th best will have no fewer."""
    some = rows[rows > 0]  # of a million columns, few have any, and equal numbers are what np.partition is slow on
    return 0 if k is None or k > len(some) else int(np.partition(some, len(some) - k)[len(some) - k])


class RowCount:
    """Rows and values of mine that have a match, for every column of a segment."""

    def __init__(self, segment: OpenSegment, counts: Array) -> None:
        self._arrays = segment.tokens.arrays
        self._counts = counts
        columns = self._arrays.columns
        self.rows, self.values = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
        self._last = np.full(columns, -1, np.int64)

    def add(self, near: VectorMatches) -> None:
        """The pairs of a query must be consecutive, and all in one call."""
        arrays = self._arrays
        groups = np.searchsorted(arrays.group_tokens, near.tokens, side="right") - 1
        count_columns(
            near.queries, groups, self._counts, arrays.posting_offsets, arrays.posting_columns,
            self.rows, self.values, self._last,
        )  # fmt: skip
