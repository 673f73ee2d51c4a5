"""SQL that tries to get out: files, network, extensions, settings, time, memory."""

from __future__ import annotations

import http.server
import threading
import time
from dataclasses import replace

import pyarrow as pa
import pytest

from dovetail.errors import InputError
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Refused
from dovetail.serve.sql import run_sql

TABLE = pa.table({"a": [1, 2, 3], "name": ["x", "y", None]})
LIMITS = Limits(sql_seconds=3, sql_mb=200, rows=1_000)


def test_a_query_is_answered():
    assert run_sql(TABLE, "SELECT name, a * 2 AS b FROM result WHERE a > 1", LIMITS).to_pylist() == [
        {"name": "y", "b": 4},
        {"name": None, "b": 6},
    ]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{file}')", "SELECT * FROM '{file}'", "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('{file}')", "SELECT * FROM glob('{folder}/*')", "COPY result TO '{folder}/out.csv'",
        "COPY (SELECT 1) TO '{folder}/out.csv'", "EXPORT DATABASE '{folder}/out'", "ATTACH '{folder}/out.db'",
        "CREATE TABLE t AS SELECT 1", "DROP TABLE result", "SELECT 1; SELECT 2", "INSTALL httpfs", "LOAD httpfs",
        "SET enable_external_access = true", "RESET ALL", "PRAGMA database_list", "CALL pragma_version()",
        "SELECT * FROM read_parquet('http://127.0.0.1:{port}/x.parquet')", "SELECT getenv('HOME')",
        "SELECT * FROM query('COPY result TO ''{folder}/out.csv''')", "SELECT * FROM TABLE_GIVEN", "SELEC 1", "",
        "SELECT * FROM sys", "SELECT * FROM table", "SELECT * FROM given",
    ],
)  # fmt: skip
def test_nothing_else_is_reached(query, tmp_path):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

        do_HEAD = do_GET

    (tmp_path / "secret.csv").write_text("secret\n1\n")
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        written = query.format(file=tmp_path / "secret.csv", folder=tmp_path, port=server.server_port)
        with pytest.raises(InputError) as refused:
            run_sql(TABLE, written, LIMITS)
        server.shutdown()
    assert "Traceback" not in str(refused.value) and "\n" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"] and not asked


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(1000000000000) a, range(1000000) b",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    ],
)
def test_time_is_limited(query):
    begun = time.monotonic()
    with pytest.raises(Refused, match="longer than 3 seconds") as refused:
        run_sql(TABLE, query, LIMITS)
    assert refused.value.status == 504 and time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "query",
    ["SELECT repeat('x', 2000000000)", "SELECT list(range) FROM range(1000000000)",
     "SELECT string_agg(repeat('x', 1000000)) FROM range(100000)"],
)  # fmt: skip
def test_memory_is_limited(query):
    with pytest.raises(Refused) as refused:
        run_sql(TABLE, query, LIMITS)
    assert refused.value.status in (413, 504)


def test_rows_are_limited():
    with pytest.raises(Refused, match="more than 1,000 rows"):
        run_sql(TABLE, "SELECT * FROM range(5000)", LIMITS)


def test_answers_are_limited_as_other_tables_are():
    with pytest.raises(Refused, match="more than 1 MB of memory; add a LIMIT"):
        run_sql(TABLE, "SELECT repeat('x', 2000) FROM range(900)", replace(LIMITS, table_mb=1, sql_seconds=60))
