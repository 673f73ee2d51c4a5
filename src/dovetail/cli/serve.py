"""`dovetail serve`, and `dovetail mcp`: an index for people, programs and assistants."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.options import arguments, index_option, split_index
from dovetail.cli.output import echo
from dovetail.errors import InputError

LOOPBACK, PORT = "127.0.0.1", 8484  # arbitrary, and free on most machines
TOKEN_VARIABLE = "DOVETAIL_TOKEN"
_LIBRARIES = ("fastapi", "mcp", "nicegui", "openpyxl", "python_multipart", "uvicorn")


def require_serve() -> None:
    """Say what to install where the libraries of a server are missing."""
    missing = next((name for name in _LIBRARIES if find_spec(name) is None), None)
    if missing:
        raise InputError(f"{missing} is not installed: pip install 'dovetail-lake[serve]'.")


@click.command("serve", short_help="Serve an index: pages, REST and tools for assistants.")
@arguments("")
@index_option
@click.option("--host", default=LOOPBACK, show_default=True, help="Where to listen; elsewhere a token is needed.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    help=f"What clients must know. Default: {TOKEN_VARIABLE}, or else a new one where other machines can ask.",
)
@click.option("--read-only", is_flag=True, help="Keep no decisions of clients with the index.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for uploads and results, so that shared addresses outlive the server. Default: a temporary one.",
)
@click.option("--upload-mb", type=click.IntRange(min=1), default=100, show_default=True, help="The largest upload.")
@click.option("--rows", type=click.IntRange(min=1), default=5_000_000, show_default=True, help="The most joined rows.")
@click.option(
    "--workers",
    type=click.IntRange(min=0, max=64),
    help="Processes that answer questions about tables. Default: one for each core, at most 8; 0 answers in threads.",
)
@click.option("--seconds", type=click.FloatRange(min=1), default=60, show_default=True, help="The longest question.")
def serve_command(
    arguments: tuple[str, ...],
    index: str | None,
    host: str,
    port: int,
    token: str | None,
    read_only: bool,
    keep: Path | None,
    upload_mb: int,
    rows: int,
    workers: int | None,
    seconds: float,
) -> int:
    """Serve INDEX at one address: pages for people, REST with OpenAPI for programs, and MCP for assistants.

    Pages are at /, the description of REST at /openapi.json, MCP at /mcp. The data of every page is at the same address
    with .json. A new generation of the index is noticed while the server runs.

    \b
    Example:
      dovetail serve ./idx
      dovetail serve ./idx --host 0.0.0.0 --token "$(openssl rand -hex 16)"
    """
    folder, _ = split_index(index, arguments)
    require_serve()
    from dovetail.serve.guard import is_loopback
    from dovetail.serve.limits import Limits, processes_by_cores
    from dovetail.serve.server import Server, listen

    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(16)
    processes = processes_by_cores() if workers is None else workers
    limits = Limits(upload_mb=upload_mb, rows=rows, seconds=seconds, processes=processes)
    server = Server(folder, limits, token, read_only, keep)

    def tell(address: str) -> None:
        echo(f"Dovetail at {address}" + (f"/?token={token}" if token else ""))

    with contextlib.suppress(KeyboardInterrupt), stops_in_order():
        listen(server, host, port, tell)
    return 0


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
