"""From two tables to the programs that join them: what examples teach, ranked by coverage; several together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail._deadline import Deadline
from dovetail.transform.candidates import Example
from dovetail.transform.conversions import Proposal, are_numbers_by_chance, proposals
from dovetail.transform.coverage import SCORED_ROWS, Coverage, SampledTable, sample
from dovetail.transform.examples import (
    Columns,
    Direction,
    both_directions,
    date_groups,
    example_of,
    example_sets,
    groups,
    is_over,
    joint_groups,
    without_documents,
)
from dovetail.transform.learn import Learned, Slot, learn, learn_piece
from dovetail.transform.matches import ColumnMatch, match
from dovetail.transform.program import Program, cuts_numbers

_ENOUGH = 0.97  # of the target's keys: nothing better is looked for
_VERY_GOOD = 0.9  # other pairs of columns are not tried
_GOOD = 0.8  # whole rows are not tried
_LEAST_COVERAGE = 0.1  # of the smaller table's keys: less may be chance
_NUMERIC_DISCOUNT = 0.6  # of the score, where the key is made of digits
_SIMPLE_COST = 1.3  # a program of one plain step is accepted as soon as it makes its examples
MOST_PROGRAMS = 6
_MOST_JUDGED = 4  # programs of a set of examples, the cheapest first, until one is convincing; arbitrary, for time


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


Learn = Callable[[Sequence[Example], str, Sequence[str], Deadline | None], Iterator[Learned]]


def discover(
    left: Columns,
    right: Columns,
    most_programs: int = MOST_PROGRAMS,
    deadline: Deadline | None = None,
    learning: Learn = learn,
    source: int | None = None,
) -> Discovery | None:
    """The programs that join two tables of raw text; None if no program joins enough rows.

    Nothing new is tried after the deadline. `learning` makes programs of examples; `source` is the table that programs
    read: 0 the left one, 1 the right one, None either.
    """
    directions = both_directions(without_documents(left), without_documents(right))
    directions = [each for each in directions if source in (None, int(each.reversed))]
    chosen: tuple[float, Direction, ColumnMatch, Learned] | None = None
    proposing = (groups, date_groups, joint_groups)
    for direction, group in itertools.chain.from_iterable(propose(directions, deadline) for propose in proposing):
        if is_over(deadline):
            break
        if group.weight == 0.0 and chosen and chosen[0] >= _GOOD:
            break
        coverage = _coverage(direction, group.target)
        found = _best_program(direction, group, coverage, learning, deadline)
        if found is None or _may_be_chance(found.program, coverage):
            continue
        score = coverage.score(found.program) * (_NUMERIC_DISCOUNT if direction.target.is_numeric(group.target) else 1)
        if chosen is None or score > chosen[0]:
            chosen = (score, direction, group, found)
        if score >= _VERY_GOOD:
            break
    if chosen is None or chosen[0] < _GOOD:
        proposed = _proposed(directions, chosen[0] if chosen else 0.0, deadline)
        if proposed is not None:
            return proposed
    if chosen is None:
        return None
    score, direction, group, found = chosen
    coverage = _coverage(direction, group.target)
    if coverage.share(found.program) < _LEAST_COVERAGE:
        return None
    programs = _with_more(direction, group, coverage, found.program, most_programs, learning, deadline)
    return Discovery(programs, group.source, group.target, direction.reversed)


def _proposed(directions: Sequence[Direction], rival: float, deadline: Deadline | None) -> Discovery | None:
    """The program of one form that covers most, if it covers more than its rival."""
    best: tuple[float, Proposal] | None = None
    for proposal in proposals(directions, deadline):
        score = _coverage(proposal.direction, proposal.target).score(proposal.program)
        if score > (best[0] if best else rival):
            best = score, proposal
    if best is None:
        return None
    direction, source, target, program = best[1]
    return Discovery((program,), source, target, direction.reversed)


def _coverage(direction: Direction, key: str) -> Coverage:
    """Of all keys of the target, by some rows of the source."""
    rows = sample(direction.source.rows, SCORED_ROWS / max(direction.source.rows, 1))
    source = direction.source if len(rows) == direction.source.rows else direction.source.take(rows)
    return Coverage(source, direction.target, key)


def _best_program(
    direction: Direction, group: ColumnMatch, coverage: Coverage, learning: Learn, deadline: Deadline | None
) -> Learned | None:
    """The program with the best coverage, of those that the group's example sets teach.

    From the matched column alone if that does well, otherwise from whole rows too.
    """
    best: tuple[float, float, Learned] | None = None
    judge = _Judge(direction.source, coverage, deadline)
    names = list(direction.source.columns)
    for columns in [[group.source], names][: len(names)]:
        if best and best[0] >= _GOOD:
            break
        for pairs in example_sets(group.pairs):
            if is_over(deadline):
                break
            examples = [example_of(direction, group, pair) for pair in pairs]
            programs = (
                learn_piece(examples[0], group.source)
                if len(pairs) == 1
                else learning(examples, group.source, columns, deadline)
            )
            found = judge.first_convincing(programs, len(pairs))
            if found is None:
                continue
            rank = (coverage.score(found.program), -found.cost, found)
            if best is None or rank[:2] > best[:2]:
                best = rank
            if best[0] >= _ENOUGH:
                break
    return best[2] if best else None


class _Judge:
    """Which of the programs that examples teach are convincing on the whole table; each is judged once."""

    def __init__(self, source: SampledTable, coverage: Coverage, deadline: Deadline | None) -> None:
        self._source, self._coverage, self._deadline = source, coverage, deadline
        self._accepted: dict[Program, bool] = {}

    def first_convincing(self, programs: Iterable[Learned], examples: int) -> Learned | None:
        """The cheapest that is convincing, with its best readings; None if it was judged before, or there is none."""
        for found in itertools.islice(programs, _MOST_JUDGED):
            if found.program not in self._accepted:
                refined = self._refined(found, examples)
                self._accepted[found.program] = refined is not None
                if refined is not None:
                    return refined
            elif self._accepted[found.program]:
                return None
        return None

    def _refined(self, found: Learned, examples: int) -> Learned | None:
        refined = _refined(found, self._coverage, self._deadline)
        if not _is_convincing(refined, examples, self._coverage):
            return None
        cut = cuts_numbers(refined.program, self._source.columns)
        return None if cut or _makes_row_numbers(refined.program, self._coverage) else refined


def _is_convincing(found: Learned, examples: int, coverage: Coverage) -> bool:
    """Whether it makes more than its examples, or is so plain that it need not."""
    reached = len(coverage.reached([found.program]))
    if reached == coverage.size:
        return examples > 1 or found.cost <= _SIMPLE_COST
    return reached > examples or (reached > 1 and found.cost <= _SIMPLE_COST)


def _may_be_chance(program: Program, coverage: Coverage) -> bool:
    """Whether it leaves many of the keys that it could reach, and values as short would reach as many."""
    return coverage.share(program) < _GOOD and coverage.is_chance(program)


def _makes_row_numbers(program: Program, coverage: Coverage) -> bool:
    """Whether it puts numbers together that are keys by chance, since these are dense: `1`, 234 and `0` are 12340."""
    if not coverage.puts_digits_together(program):
        return False
    return are_numbers_by_chance({key for key in coverage.outputs(program) if key}, coverage.wanted)


def _refined(found: Learned, coverage: Coverage, deadline: Deadline | None) -> Learned:
    """With those readings of each slot that cover most: the examples do not distinguish them, the table does."""
    slots = list(found.slots)
    best = coverage.score(found.program)
    for place, slot in enumerate(slots):
        for reading in slot[1:]:
            if is_over(deadline):
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
    learning: Learn,
    deadline: Deadline | None,
) -> tuple[Program, ...]:
    """Further programs on the rows that those so far leave, as long as each adds keys of its own."""
    programs = [first]
    while len(programs) < most and not is_over(deadline):
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
            found = _best_program(Direction(source, target, direction.reversed), again, rest, learning, deadline)
            if found is not None:
                gain = len(rest.reached([found.program]))
                if gain > 1 and (best is None or gain > best[0]):
                    best = gain, found.program
        if best is None:
            break
        programs.append(best[1])
    return tuple(programs)
