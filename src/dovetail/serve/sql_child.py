"""One SQL query over one table, in a process of its own that can do nothing else.

The process gets the table and the query by standard input and answers by standard output, both as Arrow streams. It has
so much memory, and whoever started it ends it when the time is over. DuckDB reads and writes no files, reaches no
network, loads no extensions, sees no Python variables, and its settings cannot be changed back.
"""

from __future__ import annotations

import resource
import sys
from typing import Any

LOCKS = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET python_enable_replacements = false",
    "SET threads = 1",
    "SET lock_configuration = true",
)
NAME = "result"  # of the table in queries
BAD_QUERY, OUT_OF_MEMORY = 3, 4  # exit codes
_ROWS_AT_ONCE = 10_000  # arbitrary
_BASE = 2 << 30  # bytes that DuckDB and Arrow reserve for themselves, generously


def main(memory_mb: int, rows: int) -> None:
    import duckdb
    import pyarrow as pa

    with pa.ipc.open_stream(sys.stdin.buffer) as stream:
        query = (stream.schema.metadata or {})[b"query"].decode()
        table = stream.read_all().replace_schema_metadata(None)
    _limit(resource.RLIMIT_DATA, (memory_mb << 20) + 2 * table.nbytes + _BASE)
    _limit(resource.RLIMIT_FSIZE, 0)
    connection = duckdb.connect(":memory:", config={"memory_limit": f"{memory_mb}MB", "temp_directory": ""})
    try:
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {NAME} AS SELECT * FROM given")
        connection.unregister("given")
        for lock in LOCKS:
            connection.execute(lock)
        _answer(_selected(connection, query), rows)
    except (duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError):
        sys.exit(OUT_OF_MEMORY)
    except duckdb.Error as error:
        sys.stderr.write(_sentence(error))
        sys.exit(BAD_QUERY)


def _limit(what: int, most: int) -> None:
    resource.setrlimit(what, (most, most))


def _selected(connection: Any, query: str) -> Any:
    """The answer to a single SELECT; everything else is refused before it runs."""
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise duckdb.InvalidInputException("Only a single SELECT is allowed.")
    return connection.execute(statements[0])


def _answer(found: Any, rows: int) -> None:
    """At most so many rows; one more says that there are others."""
    import pyarrow as pa

    read = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # before DuckDB 1.4
    reader = read(_ROWS_AT_ONCE)
    left = rows + 1
    with pa.ipc.new_stream(sys.stdout.buffer, reader.schema) as out:
        for batch in reader:
            out.write_batch(batch.slice(0, left))
            left -= len(batch)
            if left <= 0:
                return


def _sentence(error: BaseException) -> str:
    """DuckDB's message without the kind of error and the lines that point into the query."""
    text = str(error).strip().split("\n")[0]
    kind, colon, rest = text.partition(": ")
    return rest if colon and kind.endswith("Error") else text


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
