"""The extracts that could make a part of every wanted value of an example set.

Extracts that give the same texts on all examples are one candidate with several readings; the examples cannot
distinguish them, so the whole table does later (discover.py).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dovetail.normalise import plain
from dovetail.transform.forms import Form
from dovetail.transform.guesses import made_by_forms
from dovetail.transform.program import Extract, Split

_RUNS = re.compile(r"[\W_]+")
_LONGEST_SEPARATOR = 4
_MOST_SEPARATORS = 12
_LONGEST_SLICED = 60
_MOST_READINGS = 6

_SPLIT_COST = 0.1
_RANGE_COST = 0.1
_ANCHORED_COST = 0.25
_FREE_COST = 0.5
_OTHER_COLUMN_COST = 0.3
_OTHER_COLUMNS = 1, False
"""How often columns other than the matched one are split at most, and whether slices may be free at both ends. For
time, measured by benchmarks/transformation/departures.py."""
_FORM_COST = 0.5  # as a slice that is free at both ends: what can be cut is cut


Ways = list[tuple[float, tuple[Split, ...]]]  # of splitting, with their costs


class Candidate:
    """One plain text for each example, what it costs, and what gives it: ways to split, then a slice."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.cost = float("inf")
        self._found: list[tuple[float, str, Ways, int, int | None, Form | None]] = []

    def add(self, cost: float, column: str, ways: Ways, start: int, stop: int | None, form: Form | None = None) -> None:
        self.cost = min(self.cost, cost + ways[0][0])
        self._found.append((cost, column, ways, start, stop, form))

    def readings(self) -> list[Extract]:
        """The extracts that give the texts, cheapest first."""
        costed = [
            (cost + split_cost, Extract(column, splits, start, stop, form=form))
            for cost, column, ways, start, stop, form in self._found
            for split_cost, splits in ways
        ]
        return [extract for _, extract in heapq.nsmallest(_MOST_READINGS, costed, key=lambda entry: entry[0])]


@dataclass(frozen=True)
class Example:
    """A row of the source by column, and the value that the program must give for it."""

    row: Mapping[str, str]
    wanted: str


def candidates(examples: Sequence[Example], main: str, columns: Sequence[str]) -> dict[str, list[Candidate]]:
    """All candidates by their text for the first example. `main` is the column that the examples were matched on."""
    wholes = [plain(example.wanted) for example in examples]
    parts_of_first = {wholes[0][i:j] for i in range(len(wholes[0])) for j in range(i + 1, len(wholes[0]) + 1)}
    found: dict[tuple[str, ...], Candidate] = {}
    for column in columns:
        extra, (depth, free) = (0.0, (2, True)) if column == main else (_OTHER_COLUMN_COST, _OTHER_COLUMNS)
        for texts, ways in pieces([example.row[column] for example in examples], depth).items():
            for slice_cost, start, stop in _slices(texts[0], parts_of_first, free):
                sliced = tuple([text[start:stop] for text in texts])
                if _all_within(sliced, wholes):
                    if sliced not in found:
                        found[sliced] = Candidate(sliced)
                    found[sliced].add(extra + slice_cost, column, ways, start, stop)
            for form, made in made_by_forms(texts, wholes[0]):
                if _all_within(made, wholes):
                    found.setdefault(made, Candidate(made)).add(extra + _FORM_COST, column, ways, 0, None, form)
    by_text: dict[str, list[Candidate]] = {}
    for candidate in found.values():
        by_text.setdefault(candidate.texts[0], []).append(candidate)
    return by_text


def _all_within(parts: Sequence[str], wholes: Sequence[str]) -> bool:
    for part, whole in zip(parts, wholes, strict=True):  # noqa: SIM110 - the hottest line of learning
        if not part or part not in whole:
            return False
    return True


def pieces(values: Sequence[str], depth: int) -> dict[tuple[str, ...], Ways]:
    """The plain pieces that splitting gives in all values, with the ways of splitting that give them."""
    found: dict[tuple[str, ...], Ways] = {tuple(map(plain, values)): [(0.0, ())]}
    frontier: list[tuple[tuple[str, ...], float, tuple[Split, ...]]] = [(tuple(values), 0.0, ())]
    for _ in range(depth):
        deeper = []
        for texts, cost, splits in frontier:
            for split, split_cost in _splits(texts[0]):
                parts = tuple(split.apply(text) for text in texts)
                if all(parts):
                    entry = (cost + split_cost, (*splits, split))
                    key = tuple(plain(part) for part in parts if part)
                    if key not in found:
                        deeper.append((tuple(part for part in parts if part), *entry))
                    ways = found.setdefault(key, [])
                    if len(ways) < _MOST_READINGS:
                        ways.append(entry)
        frontier = deeper
    return found


def _splits(text: str) -> Iterator[tuple[Split, float]]:
    for separator in _separators(text):
        size = text.count(separator) + 1
        for place in range(size):
            for index in (place, place - size):
                yield Split(separator, index, index), _SPLIT_COST
        yield Split(separator, 0, -2), _SPLIT_COST + _RANGE_COST
        yield Split(separator, 1, -1), _SPLIT_COST + _RANGE_COST


def _separators(text: str) -> list[str]:
    """Runs of punctuation and white space, and their single characters."""
    found: dict[str, None] = {}
    for run in _RUNS.findall(text):
        found.update(dict.fromkeys(run))
        if 1 < len(run) <= _LONGEST_SEPARATOR:
            found[run] = None
    return list(found)[:_MOST_SEPARATORS]


def _slices(text: str, wanted: set[str], free: bool) -> Iterator[tuple[float, int, int | None]]:
    """The ways to take a part of a piece that is wanted, counted from either end: whole, anchored at an end, free."""
    yield 0.0, 0, None
    size = len(text)
    if size > _LONGEST_SLICED:
        return
    for i in range(size):
        for j in range(i + 1, size + 1):
            if text[i:j] not in wanted:
                break
            if (i, j) == (0, size):
                continue
            if i == 0:
                yield _ANCHORED_COST, 0, j
                yield _ANCHORED_COST, 0, j - size
            elif j == size:
                yield _ANCHORED_COST, i, None
                yield _ANCHORED_COST, i - size, None
            elif free:
                yield _FREE_COST, i, j
                yield _FREE_COST, i - size, j - size
    # A prefix longer than this text cuts only the longer ones.
    for cut in (size, size + 1, size + 2):
        yield _ANCHORED_COST, 0, cut
