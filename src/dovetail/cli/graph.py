"""`dovetail graph`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import arguments, index_option, json_option, split_index
from dovetail.cli.output import count, note, print_json, print_table
from dovetail.cli.progress import long_question
from dovetail.evidence.thresholds import LIKELY_REFERENCE
from dovetail.graph.arrow_answer import check_suffix
from dovetail.graph.join_graph import EDGES, SUFFIXES

_NOUNS = {"keys": ("likely foreign key",), "inds": ("inclusion dependency", "inclusion dependencies")}


@click.command("graph", short_help="Show which tables are connected, and write the join graph.")
@arguments("")
@index_option
@click.option(
    "--min-score", type=click.FloatRange(0, 1), help=f"The lowest score of a foreign key. Default: {LIKELY_REFERENCE}."
)
@click.option(
    "--edges", type=click.Choice(EDGES), default=EDGES[0], show_default=True,
    help="Likely foreign keys, or the best inclusion dependencies.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option(
    "--html", "page", type=click.Path(path_type=Path), help="Write one HTML file to explore the graph in a browser."
)
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="How many hubs to print.")
@json_option
def graph_command(
    arguments: tuple[str, ...],
    index: str | None,
    min_score: float | None,
    edges: str,
    output: Path | None,
    page: Path | None,
    k: int,
    as_json: bool,
) -> int:
    """Show which tables are connected by likely foreign keys, and around which columns.

    A hub is a kind of thing that many columns are about, such as countries by code: all columns that refer to each
    other, directly or not, are one hub.

    \b
    Example:
      dovetail graph ./idx -o joins.graphml
      dovetail graph ./idx --html lake.html
      dovetail graph ./idx -o diagram.mmd
    """
    if output:
        check_suffix(output, SUFFIXES)
    if page:
        check_suffix(page, (".html",))
    index, _ = split_index(index, arguments)
    with long_question() as progress:
        graph = Lake(index).graph(min_score, edges=edges, progress=progress)
        components, hubs = graph.components(), graph.hubs()
        for path in filter(None, (output, page)):
            graph.write(path)
    if as_json:
        print_json({**graph.to_json(), "output": str(output) if output else None})
        return 0 if graph.edges else 1
    connected = sum(map(len, components))
    note(
        f"{count(len(graph.tables), 'table')}, {count(len(graph.edges), *_NOUNS[edges])}. "
        f"{count(connected, 'table is', 'tables are')} connected, in {count(len(components), 'component')}."
    )
    if hubs:
        rows = [(hub.table, hub.column, hub.columns, hub.tables, hub.edges) for hub in hubs[:k]]
        print_table(
            ("table", "hub", "columns", "tables", "edges"), rows, numbers=("columns", "tables", "edges"),
            loose={"table": 20, "hub": 12},
        )  # fmt: skip
    if len(hubs) > k:
        note(f"… and {count(len(hubs) - k, 'more hub')}.")
    for path in filter(None, (output, page)):
        note(f"Written to {path}.")
    return 0 if graph.edges else 1
