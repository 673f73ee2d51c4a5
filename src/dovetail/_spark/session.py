"""The Spark session: the same on a laptop and on a cluster."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._spark.java import java_home
from dovetail.errors import BuildFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# With a number of failures allowed, so that a lost worker is survived on a laptop too: plain local[*] never retries.
LOCAL = "local[*,4]"

_LOGGING = Path(__file__).with_name("log4j2.properties")
_OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    # No data passes through Java here, so that its best compiler would only cost time.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
    f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.python.worker.reuse": "true",
    "spark.sql.shuffle.partitions": "1",
}
_LOCAL_OPTIONS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@contextlib.contextmanager
def spark_session(master: str) -> Iterator[SparkSession]:
    """A session on `master`, stopped at the end."""
    from pyspark.sql import SparkSession

    options = {**_OPTIONS, **(_LOCAL_OPTIONS if master.startswith("local") else {})}
    builder = SparkSession.builder.appName("dovetail").master(master)
    for name, value in options.items():
        builder = builder.config(name, value)
    # Otherwise the workers take whichever python3 comes first, which may lack our packages.
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with _environment(JAVA_HOME=str(java_home()), PYSPARK_PYTHON=python), _reasons(master):
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    """These variables while Spark starts; what the process starts later sees its own again."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _reasons(master: str) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if "Exception:" in line), lines[0] if lines else "no reason given")
        raise BuildFailed(f"Spark cannot start on {master}: {reason.rpartition('Exception: ')[2]}") from error
