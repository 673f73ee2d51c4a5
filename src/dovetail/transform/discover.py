"""From two tables to the programs that join them: example sets, both directions, ranking, several programs together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail._deadline import Deadline
from dovetail.transform.candidates import Example
from dovetail.transform.coverage import SCORED_ROWS, Coverage, SampledTable, rates, sample
from dovetail.transform.learn import Learned, Slot, learn, learn_piece
from dovetail.transform.matches import ColumnMatch, RowPair, match, match_together
from dovetail.transform.program import Program, cuts_numbers

_MOST_GROUPS = 6  # pairs of columns that are tried, over both directions
_NEAR_BEST = 0.5  # of the best pair's weight: less is not tried
_EXAMPLE_SETS = ((3, 8, 2), (3, 24, 4), (2, 8, 2), (2, 24, 4), (1, 24, 6))
"""Size, of how many of the best pairs, how often. One example teaches a piece of a column, as it is."""
_ENOUGH = 0.97  # of the target's keys: nothing better is looked for
_VERY_GOOD = 0.9  # other pairs of columns are not tried
_GOOD = 0.8  # whole rows are not tried
_LEAST_COVERAGE = 0.1  # of the smaller table's keys: less may be chance
_NUMERIC_DISCOUNT = 0.6  # of the score, where the key is made of digits
_SIMPLE_COST = 1.3  # a program of one plain step is accepted as soon as it makes its examples
MOST_PROGRAMS = 6
_LONGEST = 250
"""Characters of a value that is part of a key: longer ones are documents, and learning looks at all their parts, whose
number grows with the square. Arbitrary, several times the longest key of the Auto-Join and TDE sets."""


@dataclass(frozen=True)
class Direction:
    """The table that is transformed, and the table with the key; `reversed` if the left one has the key."""

    source: SampledTable
    target: SampledTable
    reversed: bool


@dataclass(frozen=True)
class Discovery:
    """Programs over the source's columns whose values are keys of the target, the best first."""

    programs: tuple[Program, ...]
    source: str  # the column whose values were matched with the key's
    target: str
    reversed: bool  # the right table is transformed into a key of the left one
    key: Program | None = None  # what is taken of the key, where it is composite

    def keys_of(self, target: Mapping[str, Sequence[str | None]]) -> Sequence[str | None]:
        """What the programs must make: the key's column, or a part of it."""
        return target[self.target] if self.key is None else self.key.apply(target)


Columns = Mapping[str, Sequence[str | None]]


def discover(
    left: Columns,
    right: Columns,
    most_programs: int = MOST_PROGRAMS,
    deadline: Deadline | None = None,
) -> Discovery | None:
    """The programs that join two tables of raw text; None if no program joins enough rows.

    Nothing new is tried after the deadline.
    """
    directions = _directions(without_documents(left), without_documents(right))
    chosen: tuple[float, Direction, ColumnMatch, Learned] | None = None
    for direction, group in itertools.chain(_groups(directions, deadline), _joint_groups(directions, deadline)):
        if _is_over(deadline):
            break
        if group.weight == 0.0 and chosen and chosen[0] >= _GOOD:
            break
        coverage = _coverage(direction, group.target)
        found = _best_program(direction, group, coverage, deadline)
        if found is None:
            continue
        score = coverage.score(found.program) * (_NUMERIC_DISCOUNT if direction.target.is_numeric(group.target) else 1)
        if chosen is None or score > chosen[0]:
            chosen = (score, direction, group, found)
        if score >= _VERY_GOOD:
            break
    if chosen is None:
        return None
    score, direction, group, found = chosen
    coverage = _coverage(direction, group.target)
    if coverage.share(found.program) < _LEAST_COVERAGE:
        return None
    programs = _with_more(direction, group, coverage, found.program, most_programs, deadline)
    return Discovery(programs, group.source, group.target, direction.reversed)


def _is_over(deadline: Deadline | None) -> bool:
    return deadline is not None and deadline.is_over


def likely_columns(left: Columns, right: Columns, deadline: Deadline | None = None) -> tuple[str, str] | None:
    """The two columns whose q-grams match best, at least one of them nearly a key."""
    directions = _directions(without_documents(left), without_documents(right))
    for direction, group in _groups(directions, deadline, SampledTable.key_columns):
        return (group.target, group.source) if direction.reversed else (group.source, group.target)
    return None


def without_documents(table: Columns) -> Columns:
    """With null for values that are too long to be part of a key."""
    return {
        name: [None if text and len(text) > _LONGEST else text for text in column]
        if any(text and len(text) > _LONGEST for text in column)
        else column
        for name, column in table.items()
    }


def _directions(left: Columns, right: Columns) -> list[Direction]:
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


def _coverage(direction: Direction, key: str) -> Coverage:
    """Of all keys of the target, by some rows of the source."""
    rows = sample(direction.source.rows, SCORED_ROWS / max(direction.source.rows, 1))
    source = direction.source if len(rows) == direction.source.rows else direction.source.take(rows)
    return Coverage(source, direction.target, key)


