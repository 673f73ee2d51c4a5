"""Questions to an open index about all tables at once: dependencies, keys, join graph, paths."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from dovetail._progress import Progress, silent
from dovetail.api.lake_catalog import LakeCatalog
from dovetail.catalog.decisions import column_decisions, with_declared
from dovetail.errors import InputError
from dovetail.indexes.open_segment import find_table
from dovetail.results import Rows
from dovetail.tables.input_table import lake_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dovetail._spark.session import SparkRequest
    from dovetail.api.spark import SparkLake
    from dovetail.evidence.lake_columns import LakeColumns
    from dovetail.graph.candidate_keys import CandidateKeys
    from dovetail.graph.decided import DecidedColumns
    from dovetail.graph.find_keys import LakeKeys
    from dovetail.graph.foreign_keys import ForeignKeys
    from dovetail.graph.inclusion import InclusionQuery
    from dovetail.graph.inclusion_dependencies import InclusionDependencies
    from dovetail.graph.join_graph import JoinGraph
    from dovetail.graph.join_paths import JoinPath
    from dovetail.graph.nary_dependencies import NaryDependencies


class WholeLake(LakeCatalog):
    """How all tables of the lake relate."""

    _lake_keys: LakeKeys | None = None  # found by the first question that needs them

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
        spark: SparkSession | None = None,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> InclusionDependencies | NaryDependencies:
        """The inclusion dependencies of the whole lake, best first: columns whose values all occur in another. Exact.

        `partial` also finds those of whose values at least this share occurs there. Columns without values or of whole
        numbers are left out, and so are referenced columns that repeat values or of whose values less than `coverage`
        is in use, unless asked for. `null_equal` treats null as a value. `nary` finds dependencies of two to so many
        columns together. With `spark`, a session, or `master`, a Spark master (with settings `conf`), Spark does the
        work; otherwise threads of this process do. `progress` is called with the stage, how much of it is done and how
        much there is.
        """
        from dovetail.graph.inclusion import InclusionFilters, InclusionQuery, as_share

        filters = InclusionFilters(not null_columns, not integers, not non_unique, as_share("coverage", coverage))
        query = InclusionQuery(filters, as_share("partial", partial), null_equal)
        request = _spark_request(spark, master, conf)
        if nary > 1:
            return self._nary_dependencies(query, nary, request, progress or silent)
        return self._dependencies(query, request, progress or silent)

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
        from dovetail.evidence.thresholds import LIKELY_REFERENCE
        from dovetail.graph.foreign_keys import ForeignKeys

        least = LIKELY_REFERENCE if min_score is None else min_score
        decided = self._decided_columns
        found = decided.judge_keys(self._keys(progress, _spark_request(spark, master, conf)).foreign_keys)
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

        kept = self._keys(progress, _spark_request(spark, master, conf))
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
        from dovetail.graph.inclusion_dependencies import InclusionDependencies
        from dovetail.graph.join_graph import EDGES, dependency_graph, join_graph

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

    def to_spark(self, spark: SparkSession) -> SparkLake:
        """The lake in a Spark session: `tables`, `columns`, `dependencies`, `foreign_keys`, `candidate_keys` and `hits`
        are DataFrames, `create_views()` makes temporary views of them, and `search_many()` searches with many tables.
        """
        from dovetail.api.spark import SparkLake

        return SparkLake(self, self._snapshot.store.absolute, spark)

    def _dependencies(
        self, query: InclusionQuery, spark: SparkRequest | None, progress: Progress
    ) -> InclusionDependencies:
        """Those of one column."""
        from dovetail.graph.inclusion import InclusionFinder
        from dovetail.graph.inclusion_dependencies import InclusionDependencies

        decisions = column_decisions(self._snapshot.store)
        finder = InclusionFinder(self._columns, query, os.cpu_count() or 1, progress=progress)
        if spark is None:
            return InclusionDependencies(finder, None, decisions)
        from dovetail.graph.inclusion_on_spark import inclusions_on_spark

        runs = inclusions_on_spark(self._snapshot, self._columns, query, spark, decisions, progress)
        return InclusionDependencies(finder, runs, decisions)

    def _nary_dependencies(
        self, query: InclusionQuery, most_columns: int, spark: SparkRequest | None, progress: Progress
    ) -> NaryDependencies:
        """Those of several columns together."""
        from dovetail.graph.nary_dependencies import NaryDependencies, NaryQuery, find_nary

        decisions, together = column_decisions(self._snapshot.store), NaryQuery(query, most_columns)
        if spark is None:
            return NaryDependencies(self._columns, find_nary(self._columns, together, progress), decisions)
        from dovetail.graph.inclusion_on_spark import nary_on_spark

        overlaps = nary_on_spark(self._snapshot, self._columns, together, spark, progress)
        return NaryDependencies(self._columns, overlaps, decisions)

    @cached_property
    def _columns(self) -> LakeColumns:
        from dovetail.evidence.lake_columns import LakeColumns

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


def _spark_request(
    spark: SparkSession | None, master: str | None, conf: Mapping[str, str] | None
) -> SparkRequest | None:
    """The Spark that is asked for; None where it is this process that works."""
    if spark is None and not master:
        return None
    from dovetail._spark.session import SparkRequest

    return SparkRequest(spark, master, conf or {})
