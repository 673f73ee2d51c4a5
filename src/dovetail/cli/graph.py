"""`dovetail graph`"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.api.lake import Lake
from dovetail.cli.options import json_option
from dovetail.cli.output import count, print_json, print_table
from dovetail.graph.export import SUFFIXES
from dovetail.graph.foreign_keys import LIKELY
from dovetail.graph.output import check_suffix


@click.command("graph", short_help="Show what hangs together in the lake, and write the join graph.")
@click.argument("index", type=click.Path(path_type=Path))
@click.option(
    "--min-score", type=click.FloatRange(0, 1), default=LIKELY, show_default=True, help="The least score of an edge."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help=f"Write to a file: {', '.join(SUFFIXES)}.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many lines to print.")
@json_option
def graph_command(index: Path, min_score: float, output: Path | None, limit: int, as_json: bool) -> int:
    """Show which tables of the lake in INDEX hang together by likely foreign keys, and around which columns.

    A hub is a kind of thing that many columns speak of, such as countries by code: all columns that refer to each
    other, directly or over others, are one hub.

    \b
    Example:
      dovetail graph ./idx -o joins.graphml
    """
    if output:
        check_suffix(output, SUFFIXES)
    graph = Lake(index).graph(min_score)
    components, hubs = graph.components(), graph.hubs()
    if output:
        graph.write(output)
    if as_json:
        print_json(
            {
                "tables": len(graph.tables),
                "edges": len(graph.edges),
                "components": components,
                "hubs": hubs.to_dicts(),
                "output": str(output) if output else None,
            }
        )
        return 0 if graph.edges else 1
    joined = sum(map(len, components))
    click.echo(
        f"{count(len(graph.tables), 'table')}, {count(len(graph.edges), 'likely foreign key')}. "
        f"{joined:,} of the tables hang together in {count(len(components), 'component')}."
    )
    if hubs:
        rows = [(hub.table, hub.column, hub.columns, hub.tables, hub.edges) for hub in hubs[:limit]]
        print_table(("table", "hub", "columns", "tables", "edges"), rows, numbers=("columns", "tables", "edges"))
    if len(hubs) > limit:
        click.echo(f"… and {count(len(hubs) - limit, 'more hub')}.")
    if output:
        click.echo(f"Written: {output}")
    return 0 if graph.edges else 1
