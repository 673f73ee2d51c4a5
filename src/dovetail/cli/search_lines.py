"""`dovetail search --json-lines` and `--many`: hits for programs, as they are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.api.lake import Lake
from dovetail.cli.files import check_output, write_table
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.output import count, note, print_json
from dovetail.cli.progress import long_question
from dovetail.errors import InputError


def print_stages(lake: Lake, data: Any, options: dict[str, Any]) -> int:
    """Each answer as lines: its hits with what has changed, and a line that ends it. Returns the exit code."""
    found = False
    for hits in lake.search_iter(data, **options):
        stage = {"stage": "exact" if hits.exact else "approximate"}
        for change in hits.changes:
            _print({**stage, **change.to_dict()})
        end = hits.to_json() | {"hits": len(hits), "recall": hits.recall, "sentence": hits.sentence or None}
        _print({**stage, "change": "end", **end})
        found = bool(hits)
    return 0 if found else 1


def search_folder(lake: Lake, folder: str, output: Path | None, options: dict[str, Any]) -> int:
    """The hits of every table of a folder, as JSON lines or to a file. Returns the exit code."""
    if output is not None:
        _check_hits_file(output)
        with long_question("searching"):
            answers = lake.search_many(folder, **options)
        table = answers.to_arrow()
        write_table(table, output)
        note(f"{count(table.num_rows, 'row')} for {count(len(answers), 'table')} in {output}.")
        return 0 if table.num_rows else 1
    found = False
    for answer in lake.search_each(folder, **options):
        for row in answer.to_dicts():
            _print(row)
        found = found or bool(answer.hits)
    return 0 if found else 1


def search_folder_on_spark(
    index: str, folder: str, output: Path | None, options: dict[str, Any], master: str, conf: dict[str, str]
) -> int:
    """The same in one Spark job."""
    from dovetail._spark.session import SparkRequest, spark_session
    from dovetail.search.many import SCHEMA, named_queries
    from dovetail.search.on_spark import search_on_spark

    if output is not None:
        _check_hits_file(output)
    queries = named_queries(folder)
    spark, description = SparkRequest(None, master, conf), f"search with {len(queries):,} table(s)"
    with stops_in_order(), spark_session(spark) as engine, engine.job(description):
        rows = [row.asDict() for row in search_on_spark(engine.session, index, queries, options).collect()]
    rows.sort(key=lambda row: (row["query"], row["rank"] or 0))
    if output is not None:
        write_table(pa.Table.from_pylist(rows, SCHEMA), output)
        note(f"{count(len(rows), 'row')} for {count(len(queries), 'table')} in {output}.")
    else:
        for row in rows:
            _print(row)
    return 0 if any(row["error"] is None for row in rows) else 1


def _check_hits_file(output: Path) -> None:
    check_output(output, ())
    if output.suffix == ".csv":
        raise InputError("CSV has no lists, which hits have; write .parquet, .arrow or .feather.")


def _print(line: dict[str, Any]) -> None:
    print_json(line, indent=None)
