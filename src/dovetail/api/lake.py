"""An open index. Nothing here needs Spark or Java.

Methods import what they need: no question needs the code of all answers.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail._progress import Progress, silent
from dovetail._storage.directory import Snapshot, newest_generation, open_snapshot
from dovetail.api.decisions import decide, forget, listed
from dovetail.api.tables import Column, ColumnLine, Occurrence, Table, TableLine
from dovetail.catalog.decisions import (
    Decision,
    Decisions,
    column_decisions,
    decisions_digest,
    read_decisions,
    with_declared,
)
from dovetail.errors import InputError
from dovetail.indexes.declared import declared_joins
from dovetail.indexes.frozen import refuse_other_key
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.indexes.statistics import Skipped, distinct_values, failed_tables, statistics_of, totals_of
from dovetail.join.request import MAX_GROWTH, MAX_ROWS, SECONDS, SUFFIX, JoinRequest
from dovetail.lake.listing import matches
from dovetail.normalise import ColumnType, normalise_value
from dovetail.normalise.keyed import HASHED, hash_key, hashed_values
from dovetail.results import Rows
from dovetail.search.hits import Hit, Hits, Source
from dovetail.search.request import METHODS, SearchRequest
from dovetail.tables.column_names import Names, Pair, paired
from dovetail.tables.exploded import list_separator
from dovetail.tables.input_table import lake_table, only_column, open_table
from dovetail.ways import AUTO, choose_way

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dovetail._spark.session import SparkRequest
    from dovetail.api.spark import SparkLake
    from dovetail.graph.candidate_keys import CandidateKeys
    from dovetail.graph.decided import DecidedColumns
    from dovetail.graph.find_keys import LakeKeys
    from dovetail.graph.foreign_keys import ForeignKeys
    from dovetail.graph.inclusion_dependencies import InclusionDependencies
    from dovetail.graph.join_graph import JoinGraph
    from dovetail.graph.join_paths import JoinPath
    from dovetail.graph.lake_columns import LakeColumns
    from dovetail.graph.nary_dependencies import NaryDependencies
    from dovetail.indexes.verify import Verification
    from dovetail.join.best_predicate.predicates import Predicates
    from dovetail.join.best_predicate.scores import Preferred
    from dovetail.join.result import JoinResult
    from dovetail.search.many import Answer, Answers
    from dovetail.search.planner import JudgeUnions
    from dovetail.search.ranking.lake import LakeColumns as SearchColumns
    from dovetail.through.mapping import ValueMapping
    from dovetail.transform.transformation import Transformation
    from dovetail.union.append import UnionResult
    from dovetail.union.hits import UnionHit, UnionHits


class Lake:
    """An open index: a snapshot of one generation, which later writes do not change."""

    def __init__(self, path: str | Path) -> None:
        self._snapshot: Snapshot = open_snapshot(path)
        refuse_other_key(self._snapshot.manifest.frozen, hash_key())
        self.segments = [OpenSegment(segment) for segment in self._snapshot.segments]
        self._lake_keys: LakeKeys | None = None
        self._searched: SearchColumns | None = None

    def __repr__(self) -> str:
        return f"<dovetail.Lake {self._snapshot.store.address} generation {self.generation}>"

    @property
    def generation(self) -> int:
        return self._snapshot.manifest.generation

    @property
    def state(self) -> str:
        """What answers depend on besides the question: the generation, and what people have decided so far."""
        return f"{self.generation}:{decisions_digest(self._snapshot.store)}"

    def newest(self) -> Lake:
        """This lake, or the newest generation of its index if there has been another one since."""
        if newest_generation(self._snapshot.store) == self.generation:
            return self
        return Lake(self._snapshot.store.absolute)

    def tables(self, pattern: str = "*") -> Rows[TableLine]:
        """One line for each table whose id matches the glob, sorted by id."""
        lines = []
        for segment in self.segments:
            rows = segment.catalog.tables.select(["table", "rows", "columns", "bytes", "error"]).to_pylist()
            lines += [TableLine(**row) for row, alive in zip(rows, segment.alive, strict=True) if alive]
        return Rows(sorted((line for line in lines if matches(line.table, pattern)), key=lambda line: line.table))

    def table(self, name: str) -> Table:
        """A table of the lake by its id, with its columns and their profiles."""
        segment, number = find_table(self.segments, name, "The index has no table")
        columns = segment.catalog.columns_of(number)
        record = segment.catalog.table(number)
        places = segment.catalog.column_range(number)
        rows = Rows(
            Column(name, column, record.declared.of_column(column.column), list_separator(segment, place))
            for column, place in zip(columns, places, strict=True)
        )
        return Table(record, rows, partial(lake_table, segment, number))

    def search(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        k: int | None = None,
        *,
        by: str = METHODS[0],
        min_similarity: float | str | None = None,
        threshold: float | str | None = None,
        tables: str | Iterable[str] = (),
        min_overlap: int = 1,
        include_self: bool = False,
        fast: bool = False,
        copies: bool = False,
        target: str | None = None,
        way: str = AUTO,
        settings: Mapping[str, Any] | None = None,
    ) -> Hits:
        """The tables that join with `data`: a path, a table of the lake by name, a frame or a list of values.

        Returns hits, best first, each with its evidence; `hit.explain()`, `hit.preview()` and `hit.join()` go on from
        there. `on` names the column of `data` to join on, or several that must match together, row by row; without it,
        every suitable column is tried. With `threshold`, all columns that contain at least this share of the values are
        found; otherwise the `k` (10) that contain most. Both are exact. With `fast` (one column), they come from
        sketches (LSH Ensemble), which may miss a hit; the numbers of each hit are exact all the same.

        Near-copies of a hit, such as other editions of a yearly report, are no hits but named in `hit.copies`; with
        `copies`, they are hits of their own.

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

        `way` is the algorithm for equal values, of one column or several, or for similar values of one, with its
        `settings` (docs/reference/settings.md); the answer is the same.
        """
        from dovetail.search.planner import search

        request = SearchRequest(
            data, on, k, threshold, _globs(tables), min_overlap, include_self, fast, by, min_similarity, copies, way,
            settings or {},
        )  # fmt: skip
        if target is None:
            hits = search(self.segments, request, *self._search_context)
        else:
            hits = self._ranked_for(target, request)
        return hits.of(Source(self._join_hit, data))

    @property
    def _search_context(self) -> tuple[Decisions, Callable[[], SearchColumns], JudgeUnions]:
        """What every search takes besides its request."""
        from dovetail.union.join_or_union import with_unions

        return self._decided, self._search_columns, partial(with_unions, self._search_columns)

    def _ranked_for(self, target: str, request: SearchRequest) -> Hits:
        """Hits by what their columns add to predicting a column of mine."""
        from dovetail.augment.rank import CONSIDERED, ranked_for
        from dovetail.search.planner import search

        if request.by != METHODS[0]:
            raise InputError(f"`target` does not go with `by={request.by!r}`; drop one of them.")
        mine = open_table(request.data, segments=self.segments)
        mine.column(target)  # raises where there is none
        some = replace(request, data=mine.without(target), k=max(CONSIDERED, request.most))
        found = search(self.segments, some, *self._search_context)
        return ranked_for(self.segments, mine, target, found, request.most)

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
        from dovetail.search.many import Answers

        if hasattr(queries, "mapInArrow"):
            return self.to_spark(queries.sparkSession).search_many(queries, on=on, k=k, **options)

        return Answers(self.search_each(queries, on, k, **options))

    def search_each(
        self, queries: Any, on: str | Sequence[str] | None = None, k: int | None = None, **options: Any
    ) -> Iterator[Answer]:
        """The answers of `lake.search_many` one after another, as they come."""
        from dovetail.search.many import named_queries, search_many

        named = named_queries(queries)
        for answer in search_many(self.segments, named.items(), _request(None, on, k, options), *self._search_context):
            yield answer.of(Source(self._join_hit, named[answer.query]))

    def to_spark(self, spark: SparkSession) -> SparkLake:
        """The lake in a Spark session: `tables`, `columns`, `dependencies`, `foreign_keys`, `candidate_keys` and `hits`
        are DataFrames, `create_views()` makes temporary views of them, and `search_many()` searches with many tables.
        """
        from dovetail.api.spark import SparkLake

        return SparkLake(self, self._snapshot.store.absolute, spark)

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
        seconds: float = SECONDS,
        max_rows: int = MAX_ROWS,
        max_growth: float = MAX_GROWTH,
        way: str = AUTO,
        settings: Mapping[str, Any] | None = None,
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
        request = JoinRequest(
            paired(on, left_on, right_on), how, by, prefer, equal, min_similarity, one_to_one, suffix, validate,
            indicator, seconds, max_rows, max_growth, way, settings or {},
        )  # fmt: skip
        if isinstance(table, Hit):
            if request.on is None and by is None and prefer is None:
                return join_hit(self.segments, table, data, request, decisions=self._decided)
            table = table.table
        return join_with_lake(self.segments, data, table, request, self._decided)

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

        globs = (tables,) if isinstance(tables, str) else tuple(tables)
        mine = open_table(data, "query", self.segments)

        def append(hit: UnionHit) -> UnionResult:
            return append_tables(mine, [lake_table(*find_table(self.segments, hit.table, "The index has no table"))])

        return search_unions(self.segments, UnionRequest(mine, k, globs, include_self)).of(append)

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

    def _search_columns(self) -> SearchColumns:
        """The columns of the lake as search sees them, made once."""
        if self._searched is None:
            from dovetail.search.ranking.lake import LakeColumns

            self._searched = LakeColumns(self.segments)
        return self._searched

    @property
    def _decided(self) -> Decisions:
        """What databases declare, and what was decided so far: read for each question, so that it counts at once."""
        people = read_decisions(self._snapshot.store)
        return Decisions(with_declared(self._declared_joins, people)) if people else self._declared

    @cached_property
    def _declared_joins(self) -> tuple[Decision, ...]:
        """The foreign keys that databases declare."""
        return declared_joins(self.segments)

    @cached_property
    def _declared(self) -> Decisions:
        return Decisions(self._declared_joins)

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

    def _join_hit(self, hit: Hit, data: Any, how: str, first: int | None = None) -> JoinResult:
        from dovetail.join.hits import join_hit

        return join_hit(self.segments, hit, data, JoinRequest(how=how), first, self._decided)

    def inds(
        self,
        *,
        partial: float | str = 1,
        coverage: float | str = 0.2,
        null_columns: bool = False,
        integers: bool = False,
        non_unique: bool = False,
        null_equal: bool = False,
        nary: int = 1,
        way: str = AUTO,
        settings: Mapping[str, Any] | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> InclusionDependencies | NaryDependencies:
        """The inclusion dependencies of the whole lake, best first: columns whose values all occur in another. Exact.

        `partial` also finds those of whose values at least this share occurs there. Columns without values or of whole
        numbers are left out, and so are referenced columns that repeat values or of whose values less than `coverage`
        is in use, unless asked for. `null_equal` treats null as a value. `nary` finds dependencies of two to so many
        columns together. `way` is the algorithm, with its `settings` (docs/reference/settings.md); the answer is the
        same. With `spark`, a session, or `master`, a Spark master (with settings `conf`), Spark does the
        work; otherwise threads of this process do. `progress` is called with the stage, how much of it is done and how
        much there is.
        """
        from dovetail.graph.inclusion import InclusionFilters, InclusionQuery, as_share, find_inclusions
        from dovetail.graph.inclusion_dependencies import InclusionDependencies
        from dovetail.graph.nary_dependencies import NaryDependencies, NaryQuery, find_nary

        filters = InclusionFilters(not null_columns, not integers, not non_unique, as_share("coverage", coverage))
        query = InclusionQuery(filters, as_share("partial", partial), null_equal)
        chosen = choose_way("inds", way, settings)
        decisions = column_decisions(self._snapshot.store)
        request = spark_request(spark, master, conf)
        if chosen.name == "signatures" and (nary > 1 or request is not None):
            raise InputError("The way 'signatures' is for one column, in this process; drop `nary`, `spark`, `master`.")
        if nary > 1:
            together = NaryQuery(query, nary)
            if request is None:
                overlaps = find_nary(self._columns, together, progress or silent)
            else:
                from dovetail.graph.nary_on_spark import nary_on_spark

                overlaps = nary_on_spark(self._snapshot, self._columns, together, request, progress or silent)
            return NaryDependencies(self._columns, overlaps, decisions)
        finder = find_inclusions(self._columns, query, progress or silent, chosen)
        if request is None:
            return InclusionDependencies(finder, None, decisions)
        from dovetail.graph.inclusion_on_spark import inclusions_on_spark

        runs = inclusions_on_spark(self._snapshot, self._columns, query, request, decisions, progress or silent)
        return InclusionDependencies(finder, runs, decisions)

    def foreign_keys(
        self,
        min_score: float | None = None,
        *,
        tables: str | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> ForeignKeys:
        """Columns that likely refer to a key of another table (or of their own), best first, with the reasons.

        `tables` is a glob: only foreign keys from or to these tables. The score is between 0 and 1;
        docs/guides/whole-lake.md lists its parts. The first question to a generation finds the keys of the whole lake,
        which takes time, and keeps them beside the index; `spark`, `master`, `conf` and `progress` are as in `inds`.
        """
        from dovetail.graph.foreign_keys import LIKELY, ForeignKeys

        least = LIKELY if min_score is None else min_score
        decided = self._decided_columns
        found = decided.judge_keys(self._keys(progress, spark_request(spark, master, conf)).foreign_keys)
        return ForeignKeys(self._columns, found, least, tables, decided.accepts)

    def keys(
        self,
        *,
        tables: str | None = None,
        spark: SparkSession | None = None,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> CandidateKeys:
        """Columns, alone or a few together, that identify the rows of their table, the likeliest keys first.

        The options are those of `foreign_keys`.
        """
        from dovetail.graph.candidate_keys import CandidateKeys, with_foreign_keys
        from dovetail.graph.candidate_keys import with_declared as with_declared_keys

        kept = self._keys(progress, spark_request(spark, master, conf))
        found, decided = kept.candidates, self._decided_columns
        found = with_declared_keys(self._columns, found)
        if decided:
            found = with_foreign_keys(self._columns, found, decided.judge_keys(kept.foreign_keys))
        return CandidateKeys(self._columns, found, tables)

    def graph(
        self, min_score: float | None = None, *, edges: str = "keys", progress: Progress | None = None
    ) -> JoinGraph:
        """The join graph: tables, and the likely foreign keys between them; with components, hubs and paths.

        With `edges="inds"`, the edges are the best 20,000 inclusion dependencies that `lake.inds()` finds.
        """
        from dovetail.graph.dependency_graph import dependency_graph
        from dovetail.graph.inclusion_dependencies import InclusionDependencies
        from dovetail.graph.join_graph import EDGES, join_graph

        if edges not in EDGES:
            raise InputError(f"`edges` is {edges!r}; it must be one of {', '.join(EDGES)}.")
        if edges == "keys":
            return join_graph(self.foreign_keys(min_score, progress=progress))
        if min_score is not None:
            raise InputError("`min_score` is the score of a foreign key; drop it or `edges`.")
        found = self.inds(progress=progress)
        assert isinstance(found, InclusionDependencies)
        return dependency_graph(found, [line.table for line in self.tables() if not line.error])

    def paths(
        self,
        start: str,
        end: str,
        hops: int = 3,
        k: int = 5,
        *,
        min_score: float | None = None,
        progress: Progress | None = None,
    ) -> Rows[JoinPath]:
        """The `k` best ways to join one table of the lake with another, over at most `hops` joins, best first.

        The joins are likely foreign keys. If none leads from one table to the other directly, columns of texts of both
        may also be joined through other tables, as with `lake.join(start, end, by="through")`.
        """
        from dovetail.graph.paths_through import path_through

        tables = [lake_table(*find_table(self.segments, name, "The index has no table")) for name in (start, end)]
        found = self.graph(min_score, progress=progress).paths(start, end, hops, k)
        if any(len(path.steps) == 1 for path in found):
            return found
        through = path_through(self.segments, tables[0], tables[1], self._decided.between(start, end))
        if through is None or through.score < (0.0 if min_score is None else min_score):
            return found
        return Rows(sorted([*found, through], key=lambda path: -path.score)[:k])

    @cached_property
    def _columns(self) -> LakeColumns:
        from dovetail.graph.lake_columns import LakeColumns

        return LakeColumns(self.segments)

    @property
    def _decided_columns(self) -> DecidedColumns:
        from dovetail.graph.decided import DecidedColumns

        people = column_decisions(self._snapshot.store)
        return DecidedColumns(self._columns, with_declared(self._declared_joins, people))

    def _keys(self, progress: Progress | None, spark: SparkRequest | None) -> LakeKeys:
        from dovetail.graph.lake_keys import lake_keys

        if self._lake_keys is None:
            self._lake_keys = lake_keys(self._snapshot, self._columns, progress or silent, spark)
        return self._lake_keys

    def find(self, value: str) -> Rows[Occurrence]:
        """Every column that contains the value, which is normalised by each column's own type; most rows first."""
        return Rows(
            sorted(
                (hit for segment in self.segments for hit in _find_in(segment, value)),
                key=lambda hit: (-hit.rows, hit.table, hit.column),
            )
        )

    def find_columns(self, pattern: str) -> Rows[ColumnLine]:
        """Every column whose name matches the glob, whatever the case."""
        found = []
        for segment in self.segments:
            columns = segment.catalog.columns
            for number, name in enumerate(columns["column"].to_pylist()):
                if matches(name.casefold(), pattern.casefold()) and segment.alive[columns["table"][number].as_py()]:
                    row = columns.slice(number, 1).select(["kind", "rows", "nulls", "distinct"]).to_pylist()[0]
                    table = segment.names[columns["table"][number].as_py()]
                    found.append(ColumnLine(table, name, row["kind"], row["rows"], row["nulls"], row["distinct"]))
        return Rows(sorted(found, key=lambda line: (line.table, line.column)))

    def skipped(self) -> list[Skipped]:
        """The files that could not be read as tables, each with the reason."""
        return failed_tables(self._snapshot)

    def info(self) -> dict[str, Any]:
        """What `dovetail info --json` prints: generation, segments, sizes, settings, and totals of the lake."""
        from dovetail.indexes.frozen import frozen_settings

        manifest = self._snapshot.manifest
        values = distinct_values(self._snapshot.segments)
        sizes: dict[str, int] = {}
        for segment in self._snapshot.segments:
            for name, part in segment.parts.items():
                sizes[name] = sizes.get(name, 0) + part["bytes"]
        return {
            "path": self._snapshot.store.address,
            "generation": manifest.generation,
            "segments": len(manifest.segments),
            "dead_tables": sum(len(ref.dead) for ref in manifest.segments),
            **statistics_of(segment.ref.totals or totals_of(segment) for segment in self._snapshot.segments),
            "values": values.number,
            "values_are_exact": values.is_exact,
            "index_bytes": sum(sizes.values()),
            "index_bytes_by_part": sizes,
            "roots": list(manifest.roots),
            "settings": frozen_settings(manifest.frozen),
        }


