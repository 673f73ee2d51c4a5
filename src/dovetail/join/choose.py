"""Joins two tables by the method and columns that are named, or else by those that the values suggest.

What the values suggest is a competition of all methods (compete.py); a preference chooses among equal columns alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail._deadline import Deadline
from dovetail.catalog.decisions import NO_DECISIONS, Decision, TableDecisions
from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.core import Space
from dovetail.join.best_predicate.predicates import NamedPredicate, Predicates, named_predicates
from dovetail.join.compete import Choice, Judged, compete, why, why_nothing
from dovetail.join.decided import ColumnNames, execute_decided
from dovetail.join.execute import execute
from dovetail.join.judge import CERTAIN, LIKELY
from dovetail.join.keys import JoinKeys, equal_keys, no_keys, transformed_keys
from dovetail.join.parts import PartsJoin, likely_by_parts, parts_of, several_values
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.join.semantic import semantic_keys
from dovetail.join.similar import similar_join
from dovetail.join.through import carried_by, carriers_of, through_keys
from dovetail.tables.column_names import Pair, column_pairs
from dovetail.tables.input_table import InputTable
from dovetail.through.likelihood import LIKELY as LIKELY_THROUGH
from dovetail.through.likelihood import how_likely
from dovetail.transform.composite import discover_composite
from dovetail.transform.discover import discover
from dovetail.transform.transformation import Transformation

_NOTHING_EQUAL = "No columns have a value in common."

Texts = dict[str, list[str | None]]


def join_tables(
    left: InputTable,
    right: InputTable,
    request: JoinRequest,
    space: Space | None = None,
    decisions: TableDecisions = NO_DECISIONS,
    segments: Sequence[OpenSegment] | None = None,
) -> JoinResult:
    """Join two tables.

    `space` makes the vectors for `by="semantic"`, `segments` hold the lake for `by="through"`; `decisions` are those
    about the two tables.
    """
    begun = time.perf_counter()
    result = _Join(left, right, request, space, decisions, segments).decided()
    return replace(result, seconds=round(time.perf_counter() - begun, 3))


class _Join:
    def __init__(
        self,
        left: InputTable,
        right: InputTable,
        request: JoinRequest,
        space: Space | None,
        decisions: TableDecisions = NO_DECISIONS,
        segments: Sequence[OpenSegment] | None = None,
    ) -> None:
        self.left, self.right, self.request, self.space, self.segments = left, right, request, space, segments
        self.decisions = decisions
        self._deadline = Deadline(request.seconds)

    def decided(self) -> JoinResult:
        """As a person decided, where the request leaves the columns open."""
        if self.request.on is not None or isinstance(self.request.by, Transformation):
            return self.run()
        accepted = [each for each in self.decisions.accepted if self._has(each)] if not self.request.prefer else []
        if accepted:
            return self._accepted([each for each in accepted if not each.declared] or accepted)
        result = self.run()
        never = self.decisions.rejects(*result.columns)
        if never is None:
            return result
        return self._nothing(result.by, f"The best columns are {result.condition}; they never join, {never.sentence}.")

    def _has(self, decision: Decision) -> bool:
        """Whether the tables have the columns of a decision, and the method takes as many."""
        pairs = ((self.left.names, decision.left_columns), (self.right.names, decision.right_columns))
        few_enough = self.request.by not in ("semantic", "through") or len(decision.left_columns) == 1
        return few_enough and all(set(asked) <= set(names) for names, asked in pairs)

    def _accepted(self, decisions: list[Decision]) -> JoinResult:
        """On columns that a person accepted, or else a database declares: of several pairs, on the likeliest.

        Methods that are not named compete, unless a database declares that equal values refer to each other.
        """
        best, decision = None, decisions[-1]
        if self.request.by in (None, "equal"):
            options = [(self._best_on(each), each) for each in decisions]
            best, decision = max(options, key=lambda option: option[0].probability if option[0] else 0.0)
        asked = replace(self.request, on=list(zip(decision.left_columns, decision.right_columns, strict=True)))
        join = _Join(self.left, self.right, asked, self.space, self.decisions, self.segments)
        result = join._made(best) if best else join.run()
        if not len(result.matches.left):
            return replace(result, why=f"{decision.condition} has no match, though it joins, as {decision.sentence}.")
        why = f"{decision.sentence[0].upper()}{decision.sentence[1:]}: these columns join.{_but(result, decision)}"
        return replace(result, why=why, probability=1.0, decided=decision.when, declared=decision.declared)

    def _best_on(self, decision: Decision) -> Judged | None:
        """The best candidate on exactly the columns of a decision."""
        left, right = self.left.only(decision.left_columns), self.right.only(decision.right_columns)
        by = "equal" if decision.declared else self._equal_alone
        found = compete(left, right, self._deadline, by).judged
        return next((each for each in found if self.decisions.accepts(*each.candidate.columns) == decision), None)

    def run(self) -> JoinResult:
        by, on = self.request.by, self._named_columns()
        if isinstance(by, Transformation):
            return self._by_program(by, "The transformation was given.")
        if by == "semantic":
            return self._semantic(on)
        if by == "similar":
            return self._similar(on)
        if by == "through":
            return self._through(on)
        if by == "parts":
            return self._parts(on)
        if by == "transform":
            found = self._learned(on)
            nothing = "No transformation joins enough rows."
            return self._by_program(found) if found else self._nothing("transform", nothing)
        if on is None:
            return self._chosen()
        several = several_values(self.left, self.right, on) if by is None else ""
        hint = f" {several} `by='parts'` joins each of them." if several else ""
        return self._equal(on, f"The columns were given.{hint}")

    def _named_columns(self) -> list[Pair] | None:
        if self.request.on is None:
            return None
        pairs = column_pairs(self.request.on, self.left.names, self.right.names)
        for mine, theirs in pairs:
            self.left.column(mine), self.right.column(theirs)  # raises where there is none
        return pairs

    def _chosen(self) -> JoinResult:
        """By the columns and the method that a person would most likely accept; or not at all."""
        if self.request.prefer:
            tables = [self.left, self.right]
            found = named_predicates(tables, self.request.prefer, 1, self.request.seconds, [self.decisions])
            return self._predicate(found, found[0]) if len(found) else self._nothing("equal", _NOTHING_EQUAL)
        by = self._equal_alone
        choice = compete(self.left, self.right, self._deadline, by, self.decisions)
        best = next((each for each in choice.judged if not self._multiplies(each)), choice.best)
        others = choice.runners_up(best)
        if by is None and (carried := self._carried(best.probability if best else 0.0)):
            return replace(carried, runners_up=choice.runners_up(None), complete=choice.complete)
        if by is None and (by_parts := self._likely_parts(best)):
            return replace(by_parts, runners_up=choice.runners_up(best), complete=choice.complete)
        if best is None or (by is None and best.probability < LIKELY):
            result = self._nothing("equal", self._why_nothing(choice))
            return replace(result, runners_up=choice.runners_up(None), complete=choice.complete)
        result = self._made(best)
        return replace(result, why=why(best), probability=best.probability, runners_up=others, complete=choice.complete)

    def _likely_parts(self, rival: Judged | None) -> JoinResult | None:
        """The join by parts of cells, if it is likely and the rival is not, or worse on the same columns."""
        if self._deadline.is_over:
            return None
        found = likely_by_parts(self.left, self.right, self._deadline, self.decisions)
        if found is None or found[1].probability < LIKELY:
            return None
        join, judged = found
        if rival is not None and rival.probability >= LIKELY and not _is_better(judged, rival):
            return None
        result = self._by_parts(join, list(zip(*judged.candidate.columns, strict=True)))
        return replace(result, why=f"{join.why} {why(judged)}", probability=judged.probability)

    def _parts(self, on: list[Pair] | None) -> JoinResult:
        """By parts, since that is what was asked for."""
        if on is not None:
            return self._named_parts(on) or self._nothing("parts", "Cells of neither column hold several values.")
        found = likely_by_parts(self.left, self.right, self._deadline, self.decisions)
        if found is None:
            return self._nothing("parts", "No column holds several values that have a match.")
        join, judged = found
        result = self._by_parts(join, list(zip(*judged.candidate.columns, strict=True)))
        return replace(result, why=f"{join.why} {why(judged)}", probability=judged.probability)

    def _named_parts(self, on: list[Pair]) -> JoinResult | None:
        """By the parts of a pair of columns that was named, if the cells of one hold several values."""
        join = parts_of(self.left, self.right, on[0]) if len(on) == 1 else None
        return None if join is None else replace(self._by_parts(join, on), why=f"{join.why} The columns were given.")

    def _by_parts(self, join: PartsJoin, pairs: list[Pair]) -> JoinResult:
        result = execute(*join.tables, join.keys(pairs), self.request, "parts", _columns(pairs))
        return join.of_cells(result, self.left, self.right)

    def _carried(self, rival: float) -> JoinResult | None:
        """The join of texts through tables of the lake, if there is one that is likely, and more so than its rival."""
        if self.segments is None or rival >= CERTAIN or self._deadline.is_over:
            return None
        found = through_keys(self.segments, self.left, self.right, None, self._deadline, unasked=True)
        if found is None or not found[2] or self.decisions.rejects(*_columns([found[0]])) is not None:
            return None
        pair, keys, mapping = found
        likely = how_likely(mapping)
        if likely < LIKELY_THROUGH or likely <= rival:
            return None
        result = self._execute(keys, "through", _columns([pair]))
        why = f"{carried_by(mapping)} Likely right: {likely:.0%}."
        carriers = carriers_of(self.segments, mapping)
        return replace(result, why=why, mapping=mapping, carriers=carriers, probability=likely)

    def _why_nothing(self, choice: Choice) -> str:
        """Why nothing joins; and what was left out because a person rejected it."""
        rejected = self.decisions.rejected
        if not rejected:
            return why_nothing(choice)
        out = "; ".join(f"{each.condition}, {each.sentence}" for each in rejected)
        return f"{why_nothing(choice)} Left out: {out}." if choice.best else f"Left out: {out}."

    @property
    def _equal_alone(self) -> str | None:
        """The method, where only equal columns may compete."""
        return "equal" if self.request.by == "equal" else None

    def _made(self, best: Judged) -> JoinResult:
        candidate, way = best.candidate, best.candidate.way
        by = "equal" if way is not None and way.is_identity else candidate.by
        result = self._execute(candidate.keys(), by, candidate.columns)
        return replace(result, transformation=None if by == "equal" else way)

    def _multiplies(self, judged: Judged) -> bool:
        """Whether it would be refused for giving many rows for each."""
        return judged.candidate.joined > self.request.max_growth * max(self.left.rows, self.right.rows)

    def _predicate(self, found: Predicates, best: NamedPredicate) -> JoinResult:
        pairs = [(pair.left, pair.right) for pair in best.pairs]
        why = _why_equal(best, found.prefer)
        if not found.complete:
            why += f" The search stopped after {self.request.seconds:g} seconds; there may be better columns."
        result = self._equal(pairs, why)
        return replace(result, prefer=found.prefer, score=best.score, complete=found.complete)

    def _equal(self, pairs: list[Pair], why: str) -> JoinResult:
        keys = equal_keys(self.left, self.right, pairs)
        return replace(self._execute(keys, "equal", _columns(pairs)), why=why)

    def _learned(self, on: list[Pair] | None) -> Transformation | None:
        names = (self.left.names, self.right.names) if on is None else _columns(on)
        mine, theirs = (
            {name: table.values(name) for name in dict.fromkeys(of)}
            for table, of in zip((self.left, self.right), names, strict=True)
        )
        way = self.request.chosen_way
        found = discover(mine, theirs, deadline=self._deadline, way=way)
        found = found or discover_composite(mine, theirs, self._deadline, way)
        return None if found is None else Transformation(found.programs, found.reversed, found.target, found.key)

    def _by_program(self, way: Transformation, why: str = "The method was given.") -> JoinResult:
        keys = transformed_keys(self.left, self.right, way)
        columns = ((way.target,), way.columns) if way.reversed else (way.columns, (way.target,))
        result = self._execute(keys, "transform", columns)
        return replace(result, why=why, transformation=way)

    def _similar(self, on: list[Pair] | None) -> JoinResult:
        """By similarity alone."""
        found = similar_join(self.left, self.right, _columns(on) if on else None, self.request, self._deadline)
        if found is None:
            return self._nothing("similar", "No text columns correspond.")
        result = self._execute(found.keys, "similar", found.columns)
        return replace(result, why=found.why)

    def _semantic(self, on: list[Pair] | None) -> JoinResult:
        if on is not None and len(on) > 1:
            raise InputError("`by='semantic'` joins on one pair of columns; `on` names several.")
        found = semantic_keys(self.left, self.right, on[0] if on else None, self.space, self.request.min_similarity)
        if found is None:
            return self._nothing("semantic", "No text columns have similar values.")
        pair, keys = found
        result = self._execute(keys, "semantic", _columns([pair]))
        return replace(result, why="The method was given.")

    def _through(self, on: list[Pair] | None) -> JoinResult:
        if self.segments is None:
            raise InputError("`by='through'` needs an index: the tables of its lake carry the join.")
        if on is not None and len(on) > 1:
            raise InputError("`by='through'` joins on one pair of columns; `on` names several.")
        found = through_keys(self.segments, self.left, self.right, on[0] if on else None, self._deadline)
        if found is None or not found[2]:
            return self._nothing("through", "No tables of the lake relate values of both.")
        pair, keys, mapping = found
        result = self._execute(keys, "through", _columns([pair]))
        return replace(result, why=carried_by(mapping), mapping=mapping, carriers=carriers_of(self.segments, mapping))

    def _execute(self, keys: JoinKeys, by: str, columns: ColumnNames) -> JoinResult:
        """Join by the keys that a method found, and as a person decided about values."""
        return execute_decided(self.left, self.right, keys, self.request, by, columns, self.decisions)

    def _nothing(self, by: str, why: str) -> JoinResult:
        result = execute(self.left, self.right, no_keys(self.left, self.right), self.request, by, ((), ()))
        return replace(result, why=why)


def _is_better(by_parts: Judged, rival: Judged) -> bool:
    """Whether a join by parts is on the same columns as another one, and joins more rows or is likelier."""
    if rival.candidate.columns != by_parts.candidate.columns:
        return False
    joins_more = by_parts.candidate.joined > rival.candidate.joined
    return joins_more or (rival.candidate.by != "equal" and by_parts.probability > rival.probability)


def _columns(pairs: list[Pair]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _why_equal(best: NamedPredicate, prefer: str) -> str:
    return f"These columns score best by {prefer}: {best.score:g}."


def _but(result: JoinResult, decision: Decision) -> str:
    """What the data says against a declared key: rows that refer to nothing."""
    if not decision.declared:
        return ""
    referring = 0 if decision.referring == "left" else 1
    table = (result.left, result.right)[referring]
    filled = np.logical_and.reduce([table.column(name).codes() >= 0 for name in result.columns[referring]])
    lost = int(filled.sum()) - result.matched[referring]
    return f" But {lost:,} of {table.rows:,} rows of {table.name} refer to nothing." if lost > 0 else ""
