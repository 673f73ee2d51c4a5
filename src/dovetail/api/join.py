"""`dovetail.join` and `dovetail.predicates`: join files and frames without an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.errors import InputError
from dovetail.join.best_predicate.predicates import Predicates, named_predicates
from dovetail.join.best_predicate.scores import Preferred
from dovetail.join.choose import join_tables
from dovetail.join.many import join_many
from dovetail.join.request import MAX_GROWTH, MAX_ROWS, SECONDS, SUFFIX, JoinRequest, columns_and_method
from dovetail.join.result import JoinResult
from dovetail.tables.column_names import Names
from dovetail.tables.input_table import InputTable, open_table
from dovetail.transform.transformation import Transformation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dovetail.indexes.open_segment import OpenSegment


def join(
    left: Any,
    right: Any,
    *more: Any,
    on: Names | None = None,
    left_on: str | Sequence[str] | None = None,
    right_on: str | Sequence[str] | None = None,
    how: str = "inner",
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
    index: str | Path | None = None,
) -> JoinResult:
    """Join two tables or more (paths, frames or dicts of columns), on columns that are named or found.

    Returns a `JoinResult`: `.frame` has the joined rows as the kind of frame that went in, `.report` how they joined.

    `on` names the columns: one name, a pair (left, right), `"left=right"`, or a list of these; `left_on` and `right_on`
    do the same, and one column against several is a transformation to learn. Without them, all methods compete: equal
    columns, transformations, similar values and, if these have nothing likely, values that tables of the lake of
    `index` relate. The join that a person would most likely accept is made, or none if none is likely enough;
    `probability` says how likely it is, `runners_up` what else was considered. `prefer`
    chooses the equal columns by a property of the joined rows. `by` restricts it to one method: `"equal"`, `"parts"`
    (of cells of several values), `"transform"`, `"similar"`, `"semantic"`, `"through"`, or a `Transformation`. With
    `by="through"`, values join that occur together in rows of other tables, those of the lake of `index`; the result's
    `mapping` says which, how likely, and by which tables.

    With `by="similar"`, `equal` names columns that must be equal as well, and `one_to_one` joins each key only once.
    `min_similarity` (0 to 1, also with `"semantic"`) joins each value with its most similar one, if it is at least that
    similar; with `"semantic"`, that is a probability. More than two tables are joined on equal values.

    `validate` refuses a join of another cardinality (`"1:1"`, `"1:m"`, `"m:1"`). Equal key columns of the same name
    appear once, unless `both_keys` asks for both; `suffix` is added to other column names that clash; `indicator` adds
    columns with the similarity and the origin (equal, transformed or similar) of each row. `seconds` limits the search
    for columns. A join of more than `max_rows` rows is refused before it is made; so is one without `on` that gives
    more than `max_growth` rows for each row of the larger table.
    """
    named, method = columns_and_method(on, left_on, right_on, by)
    request = JoinRequest(
        named, how, method, prefer, equal, min_similarity, one_to_one, suffix, validate, indicator,
        both_keys, seconds, max_rows, max_growth,
    )  # fmt: skip
    tables = _tables(left, right, *more)
    if more:
        return join_many(tables, request)
    return join_tables(tables[0], tables[1], request, segments=_segments_of(index))


def join_on_spark(
    left: Any,
    right: Any,
    on: Names | None = None,
    how: str = "inner",
    *,
    spark: SparkSession,
    by: str | Transformation | None = None,
    equal: str | tuple[str, str] | None = None,
    min_similarity: float | None = None,
    one_to_one: bool = False,
    suffix: str = SUFFIX,
    seconds: float = SECONDS,
    index: str | Path | None = None,
) -> DataFrame:
    """Join two inputs that do not fit in memory. Returns a DataFrame of the session `spark`.

    Each is a file, an address in an object store, a DataFrame, or the name of a table of Spark's catalog. The options
    are those of `dovetail.join`, and so are the rows and their order: `by` is any method, or a `Transformation`;
    without it, rows with equal values in the columns `on` join. Columns and programs that are not named are chosen by
    the first 100,000 rows of each input. Columns keep the types of Parquet files, tables and DataFrames; those of text
    files are text. A DataFrame has no order of its own; its rows are taken
    as it gives them. The distinct values of the columns that are compared must fit in the driver's memory, except for
    equal values and transformations.
    """
    from dovetail._spark.session import SparkRequest
    from dovetail.join.spark import join_frames

    request = JoinRequest(
        on, how, by, equal=equal, min_similarity=min_similarity, one_to_one=one_to_one, suffix=suffix, seconds=seconds,
    )  # fmt: skip
    return join_frames(SparkRequest(spark), left, right, request, _segments_of(index))


def _segments_of(index: str | Path | None) -> list[OpenSegment] | None:
    if index is None:
        return None
    from dovetail.api.lake import Lake

    return Lake(index).segments


def predicates(*tables: Any, prefer: Preferred | None = None, k: int = 5, seconds: float = SECONDS) -> Predicates:
    """The `k` best sets of columns to join the tables on, best first, with their scores.

    Without `prefer`, of two tables, the score is the probability that a person would accept the join. `prefer` names a
    preference, or is a function of the counts of a join (`Joined`), as `lambda joined: joined.groups`; the greatest
    score wins. A `Preference` with a bound lets much be ruled out without being counted.
    """
    return named_predicates(_tables(*tables), prefer, k, seconds)


def _tables(*tables: Any) -> list[InputTable]:
    if len(tables) < 2:
        raise InputError("A join needs at least two tables.")
    names = ["left_table", "right_table"] if len(tables) == 2 else [f"table_{n + 1}" for n in range(len(tables))]
    return [
        open_table(data, Path(data).name if isinstance(data, str | Path) else name)
        for data, name in zip(tables, names, strict=True)
    ]
