"""Questions to an open index about tables that are named: their join, their union, and what people decide about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail._storage.store import Address
from dovetail.api.open_index import OpenIndex
from dovetail.catalog.decisions import NEVER, Decision, Decisions, forget_decision, keep_decision, read_decisions
from dovetail.errors import InputError, UnknownName
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.join.request import MAX_GROWTH, MAX_ROWS, SECONDS, SUFFIX, JoinRequest, columns_and_method
from dovetail.results import Rows
from dovetail.search.hit import Hit
from dovetail.search.request import as_globs
from dovetail.tables.column_names import Names, Pair, column_pairs
from dovetail.tables.input_table import lake_table, only_column, open_table

if TYPE_CHECKING:
    from dovetail.join.best_predicate.predicates import Predicates
    from dovetail.join.best_predicate.scores import Preferred
    from dovetail.join.result import JoinResult
    from dovetail.through.mapping import ValueMapping
    from dovetail.transform.transformation import Transformation
    from dovetail.union.append import UnionResult
    from dovetail.union.hits import UnionHit, UnionHits


class LakeJoins(OpenIndex):
    """Joins and unions of tables of the lake with each other and with mine."""

    def join(
        self,
        data: Any,
        table: Any = None,
        on: Names | None = None,
        how: str = "inner",
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        by: str | Transformation | None = None,
        prefer: Preferred | None = None,
        equal: str | tuple[str, str] | None = None,
        min_similarity: float | None = None,
        one_to_one: bool = False,
        suffix: str = SUFFIX,
        validate: str | None = None,
        indicator: bool = False,
        both_keys: bool = False,
        seconds: float = SECONDS,
        max_rows: int = MAX_ROWS,
        max_growth: float = MAX_GROWTH,
    ) -> JoinResult:
        """Join `data` with a table of the lake, or with another one. The options are those of `dovetail.join`.

        `table` is the name of a table of the lake, a hit, a path or a frame; `lake.join(hit)` joins the data that was
        searched with. A hit joins on what the search found, unless `on`, `by` or `prefer` is given. Returns a
        `JoinResult`: `.frame` is the kind of frame that `data` is, `.table` an Arrow table of text.
        """
        from dovetail.join.hits import join_hit, join_with_lake

        if isinstance(data, Hit):
            if table is not None or data.source is None:
                raise InputError("Use lake.join(hit) to join the data that was searched with, or lake.join(data, hit).")
            data, table = data.source.data, data
        if table is None:
            raise InputError("lake.join needs a table of the lake: a name or a hit.")
        named, method = columns_and_method(on, left_on, right_on, by)
        request = JoinRequest(
            named, how, method, prefer, equal, min_similarity, one_to_one, suffix, validate,
            indicator, both_keys, seconds, max_rows, max_growth,
        )  # fmt: skip
        if isinstance(table, Hit):
            if request.on is None and by is None and prefer is None:
                return join_hit(self.segments, table, data, request, decisions=self._decided)
            table = table.table
        return join_with_lake(self.segments, data, table, request, self._decided)

    def predicates(
        self, *tables: Any, prefer: Preferred | None = None, k: int = 5, seconds: float = SECONDS
    ) -> Predicates:
        """The `k` best sets of columns to join tables on, as `dovetail.predicates`; and as people decided.

        Each is a path, a table of the lake by name, or a frame.
        """
        from dovetail.join.best_predicate.predicates import named_predicates

        if len(tables) < 2:
            raise InputError("A join needs at least two tables.")
        opened = [open_table(data, f"table_{n + 1}", self.segments) for n, data in enumerate(tables)]
        decisions = self._decided
        between = [decisions.between(one.id, other.id) for one, other in itertools.combinations(opened, 2)]
        return named_predicates(opened, prefer, k, seconds, between)

    def map(self, values: Any, to: Any, *, column: str | None = None) -> ValueMapping:
        """The value that belongs to each of `values`, by what tables of the lake have in one row.

        `to` has the values to choose from, or examples: a dict or a list of pairs, such as `{"Japan": "Tokyo"}`. Then
        the partners come from the lake, as normalised values. `values` is a list, or a path or a frame of one column or
        with the name of one in `column`. Returns pairs with support, probability and the tables that say so; values
        that no table relates are left out.
        """
        from dovetail.through.examples import example_columns, map_by_examples
        from dovetail.through.lookup import map_columns

        mine = only_column(open_table(values, "values", self.segments), column)
        examples = example_columns(to)
        if examples is not None:
            return map_by_examples(self.segments, mine, examples)
        return map_columns(self.segments, mine, only_column(open_table(to, "to", self.segments), None))

    def union(
        self, data: Any, k: int = 10, *, tables: str | Iterable[str] = (), include_self: bool = False
    ) -> UnionHits:
        """The `k` tables whose rows could most likely be appended to `data`, best first, with their columns aligned.

        `data` is a path, a table of the lake by name, or a frame. `hit.append()` gives the rows of both, with a
        column of origin; `dovetail.union(data, *tables, index=…)` appends several. Copies and versions of `data` are
        named as such (`hit.relation`). `tables` are globs: only tables that match one are found.
        """
        from dovetail.union.append import append_tables
        from dovetail.union.search import UnionRequest, search_unions

        mine = open_table(data, "query", self.segments)

        def append(hit: UnionHit) -> UnionResult:
            return append_tables(mine, [lake_table(*find_table(self.segments, hit.table, "The index has no table"))])

        return search_unions(self.segments, UnionRequest(mine, k, as_globs(tables), include_self)).of(append)

    def decide(
        self, left: str, right: str, on: Names, verdict: str, note: str = "", *, values: Pair | None = None
    ) -> Decision:
        """Keep with the index that columns of two of its tables join (`"joins"`) or never do (`"never"`).

        `on` names the columns as in `lake.join`. A decision replaces an earlier one about the same columns. Later
        searches, joins, keys and paths follow it, and say so.

        With `values`, a value of the left column and one of the right, the decision is about these alone: later joins
        on the two columns pair them, or never do. Then the tables may also be files, by their names.
        """
        return decide(self._snapshot.store, self.segments, left, right, on, verdict, note, values or ())

    def decisions(self) -> Rows[Decision]:
        """What was decided, the latest first; each says which of its tables and columns the index no longer has."""
        return listed(self._snapshot.store, self.segments)

    def forget(self, left: str, right: str, on: Names, *, values: Pair | None = None) -> Decision:
        """Forget what was decided about these columns or values, whether the index still has them. Returns it."""
        return forget(self._snapshot.store, left, right, on, values or ())


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
