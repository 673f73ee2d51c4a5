"""Questions to an open index about which tables join with one of mine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from dovetail.api.open_index import OpenIndex
from dovetail.catalog.decisions import Decisions
from dovetail.errors import InputError
from dovetail.join.request import JoinRequest
from dovetail.methods.registry import EQUAL
from dovetail.search.hit import Hit, Source
from dovetail.search.hits import Hits
from dovetail.search.request import SearchRequest, as_globs
from dovetail.tables.input_table import open_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail.evidence.lake_columns import LakeColumns
    from dovetail.join.result import JoinResult
    from dovetail.search.many import Answer, Answers
    from dovetail.search.planner import JudgeUnions


class LakeSearch(OpenIndex):
    """Which tables join with one of mine."""

    def search(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        k: int | None = None,
        *,
        by: str = EQUAL.name,
        min_similarity: float | str | None = None,
        threshold: float | str | None = None,
        tables: str | Iterable[str] = (),
        min_overlap: int = 1,
        include_self: bool = False,
        fast: bool = False,
        copies: bool | None = None,
        target: str | None = None,
    ) -> Hits:
        """The tables that join with `data`: a path, a table of the lake by name, a frame or a list of values.

        Returns hits, best first, each with its evidence; `hit.explain()`, `hit.preview()` and `hit.join()` go on from
        there. `on` names the column of `data` to join on, or several that must match together, row by row; without it,
        every suitable column is tried, unless `data` is a list, which is a column. With `threshold`, all columns that
        contain at least this share of the values are found, or the best `k` of them, and `hits.note` says how many
        there are; otherwise the `k` (10) that contain most. Both are exact. With `fast` (one column), they come from
        sketches (LSH Ensemble), which may miss a hit; the numbers of each hit are exact all the same.

        Near-copies of a hit, such as other editions of a yearly report, are no hits but named in `hit.copies`; with
        `copies=True`, and with a `threshold` unless `copies=False`, they are hits of their own.

        With `by="parts"`, cells of a hit, or those of `data`, hold several values (`drama; crime`), and parts match.

        With `by="transform"`, a hit joins after a transformation, `hit.transformation`.

        With `by="semantic"`, values match if they are similar in spelling or meaning: the probability that they name
        the same thing is at least `min_similarity` (0.5; 1 means equal). Without `k` and `threshold`, all columns in
        which half of the rows have a match are found. Without `on`, the column with most texts is searched
        with; `on="*"` tries each.

        With `by="through"`, a hit holds what belongs to the values of a text column, as other tables of the lake say
        that hold both; `hit.mapping` has the pairs.

        With `target`, a column of `data`, hits by equal values are ranked by what their columns add to predicting it:
        `hit.gain` is the share of its variance that they explain beyond the columns of `data`, `hit.helps` says which.
        """
        from dovetail.search.planner import search

        request = SearchRequest(
            data, on, k, threshold, as_globs(tables), min_overlap, include_self, fast, by, min_similarity, copies,
        )  # fmt: skip
        if target is None:
            hits = search(self.segments, request, *self._search_context)
        else:
            hits = self._ranked_for(target, request)
        return hits.of(Source(self._join_hit, data))

    def search_iter(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        k: int | None = None,
        *,
        when_long: bool = False,
        **options: Any,
    ) -> Iterator[Hits]:
        """The answers of `lake.search` as they come: first an approximate one, from sketches, then the exact one.

        The options are those of `lake.search`. Each answer is a list of hits, best first; `hits.exact` says which it
        is. In the exact one, `hits.changes` marks each hit as new, moved or the same, and names those that are gone;
        `hits.recall` is the share of its hits that the approximate answer had. Where sketches do not answer (several
        columns, `by="transform"`, `by="semantic"`), there is only the exact answer. With `when_long`, the approximate
        answer comes only where so many columns hold the values that the exact one takes a while.
        """
        from dovetail.search.stages import search_stages

        request = _request(data, on, k, options)
        for hits in search_stages(self.segments, request, *self._search_context, when_long):
            yield hits.of(Source(self._join_hit, data))

    def search_many(
        self, queries: Any, on: str | Sequence[str] | None = None, k: int | None = None, **options: Any
    ) -> Answers | DataFrame:
        """The answers of `lake.search` to many tables, which share the work.

        `queries` is a folder, a list of what `lake.search` takes, or a dict of these by name. The options are those of
        `lake.search`. Returns an answer for each, in their order, with `query`, `hits` and `error`; `to_arrow()` and
        `to_pandas()` make one table of all, with a row for each hit.

        With a Spark DataFrame that names files or tables of the lake in a column `query`, the answer is a DataFrame of
        its session with a row for each hit, as `lake.to_spark(spark).search_many(queries)` gives.
        """
        if hasattr(queries, "mapInArrow"):
            from dovetail.search.on_spark import search_on_spark

            index, spark = self._snapshot.store.absolute, queries.sparkSession
            return search_on_spark(spark, index, queries, {"on": on, "k": k, **options})
        from dovetail.search.many import Answers

        return Answers(self.search_each(queries, on, k, **options))

    def search_each(
        self, queries: Any, on: str | Sequence[str] | None = None, k: int | None = None, **options: Any
    ) -> Iterator[Answer]:
        """The answers of `lake.search_many` one after another, as they come."""
        from dovetail.search.many import named_queries, search_many

        named = named_queries(queries)
        for answer in search_many(self.segments, named.items(), _request(None, on, k, options), *self._search_context):
            yield answer.of(Source(self._join_hit, named[answer.query]))

    @property
    def _search_context(self) -> tuple[Decisions, Callable[[], LakeColumns], JudgeUnions]:
        """What every search takes besides its request."""
        from dovetail.union.join_or_union import with_unions

        def columns() -> LakeColumns:  # only some searches need them
            return self._searched_columns

        return self._decided, columns, partial(with_unions, columns)

    def _ranked_for(self, target: str, request: SearchRequest) -> Hits:
        """Hits by what their columns add to predicting a column of mine."""
        from dovetail.augment.rank import CONSIDERED, ranked_for
        from dovetail.search.planner import search

        if request.by != EQUAL.name:
            raise InputError(f"`target` does not go with `by={request.by!r}`; drop one of them.")
        mine = open_table(request.data, segments=self.segments)
        mine.column(target)  # raises where there is none
        considered = None if request.most is None else max(CONSIDERED, request.most)
        some = replace(request, data=mine.without(target), k=considered)
        found = search(self.segments, some, *self._search_context)
        return ranked_for(self.segments, mine, target, found, request.most)

    @cached_property
    def _searched_columns(self) -> LakeColumns:
        """The columns of the lake as search sees them."""
        from dovetail.evidence.lake_columns import LakeColumns

        return LakeColumns(self.segments)

    def _join_hit(self, hit: Hit, data: Any, how: str, first: int | None = None) -> JoinResult:
        from dovetail.join.hits import join_hit

        return join_hit(self.segments, hit, data, JoinRequest(how=how), first, self._decided)


def _request(data: Any, on: str | Sequence[str] | None, k: int | None, options: dict[str, Any]) -> SearchRequest:
    return SearchRequest(data, on, k, **{**options, "tables": as_globs(options.get("tables", ()))})
