"""Arrow tables as Spark DataFrames and back, whatever the version of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(session: SparkSession, table: pa.Table) -> DataFrame:
    """The rows of a table. Dictionaries become plain values: not every Spark reads them."""
    plain = table.cast(pa.schema([(field.name, _plain(field.type)) for field in table.schema]))
    schema = _spark_schema(plain.schema)
    if not plain.num_rows:
        return session.createDataFrame([], schema)
    if _takes_arrow():
        return session.createDataFrame(plain, schema)
    return session.createDataFrame([tuple(row.values()) for row in plain.to_pylist()], schema)


def arrow_of(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame, in this process."""
    if _takes_arrow():
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.Table.from_pylist([row.asDict() for row in frame.collect()], to_arrow_schema(frame.schema))


def _plain(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _plain(type_.value_type)
    if pa.types.is_list(type_):
        return pa.list_(_plain(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([(field.name, _plain(field.type)) for field in type_])
    return pa.string() if pa.types.is_large_string(type_) or pa.types.is_null(type_) else type_


def _spark_schema(schema: pa.Schema) -> object:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _takes_arrow() -> bool:
    """Spark 4 takes Arrow tables; 3.5 does not."""
    import pyspark

    return int(pyspark.__version__.partition(".")[0]) >= 4
