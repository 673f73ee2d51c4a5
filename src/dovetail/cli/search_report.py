"""What `dovetail search` prints: hits as a table and what to do next for people, as lines for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.api.lake import Lake
from dovetail.cli.files import check_output, write_table
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.output import count, echo, note, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.errors import InputError
from dovetail.search.hits import LOOSE, NUMBERS, Hits
from dovetail.search.semantic.hit import SemanticHit


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


def print_answer(hits: Hits, query: str, index: str) -> None:
    """One answer."""
    _print_table(hits)
    _print_next(hits, query, index)


def print_answers(answers: Iterator[Hits], query: str, index: str) -> int:
    """Print each answer as it comes, the exact one only where it says something new. Returns the exit code."""
    last: Hits | None = None
    while (hits := _awaited(answers)) is not None:
        same = last is not None and _same_hits(last, hits)
        if last is not None:
            echo("The exact answer is the same." if same else "The exact answer:")
        if not same:
            _print_table(hits)
        last = hits
    assert last is not None  # every search has an answer
    _print_next(last, query, index)
    return 0 if last or last.to_append else 1


def _awaited(answers: Iterator[Hits]) -> Hits | None:
    with long_question("searching"):
        return next(answers, None)


def _same_hits(one: Hits, other: Hits) -> bool:
    shown = ([(hit.table, hit.columns, hit.overlap) for hit in hits] for hits in (one, other))
    return next(shown) == next(shown)


def _print_table(hits: Hits) -> None:
    if hits:
        print_table(*hits.shown(), NUMBERS, LOOSE)
    else:
        echo(hits.sentence)


def _print_next(hits: Hits, query: str, index: str) -> None:
    """What to do next, and what to know of the answer."""
    if hits.append_sentence:
        note(hits.append_sentence)
    if hits or hits.to_append:
        note(f"Try:  {shlex.join(_next_command(hits, query, index))}")
    elif hint := _hint(hits):
        echo(hint)
    if hits.note:
        note(hits.note)


def _next_command(hits: Hits, query: str, index: str) -> list[str]:
    """The command that joins the best hit, or appends it, ready to paste."""
    if not hits or hits[0].rather == "union":
        table = hits[0].table if hits else hits.to_append[0].table
        return ["dovetail", "union", query, table, "--index", str(index), "-o", "appended.parquet"]
    hit = hits[0]
    theirs = hit.columns * len(hit.on) if len(hit.columns) == 1 else hit.columns
    on = ",".join(f"{mine}={other}" for mine, other in zip(hit.on, theirs, strict=True))
    method = [] if hit.by == "equal" else ["--by", hit.by]
    if isinstance(hit, SemanticHit):
        method += ["--min-similarity", f"{hit.min_similarity:g}"]
    command = ["dovetail", "join", query, hit.table, "--index", str(index), "--on", on, *method]
    return [*command, "-o", "joined.parquet"]


def _hint(hits: Hits) -> str:
    """How to see the nearest matches."""
    if hits.by == "semantic":
        return "Try a lower --threshold, or a lower --min-similarity."
    least = min((hit.overlap for hit in hits.nearest), default=0)
    if hits.question == "containment" and least:
        return "Try a lower --threshold."
    return f"Try --min-overlap {least} to see them, or --on COLUMN to search with one column." if least > 1 else ""
