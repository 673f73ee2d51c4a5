"""`dovetail mcp`"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import click

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, index_option, split_index
from dovetail.cli.serve import require_serve


@click.command("mcp", short_help="Offer an index to an AI assistant, as tools.")
@arguments("")
@index_option
@click.option("--write", is_flag=True, help="Also offer to keep decisions with the index.")
def mcp_command(arguments: tuple[str, ...], index: str | None, write: bool) -> int:
    """Offer the questions that INDEX answers as tools of the Model Context Protocol, over standard input and output.

    Assistants start this command themselves. Over HTTP, `dovetail serve` offers the same tools at /mcp.

    \b
    Example:
      dovetail mcp ./idx
    """
    folder, _ = split_index(index, arguments)
    require_serve()
    from dovetail.serve.service import Service
    from dovetail.serve.tools import Tools
    from dovetail.serve.work import Workers

    interrupted = contextlib.suppress(KeyboardInterrupt)
    with interrupted, stops_in_order(), tempfile.TemporaryDirectory(prefix="dovetail-mcp-") as kept:
        service = Service(folder, Path(kept))
        Tools(service, Workers(service), read_only=not write).server.run("stdio")
    return 0
