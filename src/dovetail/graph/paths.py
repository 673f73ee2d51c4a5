"""The best ways from one table to another, as SQL."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.graph.network import Edge

_TURN = 0.6  # two tables that refer to a third are joined many to many
_LOOKED_AT = 200_000  # paths in the making, at most: a hub has thousands of neighbours


@dataclass(frozen=True)
class Step:
    """One join: an edge, forward (many to one) or backward (one to many)."""

    edge: Edge
    forward: bool

    @property
    def to(self) -> str:
        return self.edge.other if self.forward else self.edge.table


@dataclass(frozen=True)
class JoinPath:
    """Joins that lead from one table to another. The score is the product of those of its edges, less for turns."""

    start: str
    steps: tuple[Step, ...]
    score: float

    @property
    def tables(self) -> list[str]:
        return [self.start, *(step.to for step in self.steps)]

    def sql(self) -> str:
        """A SELECT over all tables of the path; tables are named as in the lake."""
        lines = [f"SELECT * FROM {_quoted(self.start)} AS t0"]
        for number, step in enumerate(self.steps):
            edge = step.edge
            here, there = (f"t{number}", f"t{number + 1}")
            mine, theirs = (edge.columns, edge.other_columns) if step.forward else (edge.other_columns, edge.columns)
            conditions = (
                f"{_value(here, one, folded)} = {_value(there, other, folded)}"
                for one, other, folded in zip(mine, theirs, edge.folded, strict=True)
            )
            lines.append(f"JOIN {_quoted(step.to)} AS {there} ON {' AND '.join(conditions)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        joins = [
            {
                "dependent_table": step.edge.table,
                "dependent_columns": list(step.edge.columns),
                "referenced_table": step.edge.other,
                "referenced_columns": list(step.edge.other_columns),
                "cardinality": "N:1" if step.forward else "1:N",
                "score": step.edge.score,
            }
            for step in self.steps
        ]
        return {"tables": self.tables, "score": round(self.score, 4), "joins": joins, "sql": self.sql()}


def best_paths(edges: Sequence[Edge], start: str, end: str, hops: int, limit: int) -> list[JoinPath]:
    """Best first. Partial paths are grown by score, and only where the end can still be reached."""
    steps_from: dict[str, list[Step]] = defaultdict(list)
    for edge in _each_once(edges):
        if edge.table != edge.other:
            steps_from[edge.table].append(Step(edge, True))
            steps_from[edge.other].append(Step(edge, False))
    away = _distances(steps_from, end, hops)
    order = itertools.count()
    growing: list[tuple[float, int, tuple[Step, ...]]] = [(-1.0, next(order), ())]
    found: list[JoinPath] = []
    for _ in range(_LOOKED_AT):
        if not growing or len(found) == limit:
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


def _each_once(edges: Sequence[Edge]) -> list[Edge]:
    """Of two edges over the same columns, one each way, the better: as joins they are one."""
    best: dict[frozenset[tuple[str, tuple[str, ...]]], Edge] = {}
    for edge in sorted(edges, key=lambda edge: -edge.score):
        best.setdefault(frozenset({(edge.table, edge.columns), (edge.other, edge.other_columns)}), edge)
    return list(best.values())


def _distances(steps_from: dict[str, list[Step]], end: str, hops: int) -> dict[str, int]:
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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(table: str, column: str, folded: bool) -> str:
    """Text is compared without regard to case and to blanks around it, as near as SQL comes to the normaliser."""
    value = f"{table}.{_quoted(column)}"
    return f"lower(trim(CAST({value} AS VARCHAR)))" if folded else value
