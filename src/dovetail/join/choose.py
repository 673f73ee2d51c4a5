"""Joins two tables by the method and columns that are named, or else by those that the values suggest.

What the values suggest is a competition of equal columns, similar texts and transformations (compete.py), then of the
best of them with parts of cells; tables of the lake come last. A preference chooses among equal columns alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail.catalog.decisions import NO_DECISIONS, Decision, TableDecisions
from dovetail.evidence.thresholds import LIKELY_JOIN, LIKELY_THROUGH
from dovetail.indexes.open_segment import OpenSegment
from dovetail.indexes.pexeso.core import Space
from dovetail.join.best_predicate.predicates import NamedPredicate, Predicates, named_predicates
from dovetail.join.compete import Choice, Judged, compete, why, why_nothing
from dovetail.join.keys import repeats_rows
from dovetail.join.methods import JoinMethods, columns_of
from dovetail.join.parts import likely_by_parts, several_values
from dovetail.join.request import JoinRequest
from dovetail.join.result import JoinResult
from dovetail.join.through import carried_by, carriers_of, through_keys
from dovetail.methods.registry import TRANSFORM, method_called
from dovetail.tables.input_table import InputTable
from dovetail.through.mapping import how_likely
from dovetail.transform.transformation import Transformation

_NOTHING_EQUAL = "No columns have a value in common."


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
    result = _Join(left, right, request, space, decisions, segments).as_decided()
    return replace(result, seconds=round(time.perf_counter() - begun, 3))


class _Join(JoinMethods):
    """The join by the method and columns that are named, decided or most likely."""

    def as_decided(self) -> JoinResult:
        """As a person decided, where the request leaves the columns open."""
        if self.request.on is not None or isinstance(self.request.by, Transformation):
            return self.run()
        decisions = () if self.request.prefer else self.decisions.accepted
        accepted = [each for each in decisions if self._is_applicable(each)]
        if accepted:
            return self._on_accepted([each for each in accepted if not each.declared] or accepted)
        result = self.run()
        never = self.decisions.rejects(*result.columns)
        if never is None:
            return result
        return self.nothing(result.by, f"The best columns are {result.condition}; they never join, {never.sentence}.")

    def _is_applicable(self, decision: Decision) -> bool:
        """Whether the tables have the columns of a decision, and the method takes as many."""
        pairs = ((self.left.names, decision.left_columns), (self.right.names, decision.right_columns))
        by = self.request.by
        one_pair = isinstance(by, str) and (by == TRANSFORM.name or method_called(by).one_pair)
        few_enough = not one_pair or len(decision.left_columns) == 1
        return few_enough and all(set(asked) <= set(names) for names, asked in pairs)

    def _on_accepted(self, decisions: list[Decision]) -> JoinResult:
        """On columns that a person accepted, or else a database declares: of several pairs, on the likeliest.

        Methods that are not named compete, unless a database declares that equal values refer to each other.
        """
        best, decision = None, decisions[-1]
        if self.request.by in (None, "equal"):
            options = [(self._best_on(each), each) for each in decisions]
            best, decision = max(options, key=lambda option: option[0].probability if option[0] else 0.0)
        asked = replace(self.request, on=list(zip(decision.left_columns, decision.right_columns, strict=True)))
        join = _Join(self.left, self.right, asked, self.space, self.decisions, self.segments)
        result = join.candidate(best) if best else join.run()
        if not len(result.matches.left):
            return replace(result, why=f"These columns join, as {decision.sentence}, but share no value.")
        sentence = f"{decision.sentence[0].upper()}{decision.sentence[1:]}: these columns join."
        why = sentence + _rows_without_target(result, decision)
        return replace(result, why=why, probability=1.0, decided=decision.when, declared=decision.declared)

    def _best_on(self, decision: Decision) -> Judged | None:
        """The best candidate on exactly the columns of a decision."""
        left, right = self.left.only(decision.left_columns), self.right.only(decision.right_columns)
        by = "equal" if decision.declared else self._equal_alone
        found = compete(left, right, self.deadline, by).judged
        return next((each for each in found if self.decisions.accepts(*each.candidate.columns) == decision), None)

    def run(self) -> JoinResult:
        """By the method that the request names, or that is chosen."""
        by, on = self.request.by, self.named_columns()
        if isinstance(by, Transformation):
            return self.program(by, "The transformation was given.")
        joins = {
            "parts": self.parts, "transform": self.transform, "similar": self.similar, "semantic": self.semantic,
            "through": self.through,
        }  # fmt: skip
        if by in joins:
            return joins[by](on)
        if on is None:
            return self._chosen()
        several = several_values(self.left, self.right, on) if by is None else ""
        hint = f" {several} `by='parts'` joins each of them." if several else ""
        return self.equal(on, f"The columns were given.{hint}")

    def _chosen(self) -> JoinResult:
        """By the columns and the method that a person would most likely accept; or not at all."""
        if self.request.prefer:
            tables = [self.left, self.right]
            found = named_predicates(tables, self.request.prefer, 1, self.request.seconds, [self.decisions])
            return self._predicate(found, found[0]) if len(found) else self.nothing("equal", _NOTHING_EQUAL)
        by = self._equal_alone
        choice = compete(self.left, self.right, self.deadline, by, self.decisions)
        best = next((each for each in choice.judged if not self._grows_too_much(each)), choice.best)
        others = choice.runners_up(best)
        if by is None and (by_parts := self._likely_parts(best)):
            return replace(by_parts, runners_up=choice.runners_up(best), complete=choice.complete)
        if best is None or (by is None and best.probability < LIKELY_JOIN):
            through = self._likely_through() if by is None else None
            result = through or self.nothing("equal", self._why_nothing(choice))
            return replace(result, runners_up=choice.runners_up(None), complete=choice.complete)
        result = self.candidate(best)
        return replace(result, why=why(best), probability=best.probability, runners_up=others, complete=choice.complete)

    def _likely_parts(self, rival: Judged | None) -> JoinResult | None:
        """The join by parts of cells, if it is likely and the rival is not, or worse on the same columns."""
        if self.deadline.is_over:
            return None
        found = likely_by_parts(self.left, self.right, self.deadline, self.decisions)
        if found is None or found[1].probability < LIKELY_JOIN:
            return None
        if rival is not None and rival.probability >= LIKELY_JOIN and not _is_better(found[1], rival):
            return None
        return self.judged_parts(*found)

    def _likely_through(self) -> JoinResult | None:
        """The join of texts through tables of the lake, if one is likely and repeats no row of the left table.

        It is the last resort, where the two tables alone have no likely join: so an index never changes a join.
        """
        if self.segments is None or self.deadline.is_over:
            return None
        found = through_keys(self.segments, self.left, self.right, None, self.deadline, unasked=True)
        if found is None or not found[2] or self.decisions.rejects(*columns_of([found[0]])) is not None:
            return None
        pair, keys, mapping = found
        likely = how_likely(mapping)
        if likely < LIKELY_THROUGH or repeats_rows(keys):
            return None
        result = self.execute(keys, "through", columns_of([pair]))
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

    def _grows_too_much(self, judged: Judged) -> bool:
        """Whether it would be refused for giving too many rows for each row of the larger table."""
        return judged.candidate.joined > self.request.max_growth * max(self.left.rows, self.right.rows)

    def _predicate(self, found: Predicates, best: NamedPredicate) -> JoinResult:
        pairs = [(pair.left, pair.right) for pair in best.pairs]
        why = _why_equal(best, found.prefer)
        if not found.complete:
            why += f" The search stopped after {self.request.seconds:g} seconds; there may be better columns."
        result = self.equal(pairs, why)
        return replace(result, prefer=found.prefer, score=best.score, complete=found.complete)


def _is_better(by_parts: Judged, rival: Judged) -> bool:
    """Whether a join by parts is on the same columns as another one, and joins more rows or is likelier."""
    if rival.candidate.columns != by_parts.candidate.columns:
        return False
    joins_more = by_parts.candidate.joined > rival.candidate.joined
    return joins_more or (rival.candidate.by != "equal" and by_parts.probability > rival.probability)


def _why_equal(best: NamedPredicate, prefer: str) -> str:
    return f"These columns score best by {prefer}: {best.score:g}."


def _rows_without_target(result: JoinResult, decision: Decision) -> str:
    """What the data says against a declared key: rows that refer to nothing."""
    if not decision.declared:
        return ""
    referring = 0 if decision.referring == "left" else 1
    table = (result.left, result.right)[referring]
    filled = np.logical_and.reduce([table.column(name).codes() >= 0 for name in result.columns[referring]])
    lost = int(filled.sum()) - result.matched[referring]
    return f" But {lost:,} of {table.rows:,} rows of {table.name} refer to nothing." if lost > 0 else ""
