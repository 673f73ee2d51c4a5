"""What a person decides about columns of two tables of an open index: kept, listed, forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dovetail._storage.store import Address
from dovetail.catalog.decisions import NEVER, Decision, Decisions, forget_decision, keep_decision, read_decisions
from dovetail.errors import InputError, UnknownName
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.results import Rows
from dovetail.tables.column_names import Names, Pair, column_pairs
from dovetail.tables.input_table import lake_table


def decide(
    index: Address, segments: Sequence[OpenSegment], left: str, right: str, on: Names, verdict: str, note: str,
    values: Sequence[str] = (),
) -> Decision:  # fmt: skip
    """Keep a decision about columns that both tables have, or about values of columns."""
    if values:
        return keep_decision(index, _about_values(segments, left, right, on, verdict, note, values))
    mine, theirs = (lake_table(*find_table(segments, name, "The index has no table")) for name in (left, right))
    pairs = column_pairs(on, mine.names, theirs.names)
    for one, other in pairs:
        mine.column(one), theirs.column(other)  # raises where there is none
        if (left, one) == (right, other):
            raise InputError(f"{one} of {left} is on both sides; a decision is about two columns.")
    return keep_decision(index, _decision(left, right, pairs, verdict, note))


def _about_values(
    segments: Sequence[OpenSegment], left: str, right: str, on: Names, verdict: str, note: str, values: Sequence[str]
) -> Decision:
    """About values of two tables, of which one may be a file, whose name and columns are taken as they are written."""
    known = dict(_columns_of(segments, {left, right}))
    if not known:
        find_table(segments, right, "The index has no table")  # raises
    pairs = column_pairs(on, list(known.get(left, ())), list(known.get(right, ())))
    decision = replace(_decision(left, right, pairs, verdict, note), values=tuple(values))
    missing = [name for name in _missing(known, decision) if name not in (left, right)]
    if missing:
        raise UnknownName(f"The index has no column {missing[0]}.")
    return decision


def forget(index: Address, left: str, right: str, on: Names, values: Sequence[str] = ()) -> Decision:
    """Forget a decision. Its tables need not exist any more, so names are compared with those of the decisions."""
    between = Decisions(read_decisions(index)).between(left, right)
    kept = between.about_values if values else [*between.accepted, *between.rejected]
    mine = [name for each in kept for name in each.left_columns]
    theirs = [name for each in kept for name in each.right_columns]
    asked = replace(_decision(left, right, column_pairs(on, mine, theirs), NEVER), values=tuple(values))
    found = forget_decision(index, asked)
    if found is None:
        raise UnknownName(f"Nothing was decided about {asked.columns}.")
    return found


def listed(index: Address, segments: Sequence[OpenSegment]) -> Rows[Decision]:
    """All decisions, the latest first, each with what the index does not have."""
    kept = read_decisions(index)
    known = dict(_columns_of(segments, {table for each in kept for table in (each.left_table, each.right_table)}))
    return Rows(replace(each, missing=tuple(_missing(known, each))) for each in reversed(kept))


def _decision(left: str, right: str, pairs: Sequence[Pair], verdict: str, note: str = "") -> Decision:
    return Decision(left, tuple(a for a, _ in pairs), right, tuple(b for _, b in pairs), verdict, note)


def _columns_of(segments: Sequence[OpenSegment], tables: set[str]) -> Iterator[tuple[str, set[str]]]:
    """The names of the columns of those of the tables that the index has."""
    for segment in segments:
        for number, name in enumerate(segment.names):
            if name in tables and segment.alive[number]:
                place = segment.catalog.column_range(number)
                yield name, set(segment.catalog.columns["column"].slice(place.start, len(place)).to_pylist())


def _missing(known: dict[str, set[str]], decision: Decision) -> Iterator[str]:
    sides = ((decision.left_table, decision.left_columns), (decision.right_table, decision.right_columns))
    for table, columns in dict.fromkeys(sides):
        if table not in known:
            yield table
        else:
            yield from (f"{table} ({name})" for name in columns if name not in known[table])
