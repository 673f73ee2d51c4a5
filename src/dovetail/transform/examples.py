"""Where examples come from: both directions of two tables, pairs of columns, and sets of their likely row pairs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dovetail._deadline import Deadline
from dovetail.transform.candidates import Example
from dovetail.transform.coverage import SampledTable, rates, sample
from dovetail.transform.matches import ColumnMatch, RowPair, match, match_dates, match_together

_MOST_GROUPS = 40
"""Pairs of columns that are tried, over both directions, unless one does very well: the bound L of Algorithm 5, in
groups instead of example sets. What other numbers give: docs/algorithms/auto_join.md."""
_EXAMPLE_SETS = ((3, 8, 2), (3, 24, 4), (2, 8, 2), (2, 24, 4), (1, 24, 6))
"""Size, of how many of the best pairs, how often. One example teaches a piece of a column, as it is."""
_LONGEST = 250
"""Characters of a value that is part of a key: longer ones are documents, and learning looks at all their parts, whose
number grows with the square. Arbitrary, several times the longest key of the Auto-Join and TDE sets."""

Columns = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True)
class Direction:
    """The table that is transformed, and the table with the key; `reversed` if the left one has the key."""

    source: SampledTable
    target: SampledTable
    reversed: bool


def is_over(deadline: Deadline | None) -> bool:
    return deadline is not None and deadline.is_over


def without_documents(table: Columns) -> Columns:
    """With null for values that are too long to be part of a key."""
    return {
        name: [None if text and len(text) > _LONGEST else text for text in column]
        if any(text and len(text) > _LONGEST for text in column)
        else column
        for name, column in table.items()
    }


def both_directions(left: Columns, right: Columns) -> list[Direction]:
    """Each table as the source; of large ones, the rows among which matches are looked for are a sample."""
    sizes = [len(next(iter(table.values()), ())) for table in (left, right)]
    forth = Direction(*_sampled((left, right), rates(sizes[0], sizes[1])), reversed=False)
    back = Direction(*_sampled((right, left), rates(sizes[1], sizes[0])), reversed=True)
    if (len(back.source.sampled), len(back.target.sampled)) == (len(forth.target.sampled), len(forth.source.sampled)):
        back = Direction(forth.target, forth.source, reversed=True)  # the same samples: sorted once
    return [forth, back]


def _sampled(tables: tuple[Columns, Columns], at: tuple[float, float]) -> tuple[SampledTable, SampledTable]:
    found = [
        SampledTable(table, sample(len(next(iter(table.values()), ())), rate))
        for table, rate in zip(tables, at, strict=True)
    ]
    return found[0], found[1]


def groups(
    directions: Sequence[Direction],
    deadline: Deadline | None = None,
) -> Iterator[tuple[Direction, ColumnMatch]]:
    """Pairs of columns with likely pairs, in descending order of what the q-grams explain of a value on average."""
    found = []
    for direction in directions:
        for key in direction.target.key_columns():
            for column in direction.source.columns:
                if is_over(deadline):
                    break
                source, target = direction.source.values(column), direction.target.values(key)
                if source.texts and target.texts:
                    group = match(source, target)
                    size = min(len(source.texts), len(target.texts))
                    if group.pairs:
                        found.append((-group.weight / size, direction.reversed, direction, group))
    found.sort(key=lambda entry: entry[:2])
    for *_, direction, group in found[:_MOST_GROUPS]:
        yield direction, group


def joint_groups(directions: Sequence[Direction], deadline: Deadline | None) -> Iterator[tuple[Direction, ColumnMatch]]:
    """Pairs by all columns of the source together."""
    for direction in directions:
        if is_over(deadline):
            return
        sources = [values for name in direction.source.columns if (values := direction.source.values(name)).texts]
        for key in direction.target.key_columns() if len(sources) > 1 else ():
            target = direction.target.values(key)
            if target.texts:
                group = match_together(sources, direction.source.columns, direction.source.sampled, target)
                if group.pairs:
                    yield direction, group


def date_groups(
    directions: Sequence[Direction], deadline: Deadline | None = None
) -> Iterator[tuple[Direction, ColumnMatch]]:
    """Pairs of dates and of texts that name months or days."""
    for direction in directions:
        for key in direction.target.key_columns():
            for column in direction.source.columns:
                if is_over(deadline):
                    return
                group = match_dates(direction.source.values(column), direction.target.values(key))
                if group.pairs:
                    yield direction, group


def example_of(direction: Direction, group: ColumnMatch, pair: RowPair) -> Example:
    row = {name: column[pair.source] or "" for name, column in direction.source.columns.items()}
    return Example(row, direction.target.columns[group.target][pair.target] or "")


def example_sets(pairs: Sequence[RowPair]) -> Iterator[list[RowPair]]:
    """Random subsets of the best pairs, the same in every run; no two pairs of a set share a row."""
    draw = random.Random(0)
    for size, top, times in _EXAMPLE_SETS:
        drawn = list(pairs[:top])
        for _ in range(times):
            draw.shuffle(drawn)
            chosen: list[RowPair] = []
            for pair in drawn:
                if all(pair.source != other.source and pair.target != other.target for other in chosen):
                    chosen.append(pair)
                if len(chosen) == size:
                    yield list(chosen)
                    break
