"""The equi-join of inputs that do not fit into memory, on Spark: the same tokens, the same rows, the same order.

Part of the offline half: nothing else of `join` imports it before somebody names a master.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._spark.engine import SparkEngine
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.catalog.profile import count_values
from dovetail.errors import InputError, UnknownName, UnreadableTable, unknown
from dovetail.join.request import MAX_ROWS, SUFFIX, kind_of_join
from dovetail.join.sql import result_names
from dovetail.lake.layout import Layout, Part
from dovetail.lake.reader import detect_layout, read, split
from dovetail.normalise import ColumnType, TypeEvidence, decide, normalise
from dovetail.pipeline.probe import check_workers, witness
from dovetail.tables.column_names import Names, Pair, column_pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PART_BYTES = 64 << 20
_ROWS_AT_ONCE = 10_000  # in a batch for Spark, as its own are
_KINDS = {
    "inner": "inner", "left": "left", "right": "right", "outer": "full", "semi": "left_semi", "anti": "left_anti",
}  # fmt: skip
WRITERS = (".parquet", ".csv")


@dataclass(frozen=True)
class SparkJoin:
    """The counts of a join on Spark. `output` is a folder of files, in order."""

    on: tuple[tuple[str, str], ...]
    how: str
    left_rows: int
    right_rows: int
    matched_left: int
    matched_right: int
    rows: int
    output: str

    @property
    def report(self) -> dict[str, Any]:
        """The keys of every join's report that a join on Spark knows."""
        pairs = [{"left": left, "right": right} for left, right in self.on]
        columns = {"left_columns": [left for left, _ in self.on], "right_columns": [right for _, right in self.on]}
        return {"by": "equal", **vars(self), "on": pairs, **columns, "why": "The columns were given."}


def join_on_spark(
    left: str | Path,
    right: str | Path,
    on: Names,
    how: str,
    output: Path,
    spark: SparkRequest,
    max_rows: int = MAX_ROWS,
) -> SparkJoin:
    """Join two files into a folder of files. Each is parsed once: what was read waits on the workers' disks."""
    from pyspark import StorageLevel

    how = kind_of_join(how)
    if output.suffix not in WRITERS:
        raise InputError(f"Spark writes {' and '.join(WRITERS)}, not {output.suffix or 'a file without suffix'}.")
    if output.exists():
        raise InputError(f"{output} already exists; Spark writes a new folder.")
    inputs = [FileInput(Path(path)) for path in (left, right)]
    pairs = _pairs(on, inputs)
    with spark_session(spark) as engine:
        slots = check_workers(engine, [witness(file.path) for file in inputs])
        _tell_names_apart(engine, inputs, how, slots)
        with engine.job(f"join {left} with {right}"):
            kept = [each.rows(engine.session, side).persist(StorageLevel.DISK_ONLY) for each, side in _sides(inputs)]
            try:
                frames = _keyed(inputs, kept, pairs)
                counts = _counts(frames, len(pairs))
                rows = _rows(counts, how)
                if rows > max_rows:
                    raise InputError(
                        f"Stopped before joining: the join would give {rows:,} rows; `max_rows` is {max_rows:,}."
                    )
                _write(_joined(frames, inputs, len(pairs), how), output)
            finally:
                for frame in kept:
                    frame.unpersist()
    return SparkJoin(tuple(pairs), how, *counts[:4], rows, str(output))


def join_frames(session: SparkSession, left: Any, right: Any, on: Names, how: str) -> DataFrame:
    """Join two inputs, files or DataFrames of this session, on named columns with equal values.

    The rows are those of the same join in one process, in the same order, as text. Only the key columns are read here,
    to see their types; the join itself is lazy, as Spark's are.
    """
    how = kind_of_join(how)
    inputs = [FrameInput(data) if hasattr(data, "mapInArrow") else FileInput(Path(data)) for data in (left, right)]
    pairs = _pairs(on, inputs)
    engine = SparkEngine(session, own=False)
    slots = check_workers(engine, [witness(each.path) for each in inputs if isinstance(each, FileInput)])
    _tell_names_apart(engine, inputs, how, slots)
    with engine.job("see the types of the keys of a join"):
        frames = _keyed(inputs, [each.rows(session, side) for each, side in _sides(inputs)], pairs)
    return _joined(frames, inputs, len(pairs), how)


class FileInput:
    """A file, parsed by the workers in parts."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
        try:
            self._layout = detect_layout(path)
        except UnreadableTable as reason:
            raise InputError(f"{path} cannot be read: {reason}.") from reason
        self.path = path.resolve()
        self.columns = list(self._layout.columns)
        layout = self._layout.to_json()
        self._parts = [
            (number, json.dumps({"path": str(self.path), "layout": layout, "part": vars(part)}))
            for number, part in enumerate(split(path, self._layout, _PART_BYTES))
        ]

    def rows(self, session: SparkSession, side: str) -> DataFrame:
        """The position of each row, and all columns as text, named by position."""
        names = _heads(side, 0, len(self.columns))
        parts = session.createDataFrame(self._parts, "number int, part string").repartition(max(1, len(self._parts)))

        def parse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, table in _read_parts(batches):
                places = [pa.array([number] * table.num_rows, pa.int32()), pa.array(range(table.num_rows), pa.int64())]
                texts = [column.cast(pa.string()) for column in table.columns]
                yield from pa.table([*places, *texts], names=names).to_batches(max_chunksize=_ROWS_AT_ONCE)

        return parts.mapInArrow(parse, _schema(side, 0, len(self.columns)))


class FrameInput:
    """A DataFrame of the session, whatever it reads."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self.columns = list(frame.columns)

    def rows(self, session: SparkSession, side: str) -> DataFrame:
        from pyspark.sql import functions as f

        names = _heads(side, 0, len(self.columns))
        plain = self._frame.toDF(*names[2:])  # no function has to quote what users call their columns
        places = [f.lit(0).alias(names[0]), f.monotonically_increasing_id().alias(names[1])]
        return plain.select(*places, *(f.col(name).cast("string").alias(name) for name in names[2:]))


