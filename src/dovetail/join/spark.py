"""The join of inputs that do not fit into memory, on Spark: every method, the same rows, the same order.

Part of the offline half: nothing else of `join` imports it before somebody names a master.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail._deadline import Deadline
from dovetail._spark.engine import SparkEngine
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError
from dovetail.indexes.open_segment import OpenSegment
from dovetail.join.choose import join_tables
from dovetail.join.execute import check_size, condition_of
from dovetail.join.keys import JoinKeys
from dovetail.join.request import JoinRequest
from dovetail.join.semantic import semantic_keys
from dovetail.join.similar import ColumnNames, equal_pair, similar_join
from dovetail.join.spark_inputs import Input, file_input, table_input
from dovetail.join.spark_keys import DistinctRows, Side, best_keys_on, equal_keys, no_keys, transformed_keys
from dovetail.join.sql import result_names
from dovetail.join.through import through_keys
from dovetail.pipeline.probe import check_workers
from dovetail.tables.column_names import column_pairs
from dovetail.tables.input_table import place_of
from dovetail.transform.transformation import Transformation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
"""Types of Spark, each of which holds those before it (a float no large whole numbers)."""
_KINDS = {
    "inner": "inner", "left": "left", "right": "right", "outer": "full", "semi": "left_semi", "anti": "left_anti",
}  # fmt: skip
WRITERS = (".parquet", ".csv")
HEAD_ROWS = 100_000
"""Of each input: they decide on columns and programs that are not named. Arbitrary: what a driver of 1 GB holds."""


@dataclass(frozen=True)
class SparkJoin:
    """The counts of a join on Spark. `output` is a folder of files, in order."""

    by: str
    columns: ColumnNames
    how: str
    why: str
    left_rows: int
    right_rows: int
    matched_left: int
    matched_right: int
    rows: int
    output: str
    transformation: Transformation | None = None

    @property
    def report(self) -> dict[str, Any]:
        """The keys of every join's report that a join on Spark knows."""
        left, right = self.columns
        pairs = zip(left, right, strict=True) if len(left) == len(right) else ()
        known = {name: value for name, value in vars(self).items() if name not in ("columns", "transformation")}
        return {
            **known,
            "on": [{"left": mine, "right": theirs} for mine, theirs in pairs],
            "left_columns": list(left),
            "right_columns": list(right),
            "transformation": None if self.transformation is None else str(self.transformation),
        }


@dataclass(frozen=True)
class _Method:
    """What a join is made by: named, or chosen by the first rows of both inputs."""

    by: str
    columns: ColumnNames
    why: str
    transformation: Transformation | None = None


def join_on_spark(
    left: Any,
    right: Any,
    request: JoinRequest,
    output: Path,
    spark: SparkRequest,
    segments: Sequence[OpenSegment] | None = None,
) -> SparkJoin:
    """Join two inputs into a folder of files. Each is read once: what was read waits on the workers' disks."""
    from pyspark import StorageLevel

    if output.suffix not in WRITERS:
        raise InputError(f"Spark writes {' and '.join(WRITERS)}, not {output.suffix or 'a file without suffix'}.")
    if output.exists():
        raise InputError(f"{output} already exists; Spark writes a new folder.")
    inputs = [file_input(data) for data in (left, right)]
    with spark_session(spark) as engine:
        join = _Join(engine, _all_inputs(engine, inputs, (left, right)), request, segments)
        kept = [side.rows.persist(StorageLevel.DISK_ONLY) for side in join.sides]
        try:
            with engine.job(f"join {left} with {right}"):
                method = join.method()
                frames = join.keyed(method)
                counts = _counts(frames)
                check_size(counts[4], counts[:2], counts[2:4], request, condition_of(method.columns))
                _write(join.joined(frames, method), output)
        finally:
            for frame in kept:
                frame.unpersist()
    rows = _rows(counts, request.how)
    return SparkJoin(
        method.by, method.columns, request.how, method.why, *counts[:4], rows, str(output), method.transformation
    )


def join_frames(
    spark: SparkRequest, left: Any, right: Any, request: JoinRequest, segments: Sequence[OpenSegment] | None = None
) -> DataFrame:
    """Join two inputs into a DataFrame of the session.

    The rows are those of the same join in one process, in the same order, as text. What decides on types and keys is
    read here; the join itself is lazy, as Spark's are.
    """
    inputs = [file_input(data) for data in (left, right)]
    with spark_session(spark) as engine:
        join = _Join(engine, _all_inputs(engine, inputs, (left, right)), request, segments)
        with engine.job("see the keys of a join"):
            method = join.method()
            return join.joined(join.keyed(method), method)


def _all_inputs(engine: SparkEngine, inputs: Sequence[Input | None], names: Sequence[Any]) -> list[Input]:
    return [
        table_input(engine.session, str(name)) if given is None else given
        for given, name in zip(inputs, names, strict=True)
    ]


