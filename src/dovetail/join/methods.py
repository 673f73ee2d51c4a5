"""Joins of two tables by each method, on columns that are named or found by the method itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dovetail._deadline import Deadline
from dovetail.catalog.decisions import TableDecisions
from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.core import Space
from dovetail.join.compete import Judged, why
from dovetail.join.decided import ColumnNames, execute_decided
from dovetail.join.execute import execute
from dovetail.join.keys import JoinKeys, equal_keys, no_keys, transformed_keys
from dovetail.join.parts import PartsJoin, likely_by_parts, parts_of
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.join.semantic import semantic_keys
from dovetail.join.similar import similar_join
from dovetail.join.through import carried_by, carriers_of, through_keys
from dovetail.methods.registry import method_called
from dovetail.tables.column_names import Pair, column_pairs
from dovetail.tables.input_table import InputTable
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.transformation import Transformation


class JoinMethods:
    """Two tables, and their join by each method, with the options of a request."""

    def __init__(
        self,
        left: InputTable,
        right: InputTable,
        request: JoinRequest,
        space: Space | None,
        decisions: TableDecisions,
        segments: Sequence[OpenSegment] | None,
    ) -> None:
        self.left, self.right, self.request, self.space, self.segments = left, right, request, space, segments
        self.decisions = decisions
        self.deadline = Deadline(request.seconds)

    def named_columns(self) -> list[Pair] | None:
        """The pairs of columns that the request names; None if it leaves them open."""
        if self.request.on is None:
            return None
        pairs = column_pairs(self.request.on, self.left.names, self.right.names)
        for mine, theirs in pairs:
            self.left.column(mine), self.right.column(theirs)  # raises where there is none
        by = self.request.by
        if len(pairs) > 1 and isinstance(by, str) and method_called(by).one_pair:
            raise InputError(f"`by={by!r}` joins on one pair of columns; `on` names several.")
        return pairs

    def equal(self, pairs: list[Pair], why: str) -> JoinResult:
        keys = equal_keys(self.left, self.right, pairs)
        return replace(self.execute(keys, "equal", columns_of(pairs)), why=why)

    def transform(self, on: list[Pair] | None) -> JoinResult:
        found = self._learned(on)
        return self.program(found) if found else self.nothing("transform", "No transformation joins enough rows.")

    def _learned(self, on: list[Pair] | None) -> Transformation | None:
        names = (self.left.names, self.right.names) if on is None else columns_of(on)
        mine, theirs = (
            {name: table.values(name) for name in dict.fromkeys(of)}
            for table, of in zip((self.left, self.right), names, strict=True)
        )
        source = None if on is None else _read(len(mine), len(theirs))
        found = discover(mine, theirs, deadline=self.deadline, source=source)
        found = found or discover_composite(mine, theirs, self.deadline, read=source)
        return None if found is None else Transformation(found.programs, found.reversed, found.target, found.key)

    def program(self, way: Transformation, why: str = "The method was given.") -> JoinResult:
        keys = transformed_keys(self.left, self.right, way)
        columns = ((way.target,), way.columns) if way.reversed else (way.columns, (way.target,))
        result = self.execute(keys, "transform", columns)
        return replace(result, why=why, transformation=way)

    def similar(self, on: list[Pair] | None) -> JoinResult:
        """By similarity alone."""
        found = similar_join(self.left, self.right, columns_of(on) if on else None, self.request, self.deadline)
        if found is None:
            return self.nothing("similar", "No text columns correspond.")
        result = self.execute(found.keys, "similar", found.columns)
        return replace(result, why="The method was given.")

    def semantic(self, on: list[Pair] | None) -> JoinResult:
        found = semantic_keys(self.left, self.right, on[0] if on else None, self.space, self.request.min_similarity)
        if found is None:
            return self.nothing("semantic", "No text columns have similar values.")
        pair, keys = found
        result = self.execute(keys, "semantic", columns_of([pair]))
        return replace(result, why="The method was given.")

    def through(self, on: list[Pair] | None) -> JoinResult:
        if self.segments is None:
            raise InputError("`by='through'` needs an index: the tables of its lake carry the join.")
        found = through_keys(self.segments, self.left, self.right, on[0] if on else None, self.deadline)
        if found is None or not found[2]:
            return self.nothing("through", "No tables of the lake relate values of both.")
        pair, keys, mapping = found
        result = self.execute(keys, "through", columns_of([pair]))
        return replace(result, why=carried_by(mapping), mapping=mapping, carriers=carriers_of(self.segments, mapping))

    def parts(self, on: list[Pair] | None) -> JoinResult:
        """By parts of cells that hold several values."""
        if on is not None:
            return self._named_parts(on) or self.nothing("parts", "Cells of neither column hold several values.")
        found = likely_by_parts(self.left, self.right, self.deadline, self.decisions)
        if found is None:
            return self.nothing("parts", "No column holds several values that have a match.")
        return self.judged_parts(*found)

    def _named_parts(self, on: list[Pair]) -> JoinResult | None:
        """By the parts of a pair of columns that was named, if the cells of one hold several values."""
        join = parts_of(self.left, self.right, on[0])
        return None if join is None else replace(self._by_parts(join, on), why=f"{join.why} The columns were given.")

    def judged_parts(self, join: PartsJoin, judged: Judged) -> JoinResult:
        """By parts, on the columns of a candidate of the competition."""
        result = self._by_parts(join, list(zip(*judged.candidate.columns, strict=True)))
        return replace(result, why=f"{join.why} {why(judged)}", probability=judged.probability)

    def _by_parts(self, join: PartsJoin, pairs: list[Pair]) -> JoinResult:
        result = execute(*join.tables, join.keys(pairs), self.request, "parts", columns_of(pairs))
        return join.of_cells(result, self.left, self.right)

    def candidate(self, judged: Judged) -> JoinResult:
        """By a candidate of the competition."""
        candidate, way = judged.candidate, judged.candidate.way
        by = "equal" if way is not None and way.is_identity else candidate.by
        result = self.execute(candidate.keys(), by, candidate.columns)
        return replace(result, transformation=None if by == "equal" else way)

    def execute(self, keys: JoinKeys, by: str, columns: ColumnNames) -> JoinResult:
        """Join by the keys that a method found, and as a person decided about values."""
        return execute_decided(self.left, self.right, keys, self.request, by, columns, self.decisions)

    def nothing(self, by: str, why: str) -> JoinResult:
        """The join in which no row has a match."""
        result = execute(self.left, self.right, no_keys(self.left, self.right), self.request, by, ((), ()))
        return replace(result, why=why)


def _read(left: int, right: int) -> int | None:
    """Which table a program reads, by the number of columns that are named: of several columns it makes one."""
    if left > 1 and right > 1:
        raise InputError(
            "`by='transform'` makes one column of one or more; `on` names several of both tables. "
            "Name one column on one side, or join on equal values."
        )
    return None if left == right else int(right > left)


def columns_of(pairs: list[Pair]) -> ColumnNames:
    """The columns of the left and of the right table."""
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
