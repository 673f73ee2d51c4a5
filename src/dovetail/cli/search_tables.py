"""What `dovetail search` prints for people: hits as a table, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from dovetail.cli.output import echo, note, print_table
from dovetail.cli.progress import long_question
from dovetail.search.hits import LOOSE, NUMBERS, Hits
from dovetail.search.semantic.hit import SemanticHit


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
