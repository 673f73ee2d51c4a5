"""The program that the paper's Algorithm 4 finds: the operator with most progress, then what is left of it and right.

Progress is the number of characters that an operator makes of all wanted values. Where a remainder cannot be made, the
operator with the next most is tried. The operators are those of the shortest path (`dovetail.transform.candidates`), so
that the two differ in nothing but the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dovetail._deadline import Deadline
from dovetail.normalise import plain
from dovetail.transform.candidates import Candidate, Example, candidates
from dovetail.transform.learn import Learned, State, slot_of, step_cost

Spans = tuple[tuple[int, int], ...]  # of each wanted value, what is to be made


@dataclass(frozen=True)
class _Operator:
    """A constant or a candidate, and what it makes of each example."""

    step: str | Candidate
    texts: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, float]:
        """Most progress first, and then the cheapest, which the paper leaves open."""
        return -sum(map(len, self.texts)), step_cost(self.step)


@dataclass(frozen=True)
class _Placed:
    """An operator, and what it makes of each wanted value."""

    operator: _Operator
    begin: State
    end: State


@dataclass
class GreedyWork:
    """Sets of examples, how many of them taught a program, and operators that were tried."""

    examples: int = 0
    programs: int = 0
    operators: int = 0


def learn_greedily(
    examples: Sequence[Example],
    main: str,
    columns: Sequence[str],
    deadline: Deadline | None = None,
    most_operators: int = 10,
    most_tried: int = 1500,
    work: GreedyWork | None = None,
) -> Iterator[Learned]:
    """The program that is consistent with all examples, alone; nothing if there is none within the budget.

    `most_operators` is the paper's τ; `most_tried` the number of operators after which it gives up. `work` is added to.
    """
    wanted = [plain(example.wanted) for example in examples]
    made = candidates(examples, main, columns).values()
    operators = [_Operator(candidate, candidate.texts) for same in made for candidate in same]
    operators += [_Operator(text, (text,) * len(wanted)) for text in _common_texts(wanted)]
    search = _Search(wanted, most_tried, deadline)
    whole = tuple((0, len(text)) for text in wanted)
    found = search.learn(whole, sorted(operators, key=lambda operator: operator.rank), most_operators)
    if work is not None:
        work.examples, work.programs = work.examples + 1, work.programs + bool(found)
        work.operators += most_tried - search.left
    if found:
        slots = tuple(slot_of(each.operator.step, examples, each.begin, each.end) for each in found)
        yield Learned(slots, sum(step_cost(each.operator.step) for each in found))


class _Search:
    """TryLearnTransform of the paper, with what is known to fail remembered."""

    def __init__(self, wanted: Sequence[str], most_tried: int, deadline: Deadline | None) -> None:
        self._wanted, self.left, self._deadline = wanted, most_tried, deadline
        self._failed: dict[Spans, int] = {}  # with how many operators at most

    def learn(self, spans: Spans, operators: Sequence[_Operator], most: int) -> list[_Placed] | None:
        """Operators that make the spans, from left to right; None if there are none."""
        if all(begin == end for begin, end in spans):
            return []
        if most <= self._failed.get(spans, 0) or any(begin == end for begin, end in spans):
            return None
        fitting = [each for operator in operators if (each := self._placed(operator, spans)) is not None]
        within = [each.operator for each in fitting]
        for placed in fitting:
            if self.left <= 0 or (self._deadline is not None and self._deadline.is_over):
                return None
            self.left -= 1
            before = tuple((begin, at) for (begin, _), at in zip(spans, placed.begin, strict=True))
            left = self.learn(before, within, most - 1)
            if left is None:
                continue
            after = tuple((at, end) for (_, end), at in zip(spans, placed.end, strict=True))
            right = self.learn(after, within, most - 1 - len(left))
            if right is not None:
                return [*left, placed, *right]
        self._failed[spans] = max(most, self._failed.get(spans, 0))
        return None

    def _placed(self, operator: _Operator, spans: Spans) -> _Placed | None:
        """Where the operator's texts are: of several places the leftmost, which the paper leaves open."""
        places = []
        for whole, text, (begin, end) in zip(self._wanted, operator.texts, spans, strict=True):
            place = whole.find(text, begin, end)
            if place < 0:
                return None
            places.append(place)
        ends = tuple(place + len(text) for place, text in zip(places, operator.texts, strict=True))
        return _Placed(operator, tuple(places), ends)


def _common_texts(wanted: Sequence[str]) -> Iterator[str]:
    """The texts that all wanted values have: what a constant can make."""
    first, found = wanted[0], set()
    for begin in range(len(first)):
        for end in range(begin + 1, len(first) + 1):
            text = first[begin:end]
            if not all(text in other for other in wanted[1:]):
                break
            if text not in found:
                found.add(text)
                yield text
