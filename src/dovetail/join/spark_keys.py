"""The keys of a join on Spark, for every method: frames whose rows join if their keys are equal.

- Equal values: tokens, made in the workers.
- A transformation: what its programs make of a row, in the workers, by the kernels of every join.
- Similar and near values, and those that the lake relates: each value joins at most one key of the other table, so that
  the distinct values of both sides decide. They come to the driver, the method of every join gives each a number there
  (similarity is compared in the workers, some values each), and the numbers go back to the rows by a join of Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._deadline import Deadline
from dovetail._names import unknown
from dovetail._spark.engine import SparkEngine
from dovetail._spark.frames import arrow_of, frame_of
from dovetail._types import Array
from dovetail.catalog.profile import count_values
from dovetail.errors import UnknownName
from dovetail.join.spark_inputs import Input, heads, schema
from dovetail.normalise import ColumnType, TypeEvidence, decide, normalise
from dovetail.similar.matching import Best, Blocks, FindBest, best_keys
from dovetail.similar.texts import SLICE
from dovetail.tables.column_names import Pair
from dovetail.tables.input_column import input_column
from dovetail.tables.input_table import InputTable
from dovetail.transform.transformation import Transformation

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MakeKeys = Callable[[pa.RecordBatch], list[pa.Array]]
"""Of a batch of rows with their places, the keys of each row."""


class Side:
    """One of the two inputs: its rows in Spark, and the types of its columns, seen when they are first needed."""

    def __init__(self, given: Input, prefix: str, rows: DataFrame) -> None:
        self.names, self.prefix, self.rows, self.address = given.columns, prefix, rows, given.address
        self.stored_types = given.stored_types
        self._types: dict[str, ColumnType] = {}

    def place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName(unknown("There is no column", name, self.names))
        return self.names.index(name)

    def types(self, names: Sequence[str]) -> list[ColumnType]:
        """The types of columns, as all of their values decide."""
        new = [name for name in dict.fromkeys(names) if name not in self._types]
        places = [self.place(name) for name in new]
        if new:
            seen = self.types_of(lambda batch: [batch.column(2 + place) for place in places], len(new))
            self._types |= dict(zip(new, seen, strict=True))
        return [self._types[name] for name in names]

    def types_of(self, make: MakeKeys, number: int) -> list[ColumnType]:
        """The types of so many columns that are made of the rows."""
        names = [f"e{place}" for place in range(number)]

        def see(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                evidence = [count_values(pa.chunked_array([column])).evidence for column in make(batch)]
                yield pa.RecordBatch.from_arrays([pa.array([json.dumps(each.to_json())]) for each in evidence], names)

        seen = self.rows.mapInArrow(see, ", ".join(f"{name} string" for name in names)).collect()
        return [_decided(row[name] for row in seen) for name in names]

    def keyed(self, make: MakeKeys, number: int) -> DataFrame:
        """The rows with so many keys that are made of them."""
        prefix, width = self.prefix, len(self.names)

        def keyed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                arrays = [*batch.columns[:2], *(key.cast(pa.string()) for key in make(batch)), *batch.columns[2:]]
                yield pa.RecordBatch.from_arrays(arrays, heads(prefix, number, width))

        return self.rows.mapInArrow(keyed, schema(prefix, number, width))

    def with_key(self, frame: DataFrame, key: Column) -> DataFrame:
        """Of a frame that has the rows of this side among its columns, these with one key."""
        place, columns = heads(self.prefix, 0, len(self.names))[:2], heads(self.prefix, 0, len(self.names))[2:]
        return frame.select(*place, key.alias(f"{self.prefix}_k0"), *columns)

    def head(self, most: int, name: str) -> tuple[InputTable, bool]:
        """The first rows, and whether these are all."""
        order = [f"{self.prefix}_{each}" for each in ("part", "row")]
        found = arrow_of(self.rows.orderBy(*order).limit(most + 1))
        table = found.drop_columns(order).rename_columns(self.names).slice(0, most)
        return InputTable.of_text(table, name), found.num_rows <= most


def equal_keys(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[DataFrame]:
    """Equal tokens in every pair of columns."""
    return [_tokens_of(side, [pair[number] for pair in pairs]) for number, side in enumerate(sides)]


def _tokens_of(side: Side, names: Sequence[str]) -> DataFrame:
    wanted = list(zip([2 + side.place(name) for name in names], side.types(names), strict=True))
    return side.keyed(lambda batch: [normalise(batch.column(place), kind) for place, kind in wanted], len(wanted))


def no_keys(sides: Sequence[Side]) -> list[DataFrame]:
    from pyspark.sql import functions as f

    return [side.with_key(side.rows, f.lit(None).cast("string")) for side in sides]


def transformed_keys(sides: Sequence[Side], way: Transformation) -> list[DataFrame]:
    """The values that the programs make from one side, and the key column of the other, normalised by its type."""
    source, target = sides[::-1] if way.reversed else sides
    wanted = _target_values(target, way)
    kind = target.types([way.target])[0] if way.key is None else target.types_of(lambda batch: [wanted(batch)], 1)[0]
    keys = target.keyed(lambda batch: [normalise(wanted(batch), kind)], 1)
    columns = {name: (2 + source.place(name), source.types([name])[0]) for name in way.columns}

    def made(batch: pa.RecordBatch) -> list[pa.Array]:
        texts = {name: _filled(batch.column(place), of).to_pylist() for name, (place, of) in columns.items()}
        return [normalise(pa.array(program.apply(texts), pa.string()), kind) for program in way.programs]

    values = source.keyed(made, len(way.programs))
    if len(way.programs) > 1:
        values = _first_known(source, values, keys.select(f"{target.prefix}_k0"), len(way.programs))
    return [keys, values] if way.reversed else [values, keys]


def _target_values(target: Side, way: Transformation) -> Callable[[pa.RecordBatch], pa.Array]:
    """The values that the programs have to make: the key column, or a part of it."""
    place, kind = 2 + target.place(way.target), target.types([way.target])[0]

    def wanted(batch: pa.RecordBatch) -> pa.Array:
        texts = _filled(batch.column(place), kind)
        return texts if way.key is None else pa.array(way.key.apply({way.target: texts.to_pylist()}), pa.string())

    return wanted


def _filled(texts: pa.Array, kind: ColumnType) -> pa.Array:
    """Raw values, null where a column of this type has none."""
    return pc.if_else(normalise(texts, kind).is_valid(), texts, None)


def _first_known(source: Side, values: DataFrame, keys: DataFrame, programs: int) -> DataFrame:
    """Of what several programs make of a row, the first that is a key of the other side."""
    from pyspark.sql import functions as f

    known = keys.dropna().distinct()
    for number in range(programs):
        one = known.toDF(f"known{number}")
        values = values.join(one, f.col(f"{source.prefix}_k{number}") == f.col(f"known{number}"), "left")
    return source.with_key(values, f.coalesce(*(f.col(f"known{number}") for number in range(programs))))


class DistinctRows:
    """The distinct values of some columns of a side as a table, in the order of their first rows."""

    def __init__(self, side: Side, names: Sequence[str], name: str) -> None:
        from pyspark.sql import functions as f

        self._side, self.names = side, tuple(dict.fromkeys(names))
        types = dict(zip(self.names, side.types(self.names), strict=True))
        first = f.min(f.struct(f"{side.prefix}_part", f"{side.prefix}_row"))
        counted = side.rows.groupBy(*self._columns()).agg(f.count(f.lit(1)).alias("rows"), first.alias("first"))
        found = arrow_of(counted.orderBy("first").drop("first"))
        self.counts: Array = found["rows"].to_numpy()
        self._text = found.drop_columns(["rows"]).rename_columns(list(self.names))
        self.table = InputTable(
            name, self.names, found.num_rows, lambda: self._text,
            lambda name: input_column(name, self._text.column(name), types[name]),
        )  # fmt: skip

    def numbered(self, codes: Array) -> DataFrame:
        """The rows of the side, with the number of their values as the key; -1 is none."""
        from pyspark.sql import functions as f

        columns = self._columns()
        kept = np.flatnonzero(codes >= 0)
        names = [f"of_{column}" for column in columns]
        numbers = self._text.take(pa.array(kept)).rename_columns(names).append_column("key", pa.array(codes[kept]))
        same = [f.col(column).eqNullSafe(f.col(name)) for column, name in zip(columns, names, strict=True)]
        joined = self._side.rows.join(frame_of(self._side.rows.sparkSession, numbers), same, "left")
        return self._side.with_key(joined, f.col("key").cast("string"))

    def _columns(self) -> list[str]:
        return [f"{self._side.prefix}_c{self._side.place(name)}" for name in self.names]


def best_keys_on(engine: SparkEngine, slots: int) -> FindBest:
    """Finds what `best_keys` finds, in tasks: each compares some values with all keys.

    Tasks take whole slices of values, so that numbers are the same to the last bit.
    """

    def find(values: Sequence[str], keys: Sequence[str], blocks: Blocks | None, deadline: Deadline | None) -> Best:
        size = SLICE * -(-len(values) // (SLICE * slots))
        ranges = [(first, min(first + size, len(values))) for first in range(0, len(values), size)]
        if len(ranges) == 1:
            return best_keys(values, keys, blocks, deadline)

        def compare(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    best = best_keys(values, keys, blocks, None, ranges[number])
                    found = [[number], [best.keys.tobytes()], [best.features.tobytes()]]
                    yield pa.RecordBatch.from_arrays(list(map(pa.array, found)), ["number", "keys", "features"])

        tasks = engine.session.range(0, len(ranges), 1, len(ranges))
        found = tasks.mapInArrow(compare, "number bigint, keys binary, features binary").collect()
        parts = sorted(found, key=lambda row: row.number)
        features = np.concatenate([np.frombuffer(row.features, np.float64) for row in parts])
        return Best(
            np.concatenate([np.frombuffer(row.keys, np.int32) for row in parts]), features.reshape(len(values), -1)
        )

    return find


def _decided(evidence: Iterable[str]) -> ColumnType:
    parts = [TypeEvidence.from_json(json.loads(text)) for text in evidence]
    return decide(sum(parts[1:], start=parts[0])) if parts else ColumnType("empty")