class _Join:
    """A join of two inputs in a session."""

    def __init__(
        self, engine: SparkEngine, inputs: list[Input], request: JoinRequest, segments: Sequence[OpenSegment] | None
    ) -> None:
        for option in ("validate", "indicator"):
            if getattr(request, option):
                raise InputError(f"`{option}` is not available on Spark.")
        if request.by == "parts":
            raise InputError("`by='parts'` is not available on Spark.")
        if request.on is None and request.by is None:
            raise InputError("On Spark, a join needs the columns (`on`) or the method (`by`).")
        self._engine, self._request, self._segments = engine, request, segments
        self._slots = check_workers(engine, [each for given in inputs for each in given.witnesses])
        self.sides = [
            Side(given, prefix, given.rows(engine.session, prefix)) for given, prefix in zip(inputs, "lr", strict=True)
        ]
        self._tell_names_apart()

    def method(self) -> _Method:
        """What is asked for; what is not named is chosen by the first rows, as in one process."""
        request = self._request
        if isinstance(request.by, Transformation):
            return _by_program(request.by, "The transformation was given.")
        on = None if request.on is None else column_pairs(request.on, *(side.names for side in self.sides))
        for pair in on or ():
            for side, name in zip(self.sides, pair, strict=True):
                side.place(name)  # raises where there is none
        if on is not None and request.by != "transform":
            why = "The columns were given." if request.by in (None, "equal") else "The method was given."
            return _Method(request.by or "equal", (tuple(a for a, _ in on), tuple(b for _, b in on)), why)
        (left, all_left), (right, all_right) = (
            side.head(HEAD_ROWS, name) for side, name in zip(self.sides, ("left_table", "right_table"), strict=True)
        )
        inner = replace(request, how="inner", max_growth=float("inf"), max_rows=1 << 62)
        chosen = join_tables(left, right, inner, segments=self._segments)
        why = chosen.why if all_left and all_right else f"{chosen.why} Chosen by the first {HEAD_ROWS:,} rows of each."
        if chosen.transformation is not None:
            return _by_program(chosen.transformation, why)
        return _Method(chosen.by, chosen.columns, why)

    def keyed(self, method: _Method) -> list[DataFrame]:
        """The rows of both sides with their keys."""
        if not all(method.columns):
            return no_keys(self.sides)
        if method.transformation is not None:
            return transformed_keys(self.sides, method.transformation)
        if method.by == "equal":
            return equal_keys(self.sides, list(zip(*method.columns, strict=True)))
        also = equal_pair(self._request)
        distinct = [
            DistinctRows(side, [*names, *(also[number : number + 1] if also else ())], f"the {where} table")
            for number, (side, names, where) in enumerate(
                zip(self.sides, method.columns, ("left", "right"), strict=True)
            )
        ]
        keys = self._compared_keys(method, distinct)
        return [rows.numbered(codes) for rows, codes in zip(distinct, (keys.left, keys.right), strict=True)]

    def _compared_keys(self, method: _Method, distinct: Sequence[DistinctRows]) -> JoinKeys:
        """The keys of the distinct values of both sides, by the method of every join."""
        left, right = (rows.table for rows in distinct)
        if method.by == "similar":
            counts = distinct[0].counts, distinct[1].counts
            best = best_keys_on(self._engine, self._slots)
            compared = similar_join(left, right, method.columns, self._request, None, counts, best)
            assert compared is not None  # the columns are named
            return compared[1]
        if len(method.columns[0]) > 1:
            raise InputError(f"`by={method.by!r}` joins on one pair of columns; `on` names several.")
        pair = method.columns[0][0], method.columns[1][0]
        if method.by == "semantic":
            near = semantic_keys(left, right, pair, None, self._request.min_similarity)
            assert near is not None
            return near[1]
        if self._segments is None:
            raise InputError("`by='through'` needs an index: the tables of its lake carry the join.")
        for side, rows in zip(self.sides, distinct, strict=True):
            place = place_of(side.address, self._segments) if side.address else None
            rows.table.id = place and place[0].names[place[1]]
        carried = through_keys(self._segments, left, right, pair, Deadline(self._request.seconds))
        assert carried is not None
        return carried[1]

    def joined(self, frames: Sequence[DataFrame], method: _Method) -> DataFrame:
        """The rows that join, in order. Spark decides whether a side is broadcast or both are shuffled."""
        from pyspark.sql import functions as f

        how = self._request.how
        same = [f.col(f"l_k{n}") == f.col(f"r_k{n}") for n in range(_number_of_keys(frames[0]))]
        joined = frames[0].join(frames[1], same, _KINDS[how])
        sides = ("l",) if how in ("semi", "anti") else ("l", "r")
        order = [f.col(f"{side}_{name}").asc_nulls_last() for side in sides for name in ("part", "row")]
        kinds = {f"{side.prefix}_c{n}": kind for side in self.sides for n, kind in enumerate(side.stored_types)}
        once = self._common_keys(method)
        columns = {inside: f.col(inside).cast(kinds[inside]) for inside, _ in self._output_names(once)}
        if how in ("right", "outer"):
            for name in once:
                inside, theirs = (f"{side.prefix}_c{side.place(name)}" for side in self.sides)
                filled = f.when(f.col("l_row").isNull(), f.col(theirs)).otherwise(f.col(inside))
                columns[inside] = filled.cast(_wider(kinds[inside], kinds[theirs]))
        return joined.orderBy(*order).select(
            *(columns[inside].alias(name) for inside, name in self._output_names(once))
        )

    def _common_keys(self, method: _Method) -> list[str]:
        """The key columns that appear once, as in one process."""
        if method.by != "equal" or self._request.both_keys:
            return []
        return [mine for mine, theirs in zip(*method.columns, strict=True) if mine == theirs]

    def _output_names(self, once: Sequence[str] = ()) -> list[tuple[str, str]]:
        """The columns of the joined table: their names inside Spark, and outside."""
        mine, theirs = (side.names for side in self.sides)
        found = [(f"l_c{place}", name) for place, name in enumerate(mine)]
        if self._request.how in ("semi", "anti"):
            return found
        places = [place for place, name in enumerate(theirs) if name not in once]
        named = result_names(mine, [theirs[place] for place in places], self._request.suffix)
        return found + [(f"r_c{place}", name) for place, name in zip(places, named, strict=True)]

    def _tell_names_apart(self) -> None:
        """Have names that differ in case alone be different columns; a session of somebody else must have it so."""
        session = self._engine.session
        if self._engine.own:
            session.conf.set("spark.sql.caseSensitive", "true")
            session.conf.set("spark.sql.shuffle.partitions", str(2 * self._slots))
        elif session.conf.get("spark.sql.caseSensitive") != "true":
            names = [name for _, name in self._output_names()]
            twice = [name for place, name in enumerate(names) if name.lower() in map(str.lower, names[:place])]
            if twice:
                raise InputError(
                    f"The joined table has two columns {twice[0]!r} that differ in case alone; "
                    "set spark.sql.caseSensitive to true in this Spark session."
                )


