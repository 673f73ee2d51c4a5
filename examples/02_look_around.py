"""Look at the tables of an index. This needs neither Spark nor Java.

Run from the repository's root, after 01_index.py: .venv/bin/python examples/02_look_around.py
"""

from __future__ import annotations

import dovetail


def main(index: str = "sample-lake.idx") -> None:
    lake = dovetail.open(index)

    print("The largest tables:")
    for line in sorted(lake.tables(), key=lambda line: -line.rows)[:3]:
        print(f"  {line.table}: {line.rows:,} rows, {line.columns} columns")

    airports = lake.table("transport/airports.csv")
    print(f"Columns of {airports.name} that could be its key:")
    for column in airports.columns:
        if column.key:
            print(f"  {column.name}, such as {', '.join(column.sample[:3])}")

    print("Columns that contain Switzerland:")
    for hit in lake.find("switzerland"):
        print(f"  {hit.table}, column {hit.column}: {hit.rows} rows")

    print("Columns with iata in their name, as a pandas frame:")
    print(lake.find_columns("*iata*").to_pandas())


if __name__ == "__main__":
    main()
