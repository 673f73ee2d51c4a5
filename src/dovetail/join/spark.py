"""The equi-join of two files that do not fit into memory, on Spark: the same tokens, the same rows, the same order.

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
from dovetail.tables.column_names import Names, column_pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PART_BYTES = 64 << 20
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
    how = kind_of_join(how)
    if output.suffix not in WRITERS:
        raise InputError(f"Spark writes {' and '.join(WRITERS)}, not {output.suffix or 'a file without suffix'}.")
    if output.exists():
        raise InputError(f"{output} already exists; Spark writes a new folder.")
    files = [_File(Path(path)) for path in (left, right)]
    pairs = column_pairs(on, *(list(file.layout.columns) for file in files))
    for pair in pairs:
        for file, name in zip(files, pair, strict=True):
            if name not in file.layout.columns:
                raise UnknownName(unknown("There is no column", name, list(file.layout.columns)))
    with spark_session(spark) as engine:
        slots = check_workers(engine, [witness(file.path) for file in files])
        _tell_names_apart(engine, files, how, slots)
        with engine.job(f"join {left} with {right}"):
            frames = [
                _frame(engine.session, file, [pair[place] for pair in pairs], prefix)
                for place, (file, prefix) in enumerate(zip(files, "lr", strict=True))
            ]
            counts = _counts(frames, len(pairs))
            rows = _rows(counts, how)
            if rows > max_rows:
                raise InputError(
                    f"Stopped before joining: the join would give {rows:,} rows; `max_rows` is {max_rows:,}."
                )
            _write(_joined(frames, files, len(pairs), how), output)
    return SparkJoin(tuple(pairs), how, *counts[:4], rows, str(output))


class _File:
    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
        try:
            self.layout = detect_layout(path)
        except UnreadableTable as reason:
            raise InputError(f"{path} cannot be read: {reason}.") from reason
        self.path = path.resolve()
        layout = self.layout.to_json()
        self.parts = [
            (number, json.dumps({"path": str(self.path), "layout": layout, "part": vars(part)}))
            for number, part in enumerate(split(path, self.layout, _PART_BYTES))
        ]


def _tell_names_apart(engine: SparkEngine, files: list[_File], how: str, slots: int) -> None:
    """Have names that differ in case alone be different columns; a session of somebody else must have it so."""
    session = engine.session
    if engine.own:
        session.conf.set("spark.sql.caseSensitive", "true")
        session.conf.set("spark.sql.shuffle.partitions", str(2 * slots))
    elif session.conf.get("spark.sql.caseSensitive") != "true":
        names = [name for _, name in _output_names(files, how)]
        twice = [name for place, name in enumerate(names) if name.lower() in map(str.lower, names[:place])]
        if twice:
            raise InputError(
                f"The joined table has two columns {twice[0]!r} that differ in case alone; "
                "set spark.sql.caseSensitive to true in this Spark session."
            )


def _output_names(files: list[_File], how: str) -> list[tuple[str, str]]:
    """The columns of the joined table: their names inside Spark, and outside."""
    mine, theirs = (list(file.layout.columns) for file in files)
    sides = {"l": mine} if how in ("semi", "anti") else {"l": mine, "r": result_names(mine, theirs, SUFFIX)}
    return [(f"{side}_c{place}", name) for side, names in sides.items() for place, name in enumerate(names)]


def _frame(session: SparkSession, file: _File, keys: Sequence[str], prefix: str) -> DataFrame:
    """A file's rows: the position of each, the tokens of the keys, and all columns as text, named by position."""
    parts = session.createDataFrame(file.parts, "number int, part string").repartition(max(1, len(file.parts)))

    def evidence(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, table in _read_parts(batches):
            found = [json.dumps(count_values(table.column(key)).evidence.to_json()) for key in keys]
            yield pa.RecordBatch.from_arrays([pa.array([text]) for text in found], [f"e{n}" for n in range(len(keys))])

    heads = ", ".join(f"e{number} string" for number in range(len(keys)))
    rows = parts.mapInArrow(evidence, heads).collect()
    types = [_type_of(row[number] for row in rows) for number in range(len(keys))]

    def with_tokens(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, table in _read_parts(batches):
            tokens = [
                pa.chunked_array([normalise(c, kind).cast(pa.string()) for c in table.column(key).chunks], pa.string())
                for key, kind in zip(keys, types, strict=True)
            ]
            texts = [column.cast(pa.string()) for column in table.columns]
            places = [pa.array([number] * table.num_rows, pa.int32()), pa.array(range(table.num_rows), pa.int64())]
            columns = [*places, *tokens, *texts]
            yield from pa.table(columns, names=_heads(prefix, len(keys), len(texts))).to_batches(max_chunksize=10_000)

    kinds = ["int", "bigint", *["string"] * (len(keys) + len(file.layout.columns))]
    names = _heads(prefix, len(keys), len(file.layout.columns))
    return parts.mapInArrow(with_tokens, ", ".join(f"{n} {k}" for n, k in zip(names, kinds, strict=True)))


def _heads(prefix: str, keys: int, columns: int) -> list[str]:
    numbered = [*(f"k{number}" for number in range(keys)), *(f"c{number}" for number in range(columns))]
    return [f"{prefix}_{name}" for name in ("part", "row", *numbered)]


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
    both = left.join(right, [f.col(f"l{n}") == f.col(f"r{n}") for n in range(keys)])
    sums = both.agg(f.sum("l_n"), f.sum("r_n"), f.sum(f.col("l_n") * f.col("r_n"))).collect()[0]
    totals = [frame.agg(f.sum(name)).collect()[0][0] or 0 for frame, name in ((left, "l_n"), (right, "r_n"))]
    return totals[0], totals[1], sums[0] or 0, sums[1] or 0, sums[2] or 0


def _rows(counts: tuple[int, int, int, int, int], how: str) -> int:
    left, right, matched_left, matched_right, inner = counts
    if how in ("semi", "anti"):
        return matched_left if how == "semi" else left - matched_left
    alone = (left - matched_left if how in ("left", "outer") else 0) + (
        right - matched_right if how in ("right", "outer") else 0
    )
    return inner + alone


def _joined(frames: list[DataFrame], files: list[_File], keys: int, how: str) -> DataFrame:
    from pyspark.sql import functions as f

    joined = frames[0].join(frames[1], [f.col(f"l_k{n}") == f.col(f"r_k{n}") for n in range(keys)], _KINDS[how])
    sides = ("l",) if how in ("semi", "anti") else ("l", "r")
    order = [f.col(f"{side}_{name}").asc_nulls_last() for side in sides for name in ("part", "row")]
    columns = [f.col(inside).alias(name) for inside, name in _output_names(files, how)]
    return joined.orderBy(*order).select(*columns)


def _write(frame: DataFrame, output: Path) -> None:
    if output.suffix == ".parquet":
        frame.write.parquet(str(output))
    else:
        frame.write.option("header", True).option("escape", '"').csv(str(output))