Input = FileInput | FrameInput


def _sides(inputs: Sequence[Input]) -> list[tuple[Input, str]]:
    return list(zip(inputs, "lr", strict=True))


def _pairs(on: Names, inputs: Sequence[Input]) -> list[Pair]:
    pairs = column_pairs(on, *(each.columns for each in inputs))
    for pair in pairs:
        for each, name in zip(inputs, pair, strict=True):
            if name not in each.columns:
                raise UnknownName(unknown("There is no column", name, each.columns))
    return pairs


def _tell_names_apart(engine: SparkEngine, inputs: Sequence[Input], how: str, slots: int) -> None:
    """Have names that differ in case alone be different columns; a session of somebody else must have it so."""
    session = engine.session
    if engine.own:
        session.conf.set("spark.sql.caseSensitive", "true")
        session.conf.set("spark.sql.shuffle.partitions", str(2 * slots))
    elif session.conf.get("spark.sql.caseSensitive") != "true":
        names = [name for _, name in _output_names(inputs, how)]
        twice = [name for place, name in enumerate(names) if name.lower() in map(str.lower, names[:place])]
        if twice:
            raise InputError(
                f"The joined table has two columns {twice[0]!r} that differ in case alone; "
                "set spark.sql.caseSensitive to true in this Spark session."
            )


def _output_names(inputs: Sequence[Input], how: str) -> list[tuple[str, str]]:
    """The columns of the joined table: their names inside Spark, and outside."""
    mine, theirs = (each.columns for each in inputs)
    sides = {"l": mine} if how in ("semi", "anti") else {"l": mine, "r": result_names(mine, theirs, SUFFIX)}
    return [(f"{side}_c{place}", name) for side, names in sides.items() for place, name in enumerate(names)]


def _keyed(inputs: Sequence[Input], frames: Sequence[DataFrame], pairs: Sequence[Pair]) -> list[DataFrame]:
    """The rows of both sides with the tokens of their keys."""
    return [
        _with_tokens(frame, side, [each.columns.index(pair[place]) for pair in pairs], len(each.columns))
        for place, (frame, (each, side)) in enumerate(zip(frames, _sides(inputs), strict=True))
    ]


def _with_tokens(rows: DataFrame, side: str, keys: Sequence[int], width: int) -> DataFrame:
    """Rows with the tokens of their keys; the types of the keys are decided by all of their values."""
    names = list(dict.fromkeys(f"{side}_c{key}" for key in keys))

    def see(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            evidence = [count_values(pa.chunked_array([column])).evidence for column in batch.columns]
            yield pa.RecordBatch.from_arrays([pa.array([json.dumps(each.to_json())]) for each in evidence], names)

    seen = rows.select(*names).mapInArrow(see, ", ".join(f"{name} string" for name in names)).collect()
    types = [_type_of(row[f"{side}_c{key}"] for row in seen) for key in keys]

    def normalised(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            tokens = [
                normalise(batch.column(2 + key), kind).cast(pa.string()) for key, kind in zip(keys, types, strict=True)
            ]
            arrays = [*batch.columns[:2], *tokens, *batch.columns[2:]]
            yield pa.RecordBatch.from_arrays(arrays, _heads(side, len(keys), width))

    return rows.mapInArrow(normalised, _schema(side, len(keys), width))


def _heads(side: str, keys: int, columns: int) -> list[str]:
    numbered = [*(f"k{number}" for number in range(keys)), *(f"c{number}" for number in range(columns))]
    return [f"{side}_{name}" for name in ("part", "row", *numbered)]


def _schema(side: str, keys: int, columns: int) -> str:
    kinds = ["int", "bigint", *["string"] * (keys + columns)]
    return ", ".join(f"{name} {kind}" for name, kind in zip(_heads(side, keys, columns), kinds, strict=True))


def _read_parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for row in batch.to_pylist():
            described = json.loads(row["part"])
            layout = Layout.from_json(described["layout"])
            found = list(read(Path(described["path"]), layout, Part(**described["part"])))
            if found:
                yield row["number"], pa.Table.from_batches(found)


def _type_of(evidence: Iterable[str]) -> ColumnType:
    parts = [TypeEvidence.from_json(json.loads(text)) for text in evidence]
    return decide(sum(parts[1:], start=parts[0])) if parts else ColumnType("empty")


def _counts(frames: list[DataFrame], keys: int) -> tuple[int, int, int, int, int]:
    """Rows of both sides, those with a match, and those of the inner join, by counting keys."""
    from pyspark.sql import functions as f

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


def _joined(frames: list[DataFrame], inputs: Sequence[Input], keys: int, how: str) -> DataFrame:
    from pyspark.sql import functions as f

    joined = frames[0].join(frames[1], [f.col(f"l_k{n}") == f.col(f"r_k{n}") for n in range(keys)], _KINDS[how])
    sides = ("l",) if how in ("semi", "anti") else ("l", "r")
    order = [f.col(f"{side}_{name}").asc_nulls_last() for side in sides for name in ("part", "row")]
    columns = [f.col(inside).alias(name) for inside, name in _output_names(inputs, how)]
    return joined.orderBy(*order).select(*columns)


def _write(frame: DataFrame, output: Path) -> None:
    if output.suffix == ".parquet":
        frame.write.parquet(str(output))
    else:
        frame.write.option("header", True).option("escape", '"').csv(str(output))
