"""SCR and MCR over rows of strings, as in the paper: an inverted index in dictionaries, rows compared value by value.

SCR fetches the rows of one column's values (the paper's rule: the column with fewest distinct values) and holds each
against the tuples with that value, with both table filters. MCR fetches the rows of every column's values and
intersects them.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict

from queries import Question

from dovetail.indexes.open_segment import OpenSegment

Found = list[tuple[int, int]]  # table and joinability


class Strings:
    """Tables as rows of strings, and for every value where it stands."""

    def __init__(self, segment: OpenSegment, tables: list[int]) -> None:
        self.rows: dict[int, list[tuple[str | None, ...]]] = {}
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for table in tables:
            columns = []
            for column in segment.catalog.column_range(table):
                names = [*segment.tokens.tokens(segment.tokens.set_of(column)[0]).to_pylist(), None]
                columns.append([names[code] for code in segment.rows.codes(column).tolist()])
            self.rows[table] = list(zip(*columns, strict=True))
            for number, row in enumerate(self.rows[table]):
                for value in set(row) - {None}:
                    self.postings[value].append((table, number))

    def scr(self, question: Question, k: int) -> Found:
        tuples = _tuples(question)
        start = min(range(question.width), key=lambda j: len({row[j] for row in tuples}))
        by_value = defaultdict(list)
        for row in tuples:
            by_value[row[start]].append(row)
        items = defaultdict(list)
        for value in by_value:
            for table, number in self.postings.get(value, ()):
                if table != question.table:
                    items[table].append((number, value))
        best: list[int] = []
        found: Found = []
        for table, candidates in sorted(items.items(), key=lambda pair: -len(pair[1])):
            if len(best) == k and len(candidates) < best[0]:
                break
            matches = Counter()
            seen = set()
            for checked, (number, value) in enumerate(candidates):
                if len(best) == k and len(candidates) - checked + len(seen) < best[0]:
                    break
                row = self.rows[table][number]
                for mine in by_value[value]:
                    if all(other in row for other in mine):
                        seen.add(checked)
                        _vote(matches, mine, row)
            _take(found, best, table, matches, k)
        return _top(found, k)

    def mcr(self, question: Question, k: int) -> Found:
        tuples = _tuples(question)
        places = []
        for j in range(question.width):
            values = {row[j] for row in tuples}
            places.append({place for value in values for place in self.postings.get(value, ())})
        by_table = defaultdict(list)
        for table, number in set.intersection(*places):
            if table != question.table:
                by_table[table].append(number)
        first = defaultdict(list)
        for row in tuples:
            first[row[0]].append(row)
        best: list[int] = []
        found: Found = []
        for table, numbers in sorted(by_table.items(), key=lambda pair: -len(pair[1])):
            if len(best) == k and len(numbers) < best[0]:
                break
            matches = Counter()
            for number in numbers:
                row = self.rows[table][number]
                for value in set(row):
                    for mine in first.get(value, ()):
                        if all(other in row for other in mine):
                            _vote(matches, mine, row)
            _take(found, best, table, matches, k)
        return _top(found, k)


def _tuples(question: Question) -> list[tuple[str, ...]]:
    names = [tokens.to_pylist() for tokens in question.tokens]
    return [tuple(names[j][code] for j, code in enumerate(row)) for row in question.tuples.tolist()]


def _vote(matches: Counter, mine: tuple[str, ...], row: tuple[str | None, ...]) -> None:
    """One vote for every mapping under which the tuple matches the row."""
    choices = [[place for place, value in enumerate(row) if value == wanted] for wanted in mine]
    for mapping in itertools.product(*choices):
        if len(set(mapping)) == len(mapping):
            matches[mapping, mine] = 1


def _take(found: Found, best: list[int], table: int, matches: Counter, k: int) -> None:
    joinable = max(Counter(mapping for mapping, _ in matches).values(), default=0)
    if joinable:
        found.append((table, joinable))
        (heapq.heappush if len(best) < k else heapq.heappushpop)(best, joinable)


def _top(found: Found, k: int) -> Found:
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]
