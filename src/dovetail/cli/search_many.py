"""`dovetail search --many`: every table of a folder is a query, in one Spark job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.output import count, note, print_json, print_table
from dovetail.graph.arrow_answer import ArrowAnswer, check_suffix

if TYPE_CHECKING:
    from dovetail._spark.session import SparkRequest

_SHOWN = 25


class HitRecords(ArrowAnswer):
    """The hits of many queries, by query and rank."""

    rows_are = "hits"

    def __init__(self, table: pa.Table) -> None:
        self.schema = table.schema
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def batches(self, limit: int | None = None) -> Iterator[pa.RecordBatch]:
        yield from self._table.combine_chunks().to_batches()


def search_many(
    folder: str, index: Path, options: Mapping[str, Any], spark: SparkRequest, output: Path | None, as_json: bool
) -> int:
    """Print or write the hits; returns the exit code."""
    from dovetail._spark.session import spark_session
    from dovetail.search.on_spark import HIT_SCHEMA, files_of
    from dovetail.search.on_spark import search_many as on_spark

    if output:
        check_suffix(output)
    queries = files_of(folder)
    with stops_in_order(), spark_session(spark) as engine, engine.job(f"search with {len(queries):,} tables"):
        rows = [row.asDict() for row in on_spark(engine.session, index, queries, options).collect()]
    rows.sort(key=lambda row: (row["query"], row["rank"] or 0))
    found = HitRecords(pa.Table.from_pylist(rows, HIT_SCHEMA))
    hits = [row for row in rows if not row["error"]]
    if output:
        found.write(output)
        click.echo(f"{count(len(hits), 'hit')} of {count(len(queries), 'query', 'queries')} written to {output}.")
    elif as_json:
        print_json(rows)
    else:
        lines = [_cells(row) for row in hits[:_SHOWN]]
        print_table(("query", "#", "table", "on", "covers"), lines, numbers=("#", "covers"))
        if len(hits) > _SHOWN:
            note(f"… and {len(hits) - _SHOWN:,} more: -o FILE for all.")
    for row in rows:
        if row["error"]:
            note(f"{row['query']}: {row['error']}")
    return 0 if hits else 1


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    on = f"{', '.join(row['on'])} → {', '.join(row['columns'])}"
    return row["query"], row["rank"], row["table"], on, f"{row['overlap']:,} of {row['query_size']:,}"
