"""What `dovetail join` prints about a join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dovetail.join.compete import Judged
from dovetail.join.result import JoinResult
from dovetail.through.mapping import ValueMapping
from dovetail.transform.explain import explained

_TABLES, _DISPUTED = 5, 3  # that are shown of a join through the lake
_LABELS = {"python": "Python", "duckdb": "DuckDB", "spark": "Spark"}


def report_lines(joined: JoinResult, explain: bool, sql: str | None) -> Iterator[str]:
    yield joined.sentence
    if not len(joined.matches.left):
        yield from _runner_up_lines(joined.runners_up[1:], "Considered")  # the sentence has the first
        return
    yield joined.why
    if joined.steps:
        yield from _step_lines(joined)
        return
    if joined.mapping is not None:
        yield from _bridge_lines(joined.mapping, explain)
    if joined.transformation:
        yield from _program_lines(joined, explain)
    for side, values in (("left", joined.unmatched_left), ("right", joined.unmatched_right)):
        if values:
            yield f"Not matched on the {side}: {'; '.join(values)}"
    yield from _runner_up_lines(joined.runners_up, "Less likely")
    if explain:
        yield f"SQL:\n{sql or 'No short query gives the same rows.'}"


def _bridge_lines(mapping: ValueMapping, explain: bool) -> Iterator[str]:
    for table in mapping.tables[: None if explain else _TABLES]:
        steps = ", then ".join(f"{step.table}, {step.columns}" for step in table.steps)
        yield f"  {steps}: {table.pairs:,} of {len(mapping):,} pairs, weight {table.weight:.2f}"
    for pair in mapping.disputed[: None if explain else _DISPUTED]:
        yield f"Least certain: {pair.value} = {pair.partner} ({pair.probability:.0%}), or {pair.contradictions[0]}"


def _program_lines(joined: JoinResult, explain: bool) -> Iterator[str]:
    if joined.transformation and joined.transformation.key:
        yield f"Part of the other table's key that is used: {joined.transformation.key.words}"
    for number, program in enumerate(joined.programs, start=1):
        title = f"Program {number} of {len(joined.programs)}" if len(joined.programs) > 1 else "Program"
        texts = explained(program)
        yield f"{title}, on the {joined.transformed} table: {texts['words']}"
        for name, label in _LABELS.items() if explain else ():
            yield f"  {label}: {texts[name] or 'no expression; it runs in the workers'}"


def _runner_up_lines(others: Sequence[Judged], title: str) -> Iterator[str]:
    for other in others:
        against = "; ".join(other.clauses[1])
        yield f"{title}: {other.sentence}{f'; {against}' if against else ''}."


def _step_lines(joined: JoinResult) -> Iterator[str]:
    for step in joined.steps:
        matched = (
            f"{step.matched_right:,} of {step.right.rows:,} rows match {step.matched_left:,} of {step.left.rows:,}"
        )
        yield f"  + {step.right.name} on {step.condition}: {matched} before, {step.cardinality}."
