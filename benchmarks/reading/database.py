"""Reading a table of PostgreSQL beside reading the same rows from Parquet, by the same readers.

    PGPASSWORD=… python benchmarks/reading/database.py --address postgresql://me@host/db --rows 1000000

Makes a table `dovetail_benchmark` in the database (a key, a text, a float, a date, a decimal), and drops it in the end.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import adbc_driver_postgresql.dbapi as driver
import pyarrow.parquet as pq

from dovetail.lake.reader import AnyPath, detect_layout, read
from dovetail.lake.source import source_of

TABLE = "dovetail_benchmark"
ROWS = """
    CREATE TABLE {table} AS
    SELECT i AS id, 'name ' || i AS name, (i % 97) * 1.5::float8 AS x, DATE '2020-01-01' + (i % 1000) AS day,
           (i % 13)::numeric(8, 2) AS price
    FROM generate_series(1, {rows}) i
"""


def seconds(path: AnyPath) -> tuple[float, int]:
    begun = time.perf_counter()
    rows = sum(batch.num_rows for batch in read(path, detect_layout(path)))
    return time.perf_counter() - begun, rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--address", required=True)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--repeats", type=int, default=5)
    given = options.parse_args()
    with (
        driver.connect(given.address) as connection,
        connection.cursor() as cursor,
        tempfile.TemporaryDirectory() as folder,
    ):
        cursor.execute(ROWS.format(table=TABLE, rows=given.rows))
        connection.commit()
        try:
            cursor.execute(f"SELECT id, name, x, day, price::text AS price FROM {TABLE}")
            file = Path(folder, "rows.parquet")
            pq.write_table(cursor.fetch_arrow_table(), file)
            connection.commit()
            address = f"{given.address}::public.{TABLE}"
            table = source_of(address).open(address)
            ratios = []
            for _ in range(given.repeats):
                (from_database, rows), (from_file, same) = seconds(table), seconds(file)
                assert rows == same == given.rows
                ratios.append(from_database / from_file)
                print(f"PostgreSQL {from_database:.2f} s, Parquet {from_file:.2f} s")
            print(f"ratio, median of {given.repeats}: {statistics.median(ratios):.2f}")
        finally:
            cursor.execute(f"DROP TABLE {TABLE}")
            connection.commit()


if __name__ == "__main__":
    main()