def _groups(
    directions: Sequence[Direction],
    deadline: Deadline | None,
    columns: Callable[[SampledTable], list[str]] | None = None,
) -> Iterator[tuple[Direction, ColumnMatch]]:
    """Pairs of columns with likely pairs, those first whose values the q-grams explain best."""
    found = []
    for direction in directions:
        for key in direction.target.key_columns():
            for column in direction.source.columns if columns is None else columns(direction.source):
                if _is_over(deadline):
                    break
                source, target = direction.source.values(column), direction.target.values(key)
                if source.texts and target.texts:
                    group = match(source, target)
                    size = min(len(source.texts), len(target.texts))
                    if group.pairs:
                        penalty = direction.target.is_numeric(key) + direction.source.is_numeric(column)
                        found.append((penalty, -group.weight / size, direction.reversed, direction, group))
    found.sort(key=lambda entry: entry[:3])
    for penalty, weight, _, direction, group in found[:_MOST_GROUPS]:
        if penalty > found[0][0] or weight <= _NEAR_BEST * found[0][1]:
            yield direction, group


def _joint_groups(
    directions: Sequence[Direction], deadline: Deadline | None
) -> Iterator[tuple[Direction, ColumnMatch]]:
    """Pairs by all columns of the source together."""
    for direction in directions:
        if _is_over(deadline):
            return
        sources = [values for name in direction.source.columns if (values := direction.source.values(name)).texts]
        for key in direction.target.key_columns() if len(sources) > 1 else ():
            target = direction.target.values(key)
            if target.texts:
                group = match_together(sources, direction.source.columns, direction.source.sampled, target)
                if group.pairs:
                    yield direction, group


def _best_program(
    direction: Direction, group: ColumnMatch, coverage: Coverage, deadline: Deadline | None
) -> Learned | None:
    """The program with the best coverage, of those that the group's example sets teach.

    From the matched column alone if that does well, otherwise from whole rows too.
    """
    best: tuple[float, float, Learned] | None = None
    tried = set()
    names = list(direction.source.columns)
    for columns in [[group.source], names][: len(names)]:
        if best and best[0] >= _GOOD:
            break
        for pairs in _example_sets(group.pairs):
            if _is_over(deadline):
                break
            examples = [_example(direction, group, pair) for pair in pairs]
            found = (
                learn_piece(examples[0], group.source)
                if len(pairs) == 1
                else learn(examples, group.source, columns, deadline)
            )
            if found is None or found.program in tried:
                continue
            tried.add(found.program)
            found = _refined(found, coverage, deadline)
            if not _is_convincing(found, len(pairs), coverage) or cuts_numbers(found.program, direction.source.columns):
                continue
            rank = (coverage.score(found.program), -found.cost, found)
            if best is None or rank[:2] > best[:2]:
                best = rank
            if best[0] >= _ENOUGH:
                break
    return best[2] if best else None


def _is_convincing(found: Learned, examples: int, coverage: Coverage) -> bool:
    """Whether it makes more than its examples, or is so plain that it need not."""
    reached = len(coverage.reached([found.program]))
    if reached == coverage.size:
        return examples > 1 or found.cost <= _SIMPLE_COST
    return reached > examples or (reached > 1 and found.cost <= _SIMPLE_COST)


def _example(direction: Direction, group: ColumnMatch, pair: RowPair) -> Example:
    row = {name: column[pair.source] or "" for name, column in direction.source.columns.items()}
    return Example(row, direction.target.columns[group.target][pair.target] or "")


def _example_sets(pairs: Sequence[RowPair]) -> Iterator[list[RowPair]]:
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


def _refined(found: Learned, coverage: Coverage, deadline: Deadline | None) -> Learned:
    """With those readings of each slot that cover most: the examples do not distinguish them, the table does."""
    slots = list(found.slots)
    best = coverage.score(found.program)
    for place, slot in enumerate(slots):
        for reading in slot[1:]:
            if _is_over(deadline):
                break
            changed: list[Slot] = [*slots[:place], [reading], *slots[place + 1 :]]
            score = coverage.score(replace(found, slots=tuple(changed)).program)
            if score > best:
                best, slots = score, changed
    return replace(found, slots=tuple(slots))


def _with_more(
    direction: Direction,
    group: ColumnMatch,
    coverage: Coverage,
    first: Program,
    most: int,
    deadline: Deadline | None,
) -> tuple[Program, ...]:
    """Further programs on the rows that those so far leave, as long as each adds keys of its own."""
    programs = [first]
    while len(programs) < most and not _is_over(deadline):
        source, target = coverage.left(programs)
        if not (source.rows and target.rows):
            break
        rest = Coverage(source, target, group.target)
        mains = dict.fromkeys([group.source, *first.columns])
        best: tuple[int, Program] | None = None
        for main in mains:
            values = source.values(main), target.values(group.target)
            if not (values[0].texts and values[1].texts):
                continue
            again = match(*values)
            found = _best_program(Direction(source, target, direction.reversed), again, rest, deadline)
            if found is not None:
                gain = len(rest.reached([found.program]))
                if gain > 1 and (best is None or gain > best[0]):
                    best = gain, found.program
        if best is None:
            break
        programs.append(best[1])
    return tuple(programs)
