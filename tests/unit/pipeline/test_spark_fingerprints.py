"""What the fingerprints of a catalog's tables rest on, as a session tells it that knows Delta tables."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dovetail.lake.listing import CATALOG, Root
from dovetail.pipeline.spark_tables import SparkTables

Named = namedtuple("Named", "tableName isTemporary")
About = namedtuple("About", "col_name data_type")
Size = namedtuple("Size", "path length modificationTime")


@dataclass
class Rows:
    rows: list[Any]

    def collect(self) -> list[Any]:
        return self.rows

    def select(self, *_: str) -> Rows:
        return self


@dataclass
class Session:
    """As much of a session as listing needs: a Delta table, a table of files whose names have spaces, a view."""

    version: int = 3
    size: int = 10
    providers: dict[str, tuple[str, str]] = field(
        default_factory=lambda: {"changes": ("delta", "MANAGED"), "files": ("parquet", "MANAGED"), "seen": ("", "VIEW")}
    )

    def sql(self, text: str) -> Rows:
        if text.startswith("SHOW TABLES IN `sales`"):
            return Rows([Named(name, False) for name in self.providers] + [Named("mine", True)])
        name = text.split("`")[-2]
        if text.startswith("DESCRIBE TABLE EXTENDED"):
            provider, kind = self.providers[name]
            return Rows([About("id", "int"), About("Provider", provider), About("Type", kind)])
        assert text.startswith("DESCRIBE HISTORY")
        return Rows([{"version": self.version}])

    def table(self, name: str) -> Session:
        self.asked = name
        return self

    def inputFiles(self) -> list[str]:  # as Spark calls it
        return ["file:///lake/part%201.parquet"]

    @property
    def read(self) -> Session:
        return self

    def format(self, name: str) -> Session:
        return self

    def load(self, paths: list[str]) -> Rows:
        assert paths == ["file:///lake/part 1.parquet"]
        return Rows([Size("file:/lake/part%201.parquet", self.size, datetime(2024, 2, 29))])


ROOT = Root(CATALOG, tables=("sales.*",))


def marks(session: Session) -> dict[str, str]:
    return {name: file.fingerprint for name, file in SparkTables(session).list(ROOT).items()}  # type: ignore[arg-type]


def test_only_tables_of_the_database_are_listed_with_their_sizes():
    listed = SparkTables(Session()).list(ROOT)  # type: ignore[arg-type]
    assert {name: file.bytes for name, file in listed.items()} == {
        "sales.changes": 10, "sales.files": 10, "sales.seen": 0
    }  # fmt: skip
    assert listed["sales.files"].path == "spark:catalog/sales.files"


def test_what_a_fingerprint_rests_on():
    session = Session()
    first = marks(session)
    assert first["sales.changes"] == "spark-table-delta-3"
    again = marks(session)
    assert {name for name in first if first[name] == again[name]} == {"sales.changes", "sales.files"}
    rows_deleted = marks(replace(session, version=4))
    assert {name for name in first if first[name] == rows_deleted[name]} == {"sales.files"}
    rewritten = marks(replace(session, size=11))
    assert {name for name in first if first[name] == rewritten[name]} == {"sales.changes"}