def _wider(one: str, other: str) -> str:
    """The type of Spark that holds both: of two numbers the wider one, else text."""
    if one == other:
        return one
    if not {one, other} <= set(_NUMBERS):
        return "string"
    return "double" if "float" in (one, other) else max(one, other, key=_NUMBERS.index)


def _by_program(way: Transformation, why: str) -> _Method:
    columns = ((way.target,), way.columns) if way.reversed else (way.columns, (way.target,))
    return _Method("transform", columns, why, way)


def _number_of_keys(frame: DataFrame) -> int:
    return sum(name.startswith(("l_k", "r_k")) for name in frame.columns)


def _counts(frames: Sequence[DataFrame]) -> tuple[int, int, int, int, int]:
    """Rows of both sides, those with a match, and those of the inner join, by counting keys."""
    from pyspark.sql import functions as f

    keys = _number_of_keys(frames[0])
    left, right = (
        frame.groupBy(*(f.col(f"{prefix}_k{n}").alias(f"{prefix}{n}") for n in range(keys))).agg(
            f.count(f.lit(1)).alias(f"{prefix}_n")
        )
        for frame, prefix in zip(frames, "lr", strict=True)
    )
    both = left.join(right, [f.col(f"l{n}") == f.col(f"r{n}") for n in range(keys)], "full")
    matched = f.col("l_n").isNotNull() & f.col("r_n").isNotNull()
    wanted = [f.col("l_n"), f.col("r_n"), *(f.when(matched, f.col(name)) for name in ("l_n", "r_n"))]
    sums = both.agg(*map(f.sum, wanted), f.sum(f.col("l_n") * f.col("r_n"))).collect()[0]
    left_rows, right_rows, matched_left, matched_right, inner = (number or 0 for number in sums)
    return left_rows, right_rows, matched_left, matched_right, inner


def _rows(counts: tuple[int, int, int, int, int], how: str) -> int:
    left, right, matched_left, matched_right, inner = counts
    if how in ("semi", "anti"):
        return matched_left if how == "semi" else left - matched_left
    alone = (left - matched_left if how in ("left", "outer") else 0) + (
        right - matched_right if how in ("right", "outer") else 0
    )
    return inner + alone


def _write(frame: DataFrame, output: Path) -> None:
    if output.suffix == ".parquet":
        frame.write.parquet(str(output))
    else:
        frame.write.option("header", True).option("escape", '"').csv(str(output))
