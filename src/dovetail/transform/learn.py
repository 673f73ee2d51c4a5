"""The cheapest programs that make every example: shortest paths over how much of each wanted value is made.

A state is one position in each wanted value; an edge is a constant or a candidate that fits there in all of them. What
is least is the sum of the costs of the steps. The paper counts operators, and looks for few of them by greedy recursion
with backtracking (`dovetail.papers.auto_join`).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dovetail._deadline import Deadline
from dovetail.normalise import plain
from dovetail.transform.candidates import Candidate, Example, candidates, pieces
from dovetail.transform.program import CASES, Constant, Extract, Program

MOST_STEPS = 16
_MOST_STATES = 1500
_STEP_COST = 1.0
_LETTER_COST = 0.3  # a constant with letters or digits may be chance
_CHARACTER_COST = 0.02

State = tuple[int, ...]
Slot = list[Extract | Constant]  # the readings of one step, best first


class _Edge(NamedTuple):
    """A step between two states."""

    before: State
    step: str | Candidate
    cost: float
    after: State


@dataclass(frozen=True)
class Learned:
    """A program as slots with alternative readings, and what it costs with the first of each."""

    slots: tuple[Slot, ...]
    cost: float

    @property
    def program(self) -> Program:
        return Program(tuple(slot[0] for slot in self.slots))


def learn(
    examples: Sequence[Example], main: str, columns: Sequence[str], deadline: Deadline | None = None
) -> Iterator[Learned]:
    """Programs that are consistent with all examples, the cheapest first; none if there is none within the budget.

    All follow that cost less than one step more than the cheapest: what they pass has been seen on the way to it.
    """
    wanted = [plain(example.wanted) for example in examples]
    fitting = candidates(examples, main, columns)
    lengths = sorted({len(text) for text in fitting}, reverse=True)
    goal = tuple(len(text) for text in wanted)
    start = (0,) * len(wanted)
    best: dict[State, float] = {start: 0.0}
    depths = {start: 0}
    into: dict[State, list[_Edge]] = {}
    queue: list[tuple[float, State]] = [(0.0, start)]
    expanded = 0
    while queue and expanded < _MOST_STATES and not (deadline is not None and deadline.is_over):
        cost, state = heapq.heappop(queue)
        if cost > best[state]:
            continue
        if state == goal:
            yield from (_learned(examples, path, cost) for path, cost in _paths(goal, best, into))
            return
        if depths[state] == MOST_STEPS:
            continue
        expanded += 1
        for step, step_cost, after in _edges(wanted, state, fitting, lengths):
            into.setdefault(after, []).append(_Edge(state, step, step_cost, after))
            if cost + step_cost < best.get(after, float("inf")):
                best[after] = cost + step_cost
                depths[after] = depths[state] + 1
                heapq.heappush(queue, (cost + step_cost, after))


def _paths(
    goal: State, best: dict[State, float], into: dict[State, list[_Edge]]
) -> Iterator[tuple[tuple[_Edge, ...], float]]:
    """The paths to the goal with their costs, the cheapest first.

    They are followed backwards. What is left of a path costs `best` of its state, so that no other is followed first.
    """
    number = itertools.count()  # of paths of the same cost, the first that was found
    queue: list[tuple[float, int, State, tuple[_Edge, ...]]] = [(best[goal], next(number), goal, ())]
    while queue:
        cost, _, state, path = heapq.heappop(queue)
        if not any(state):
            yield path, cost
        elif len(path) < MOST_STEPS:
            for edge in into[state]:
                more = cost - best[state] + edge.cost + best[edge.before]
                heapq.heappush(queue, (more, next(number), edge.before, (edge, *path)))


def learn_piece(example: Example, column: str) -> Iterator[Learned]:
    """The pieces of a column that are the wanted value, as the readings of one program."""
    ways = sorted(pieces([example.row[column]], depth=2).get((plain(example.wanted),), ()), key=lambda way: way[0])
    if ways:
        yield Learned(([Extract(column, splits) for _, splits in ways],), _STEP_COST + ways[0][0])


def _edges(
    wanted: Sequence[str], state: State, fitting: dict[str, list[Candidate]], lengths: Sequence[int]
) -> Iterator[tuple[str | Candidate, float, State]]:
    first = state[0]
    for length in lengths:
        for candidate in fitting.get(wanted[0][first : first + length], ()):
            texts = candidate.texts
            if all(text.startswith(part, at) for text, part, at in zip(wanted, texts, state, strict=True)):
                after = tuple(at + len(part) for at, part in zip(state, texts, strict=True))
                yield candidate, step_cost(candidate), after
    constant = _common_text(wanted, state)
    for size in range(1, len(constant) + 1):
        text = constant[:size]
        yield text, step_cost(text), tuple(at + size for at in state)


def step_cost(step: str | Candidate) -> float:
    """Of a constant, or of the cheapest reading of a candidate."""
    if isinstance(step, Candidate):
        return _STEP_COST + step.cost
    return _STEP_COST + _CHARACTER_COST * len(step) + _LETTER_COST * any(map(str.isalnum, step))


def _common_text(wanted: Sequence[str], state: State) -> str:
    rests = [text[at:] for text, at in zip(wanted, state, strict=True)]
    low, high = min(rests), max(rests)
    size = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:size]


def _learned(examples: Sequence[Example], path: Sequence[_Edge], cost: float) -> Learned:
    return Learned(tuple(slot_of(edge.step, examples, edge.before, edge.after) for edge in path), cost)


def slot_of(step: str | Candidate, examples: Sequence[Example], begin: State, end: State) -> Slot:
    """The readings of a step that makes the wanted values between two states."""
    if not isinstance(step, Candidate):
        return [Constant(examples[0].wanted[begin[0] : end[0]])]
    raw = [example.wanted[a:b] for example, a, b in zip(examples, begin, end, strict=True)]
    return [_cased(extract, examples, raw) for extract in step.readings()]


def _cased(extract: Extract, examples: Sequence[Example], wanted: Sequence[str]) -> Extract:
    """With the first casing that gives the wanted parts to the letter; as it is if none does."""
    for case in CASES:
        cased = replace(extract, case=case)
        if all(
            cased.apply(example.row[extract.column]) == part for example, part in zip(examples, wanted, strict=True)
        ):
            return cased
    return extract
