"""Questions to an open index about tables that are named: their join, their union, and what people decide about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dovetail.api.decisions import decide, forget, listed
from dovetail.api.open_index import OpenIndex
from dovetail.catalog.decisions import Decision
from dovetail.errors import InputError
from dovetail.indexes.open_segment import find_table
from dovetail.join.request import MAX_GROWTH, MAX_ROWS, SECONDS, SUFFIX, JoinRequest, columns_and_method
from dovetail.results import Rows
from dovetail.search.hit import Hit
from dovetail.search.request import as_globs
from dovetail.tables.column_names import Names, Pair
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
