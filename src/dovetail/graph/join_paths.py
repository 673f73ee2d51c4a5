"""The best join paths from one table to another, as SQL."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_TURN = 0.6  # two tables that refer to a third are joined many to many; set by hand
_PATHS_IN_PROGRESS = 200_000  # at most, bounding time and memory: a hub has thousands of neighbours


@dataclass(frozen=True)
class JoinEdge:
    """A likely foreign key: `columns` of `table` refer to `other_columns` of `other`."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    score: float
    containment: float
    folded: tuple[bool, ...]  # for each pair of columns: whether text must be folded to be equal
    decided: str | None = None  # when a person accepted it
    declared: bool = False  # whether a database declares it

    def __str__(self) -> str:
        return f"{self.table} ({', '.join(self.columns)}) → {self.other} ({', '.join(self.other_columns)})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "dependent_table": self.table,
            "dependent_columns": list(self.columns),
            "referenced_table": self.other,
            "referenced_columns": list(self.other_columns),
            "containment": self.containment,
            "score": self.score,
            "decided": self.decided,
            "declared": self.declared,
        }


class PathStep(Protocol):
    """One join of a path."""

    @property
    def to(self) -> str:
        """The table that is joined."""

    @property
    def notes(self) -> list[str]:
        """What a person should know about it."""

    def sql(self, number: int) -> list[str]:
        """The JOIN of table `number` of the path with the next one."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class JoinStep:
    """One join along an edge, forward (many to one) or backward (one to many)."""

    edge: JoinEdge
    forward: bool

    @property
    def to(self) -> str:
        return self.edge.other if self.forward else self.edge.table

    @property
    def notes(self) -> list[str]:
        if self.edge.declared:
            return [f"declared in the database: {self.edge}"]
        return [f"decided by you on {self.edge.decided[:10]}: {self.edge}"] if self.edge.decided else []

    def sql(self, number: int) -> list[str]:
        edge, here, there = self.edge, f"t{number}", f"t{number + 1}"
        mine, theirs = (edge.columns, edge.other_columns) if self.forward else (edge.other_columns, edge.columns)
        conditions = (
            f"{compared(here, one, folded)} = {compared(there, other, folded)}"
            for one, other, folded in zip(mine, theirs, edge.folded, strict=True)
        )
        return [f"JOIN {quoted(self.to)} AS {there} ON {' AND '.join(conditions)}"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "dependent_table": self.edge.table,
            "dependent_columns": list(self.edge.columns),
            "referenced_table": self.edge.other,
            "referenced_columns": list(self.edge.other_columns),
            "cardinality": "N:1" if self.forward else "1:N",
            "score": self.edge.score,
            "decided": self.edge.decided,
            "declared": self.edge.declared,
            "bridges": [],
        }


@dataclass(frozen=True, repr=False)
class JoinPath:
    """Joins that lead from one table to another. The score is the product of its edges' scores, lowered by turns."""

    start: str
    steps: tuple[PathStep, ...]
    score: float

    def __repr__(self) -> str:
        return f"<JoinPath {self.score:.2f}: {' – '.join(self.tables)}>"

    @property
    def tables(self) -> list[str]:
        return [self.start, *(step.to for step in self.steps)]

    def sql(self) -> str:
        """A SELECT over all tables of the path; tables are named as in the lake."""
        joins = (line for number, step in enumerate(self.steps) for line in step.sql(number))
        return "\n".join([f"SELECT * FROM {quoted(self.start)} AS t0", *joins])

    def to_dict(self) -> dict[str, Any]:
        joins = [step.to_dict() for step in self.steps]
        return {"tables": self.tables, "score": round(self.score, 4), "joins": joins, "sql": self.sql()}


def best_paths(edges: Sequence[JoinEdge], start: str, end: str, hops: int, k: int) -> list[JoinPath]:
    """The `k` best paths, by best-first search; a partial path is extended only if it can still reach the end."""
    steps_from: dict[str, list[JoinStep]] = defaultdict(list)
    for edge in _each_once(edges):
        if edge.table != edge.other:
            steps_from[edge.table].append(JoinStep(edge, True))
            steps_from[edge.other].append(JoinStep(edge, False))
    away = _distances(steps_from, end, hops)
    order = itertools.count()
    growing: list[tuple[float, int, tuple[JoinStep, ...]]] = [(-1.0, next(order), ())]
    found: list[JoinPath] = []
    for _ in range(_PATHS_IN_PROGRESS):
        if not growing or len(found) == k:
            break
        score, _, steps = heapq.heappop(growing)
        here = steps[-1].to if steps else start
        if here == end:
            found.append(JoinPath(start, steps, -score))
            continue
        visited = {start, *(step.to for step in steps)}
        for step in steps_from[here]:
            if step.to not in visited and away.get(step.to, hops + 1) <= hops - len(steps) - 1:
                turn = _TURN if steps and steps[-1].forward and not step.forward else 1.0
                heapq.heappush(growing, (score * step.edge.score * turn, next(order), (*steps, step)))
    return found


def _each_once(edges: Sequence[JoinEdge]) -> list[JoinEdge]:
    """Of two edges over the same columns, one in each direction, the better: as joins they are one."""
    best: dict[frozenset[tuple[str, tuple[str, ...]]], JoinEdge] = {}
    for edge in sorted(edges, key=lambda edge: -edge.score):
        best.setdefault(frozenset({(edge.table, edge.columns), (edge.other, edge.other_columns)}), edge)
    return list(best.values())


def _distances(steps_from: dict[str, list[JoinStep]], end: str, hops: int) -> dict[str, int]:
    """How many joins each table is away from the end, up to `hops`."""
    away = {end: 0}
    waiting = deque([end])
    while waiting:
        table = waiting.popleft()
        for step in steps_from.get(table, ()) if away[table] < hops else ():
            if step.to not in away:
                away[step.to] = away[table] + 1
                waiting.append(step.to)
    return away


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def compared(table: str, column: str, folded: bool) -> str:
    """Text is compared without case and surrounding blanks, as close as SQL comes to the normaliser."""
    value = f"{table}.{quoted(column)}"
    return f"lower(trim(CAST({value} AS VARCHAR)))" if folded else value
