"""The Spark session: the same on a laptop and on a cluster."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._spark.java import java_home

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
    os.environ["JAVA_HOME"] = str(java_home())
    # Otherwise the workers take whichever python3 comes first, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    options = {**_OPTIONS, **(_LOCAL_OPTIONS if master.startswith("local") else {})}
    builder = SparkSession.builder.appName("dovetail").master(master)
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
