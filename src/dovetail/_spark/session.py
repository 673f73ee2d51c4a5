"""The Spark session: the one that is given, the active one, or one of our own.

A session of somebody else is used as it is: it is never stopped, its settings are never changed, and its master is the
one that it has. Only where there is no session is one started, and stopped at the end.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._spark.engine import SparkEngine, spark_errors
from dovetail._spark.java import java_home
from dovetail.errors import BuildFailed, InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# With a number of failures allowed, so that a lost worker is survived on a laptop too: plain local[*] never retries.
LOCAL = "local[*,4]"

_LOGGING = Path(__file__).with_name("log4j2.properties")
_OPTIONS = {
    "spark.app.name": "dovetail",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    # No data passes through Java here, so that its best compiler would only cost time.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
    f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.python.worker.reuse": "true",
    "spark.sql.shuffle.partitions": "1",
}
_LOCAL_OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# Set by spark-submit, and by those who start Spark from Python in their own way or connect to a server.
_DECIDED_BY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE")


@dataclass(frozen=True)
class SparkRequest:
    """Which Spark is to work: `session`, else the active one, else a new one on `master` with the settings `conf`."""

    session: SparkSession | None = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


_MASTER = re.compile(r"yarn|local(\[(\*|\d+)(, *\d+)?\])?|local-cluster\[.+\]|\w+://.+")
"""What Spark may take; for anything else it prints pages of Java before it ends."""


def require_spark() -> None:
    """Raises where pyspark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        raise BuildFailed("Spark is not installed. Run `pip install 'dovetail-lake[spark]'`.") from error


@contextlib.contextmanager
def spark_session(request: SparkRequest) -> Iterator[SparkEngine]:
    """The Spark that is asked for. It is stopped at the end only if it was started here."""
    require_spark()
    if request.session is not None and not hasattr(request.session, "range"):
        raise InputError(f"`spark` is a {type(request.session).__name__}; it must be a SparkSession.")
    session = request.session if request.session is not None else _active_session()
    if session is not None:
        if request.master or request.conf:
            raise InputError(
                "There is a Spark session already, and its master and settings are not changed: drop `master` and "
                "`conf`, or stop the session first."
            )
        yield SparkEngine(session, own=False)
        return
    master = request.master or ("" if _is_decided() else LOCAL)
    if master and not _MASTER.fullmatch(master):
        raise InputError(
            f"{master} is no Spark master; give local[*], local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT."
        )
    session = _start(master, request.conf)
    try:
        yield SparkEngine(session, own=True, here=master.startswith("local"))
    finally:
        with contextlib.suppress(*spark_errors()):  # where Spark has died, there is nothing to stop
            session.stop()


def _active_session() -> SparkSession | None:
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        with contextlib.suppress(ImportError):  # a client of Spark Connect has no contexts
            from pyspark import SparkContext

            if SparkContext._active_spark_context is not None:  # it was made in another thread
                active = SparkSession.builder.getOrCreate()
    return active


def _start(master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session on `master`; an empty one is decided elsewhere, and so are our usual settings."""
    from pyspark.sql import SparkSession

    ours = _OPTIONS | (_LOCAL_OPTIONS if master.startswith("local") else {}) if master else {}
    builder = SparkSession.builder.master(master) if master else SparkSession.builder
    for name, value in (ours | dict(conf)).items():
        builder = builder.config(name, value)
    # Otherwise the workers take whichever python3 comes first, which may lack our packages.
    environment = {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)} if master else {}
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else Java is running
        environment["JAVA_HOME"] = str(java_home())
    logging.getLogger("py4j").addHandler(logging.NullHandler())  # it logs what it raises, with its insides
    with _environment(environment), _reasons(f" on {master}" if master else ""):
        return builder.getOrCreate()


def _is_decided() -> bool:
    """Whether it is decided elsewhere where Spark runs: by spark-submit, or by the settings of this machine's Spark."""
    if any(name in os.environ for name in _DECIDED_BY):
        return True
    folder = os.environ.get("SPARK_CONF_DIR") or f"{os.environ.get('SPARK_HOME', '')}/conf"
    defaults = Path(folder, "spark-defaults.conf")
    lines = defaults.read_text(encoding="utf-8").splitlines() if defaults.is_file() else []
    return any(line.replace("=", " ").split()[:1] == ["spark.master"] for line in lines)


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
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
def _reasons(where: str) -> Iterator[None]:
    try:
        yield
    except spark_errors() as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if "Exception:" in line), lines[0] if lines else "no reason given")
        raise BuildFailed(f"Spark cannot start{where}: {reason.rpartition('Exception: ')[2]}") from error
