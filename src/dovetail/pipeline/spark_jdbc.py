"""Tables of any database that Spark has a JDBC driver for: `jdbc:mysql://host/shop`.

The driver is the user's (`--conf spark.jars=driver.jar`), and so are name and password, from the environment: they are
in no address, hence not in the index. Which tables there are, the database says in the words of the SQL standard.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dovetail._spark.engine import SparkEngine, reason_of, spark_errors
from dovetail.errors import InputError
from dovetail.lake.containers.registry import SEPARATOR
from dovetail.lake.listing import SPARK, Root, TableFile, is_wanted
from dovetail.pipeline.spark_tables import Entry, RunTasks, stage_spark_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

USER_VARIABLE, PASSWORD_VARIABLE = "DOVETAIL_JDBC_USER", "DOVETAIL_JDBC_PASSWORD"

_STANDARD = "SELECT table_schema AS place, table_name AS name FROM information_schema.tables"
_LISTED_BY = {"oracle": "SELECT owner AS place, table_name AS name FROM all_tables"}
"""How a database lists its tables, by the second word of its address, where not as the standard has it."""
_DRIVERS = {
    "db2": "com.ibm.db2.jcc.DB2Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "oracle": "oracle.jdbc.OracleDriver",
    "postgresql": "org.postgresql.Driver",
    "snowflake": "net.snowflake.client.jdbc.SnowflakeDriver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
}
"""Java finds no driver by itself in what `spark.jars` names; others are found on `spark.driver.extraClassPath`."""
_QUOTES = {"mysql": ("`", "`"), "mariadb": ("`", "`"), "sqlserver": ("[", "]")}
_STANDARD_QUOTES = ('"', '"')
_OWN_SCHEMAS = {"information_schema", "pg_catalog", "mysql", "performance_schema", "sys", "system"}
"""What databases keep about themselves."""
_ROWS_AT_ONCE = "10000"  # of a driver, some of which otherwise fetch whole tables


class JdbcTables:
    """The tables of a database, which its session reads. They have no fingerprint, and are read by every run."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def list(self, root: Root) -> dict[str, TableFile]:
        """Every table that the root selects, by its id."""
        kind = _kind_of(root.path)
        try:
            rows = self._reader(root.path).option("query", _LISTED_BY.get(kind, _STANDARD)).load().collect()
        except spark_errors() as error:
            address = root.path.removeprefix(SPARK)
            raise InputError(f"The tables of {address} cannot be listed: {reason_of(error)}") from error
        named = sorted(f"{row[0]}.{row[1]}" for row in rows if row[0].lower() not in _OWN_SCHEMAS)
        return {
            root.prefix + name: TableFile(
                root.prefix + name, f"{root.path}{SEPARATOR}{name}", 0, mark_of(root.path) + secrets.token_hex(8)
            )
            for name in named
            if is_wanted(root, name)
        }

    def frame(self, file: TableFile) -> DataFrame:
        """The table as a DataFrame; raises what Spark raises."""
        address, _, name = file.path.rpartition(SEPARATOR)
        place, _, table = name.partition(".")
        first, last = _QUOTES.get(_kind_of(address), _STANDARD_QUOTES)
        quoted = ".".join(f"{first}{part.replace(last, last * 2)}{last}" for part in (place, table))
        found: DataFrame = self._reader(address).option("dbtable", quoted).load()
        return found

    def plain(self, file: TableFile) -> Entry | None:
        """Nothing: there are no files."""
        return None

    def stage(
        self, engine: SparkEngine, files: Sequence[TableFile], shared: str, slice_bytes: int, slots: int, run: RunTasks
    ) -> dict[str, Entry]:
        return stage_spark_tables(engine, self, files, shared, slice_bytes, slots, run)

    def _reader(self, address: str) -> Any:
        reader = self._session.read.format("jdbc").option("url", address.removeprefix(SPARK))
        given = {
            "driver": _DRIVERS.get(_kind_of(address)),
            "user": os.environ.get(USER_VARIABLE),
            "password": os.environ.get(PASSWORD_VARIABLE),
        }
        for name, value in given.items():
            reader = reader if value is None else reader.option(name, value)
        return reader.option("fetchsize", _ROWS_AT_ONCE)


def mark_of(root: str) -> str:
    """How the fingerprints of the tables of a root begin."""
    return f"spark-jdbc-{hashlib.sha256(root.encode()).hexdigest()[:8]}-"


def _kind_of(address: str) -> str:
    """`mysql` of `jdbc:mysql://host/shop`."""
    return address.removeprefix(SPARK).split(":")[1].lower()
