"""What a join on Spark reads: files of any kind that we read, objects of stores, DataFrames and tables of Spark.

Rows come as text, as in every join, with their place in the input: `part` and `row`. Inside Spark, columns are named by
side and position (`l_c0`), so that no function has to quote what users call theirs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._objects import is_remote
from dovetail.errors import InputError
from dovetail.lake.columnar import stored_schema
from dovetail.lake.cuts import guess_parts, is_exact
from dovetail.lake.layout import Layout, Part
from dovetail.lake.object_path import path_of
from dovetail.lake.reader import detect_layout, read, split
from dovetail.pipeline.probe import Witness, witness
from dovetail.tables.input_table import reasons_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PART_BYTES = 16 << 20  # of a file, for one task: a file of 50 MB keeps some cores busy, one of 10 GB makes 600 tasks
_ROWS_AT_ONCE = 10_000  # in a batch for Spark, as its own are


_ATOMIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "date", "timestamp")
"""Types of Spark that come back from text as they were."""


class FileInput:
    """A file or an object, read in place and parsed by the workers in parts."""

    def __init__(self, path: str | Path) -> None:
        self.address = str(path) if is_remote(path) else str(Path(path).resolve())
        with reasons_of(path):
            self._layout = detect_layout(path_of(self.address))
        self.columns = list(self._layout.columns)

    @functools.cached_property
    def stored_types(self) -> list[str]:
        """The types of the columns in the words of Spark; text where the file has none, or Spark has no such type."""
        schema = stored_schema(path_of(self.address), self._layout)
        return ["string"] * len(self.columns) if schema is None else [_spark_type(field.type) for field in schema]

    @property
    def witnesses(self) -> list[Witness]:
        """What every worker must see."""
        return [witness(self.address)]

    def rows(self, session: SparkSession, side: str) -> DataFrame:
        """The position of each row, and all columns as text."""
        names, address, layout = heads(side, 0, len(self.columns)), self.address, self._layout.to_json()
        described = [(number, json.dumps(part.to_json())) for number, part in enumerate(self._parts(session))]
        parts = session.createDataFrame(described, "number int, part string").repartition(len(described))

        def parse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, table in _read_parts(batches, address, layout):
                places = [pa.array([number] * table.num_rows, pa.int32()), pa.array(range(table.num_rows), pa.int64())]
                texts = [column.cast(pa.string()) for column in table.columns]
                yield from pa.table([*places, *texts], names=names).to_batches(max_chunksize=_ROWS_AT_ONCE)

        return parts.mapInArrow(parse, schema(side, 0, len(self.columns)))

    def _parts(self, session: SparkSession) -> list[Part]:
        """Where the file is cut: at places that are guessed and checked by the workers, as indexing does."""
        path = path_of(self.address)
        with reasons_of(self.address):
            guesses = guess_parts(path, self._layout, _PART_BYTES)
            if len(guesses) > 1 and self._are_exact(session, guesses):
                return guesses
            return split(path, self._layout, _PART_BYTES) or [Part()]

    def _are_exact(self, session: SparkSession, guesses: list[Part]) -> bool:
        address, layout = self.address, self._layout.to_json()
        described = [part.to_json() for part in guesses]

        def check(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                parts = [Part.from_json(described[number]) for number in batch.column(0).to_pylist()]
                exact = [is_exact(path_of(address), Layout.from_json(layout), part) for part in parts]
                yield pa.RecordBatch.from_arrays([pa.array(exact, pa.bool_())], ["exact"])

        checked = session.range(0, len(guesses), 1, len(guesses)).mapInArrow(check, "exact boolean")
        return all(row.exact for row in checked.collect())


class FrameInput:
    """A DataFrame of the session, whatever it reads."""

    address = None

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self.columns = list(frame.columns)
        kinds = [kind for _, kind in frame.dtypes]
        self.stored_types = [kind if kind.startswith(_ATOMIC) else "string" for kind in kinds]
        self.witnesses: list[Witness] = []

    def rows(self, session: SparkSession, side: str) -> DataFrame:
        from pyspark.sql import functions as f

        names = heads(side, 0, len(self.columns))
        plain = self._frame.toDF(*names[2:])
        places = [f.lit(0).alias(names[0]), f.monotonically_increasing_id().alias(names[1])]
        return plain.select(*places, *(f.col(name).cast("string").alias(name) for name in names[2:]))


Input = FileInput | FrameInput


def _spark_type(kind: pa.DataType) -> str:
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        found: str = from_arrow_type(kind).simpleString()
    except PySparkException:  # Spark has no such type
        return "string"
    return found if found.startswith(_ATOMIC) else "string"


def file_input(data: Any) -> Input | None:
    """The input of a file, an address or a DataFrame; None for what may be a table of Spark's catalog."""
    if hasattr(data, "mapInArrow"):
        return FrameInput(data)
    if not isinstance(data, str | Path):
        raise InputError(f"A {type(data).__name__} is not joined on Spark; files, addresses and DataFrames are.")
    return FileInput(data) if is_remote(data) or Path(data).is_file() else None


def table_input(session: SparkSession, name: str) -> Input:
    """The input of a table of Spark's catalog."""
    from pyspark.errors import PySparkException

    try:
        return FrameInput(session.table(name))
    except PySparkException:
        raise InputError(f"There is no file {name}, and Spark has no table of this name.") from None


def heads(side: str, keys: int, columns: int) -> list[str]:
    """The names of place, keys and columns of a side inside Spark."""
    numbered = [*(f"k{number}" for number in range(keys)), *(f"c{number}" for number in range(columns))]
    return [f"{side}_{name}" for name in ("part", "row", *numbered)]


def schema(side: str, keys: int, columns: int) -> str:
    kinds = ["int", "bigint", *["string"] * (keys + columns)]
    return ", ".join(f"{name} {kind}" for name, kind in zip(heads(side, keys, columns), kinds, strict=True))


def _read_parts(
    batches: Iterable[pa.RecordBatch], address: str, layout: dict[str, Any]
) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for row in batch.to_pylist():
            found = list(read(path_of(address), Layout.from_json(layout), Part.from_json(json.loads(row["part"]))))
            if found:
                yield row["number"], pa.Table.from_batches(found)