def spark_request(
    spark: SparkSession | None, master: str | None, conf: Mapping[str, str] | None
) -> SparkRequest | None:
    """The Spark that is asked for; None where it is this process that works."""
    if spark is None and not master:
        return None
    from dovetail._spark.session import SparkRequest

    return SparkRequest(spark, master, conf or {})


def _request(data: Any, on: str | Sequence[str] | None, k: int | None, options: dict[str, Any]) -> SearchRequest:
    return SearchRequest(data, on, k, **{**options, "tables": _globs(options.get("tables", ()))})


def _globs(tables: str | Iterable[str]) -> tuple[str, ...]:
    return (tables,) if isinstance(tables, str) else tuple(tables)


def open(path: str | Path) -> Lake:
    """Open the index at `path`. Returns a `Lake`."""
    return Lake(path)


def verify(path: str | Path) -> Verification:
    """Read every byte of the index at `path` and check all references. Returns the problems that were found, if any."""
    from dovetail.indexes.verify import verify_index

    return verify_index(path)


def _token(value: str, column_type: ColumnType) -> str | None:
    """The token of a value in a column of this type; of a hashed one, if the key is known."""
    if column_type != HASHED:
        return normalise_value(value, column_type)
    key = hash_key()
    token: str | None = hashed_values(pa.array([value]), key)[0].as_py() if key else None
    return token


def _find_in(segment: OpenSegment, value: str) -> Iterator[Occurrence]:
    types = segment.catalog.columns["type"]
    for written in pc.unique(types).to_pylist():
        token = _token(value, ColumnType.from_json(json.loads(written)))
        if token is None:
            continue
        number = int(segment.tokens.find(pa.array([token], pa.large_string()))[0])
        if number < 0:
            continue
        for column in segment.tokens.columns_with(number).tolist():
            row = segment.catalog.columns.slice(column, 1).select(["table", "column", "kind", "type"]).to_pylist()[0]
            if row["type"] == written and segment.alive[row["table"]]:
                rows = segment.tokens.rows_with(number, column)
                yield Occurrence(segment.names[row["table"]], row["column"], row["kind"], rows)
