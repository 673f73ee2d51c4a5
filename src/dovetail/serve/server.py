"""The server: REST, tools for assistants and pages at one address."""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException

from dovetail import __version__
from dovetail._cancel import Cancelled
from dovetail.errors import DovetailError, InputError
from dovetail.serve.guard import Guard
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Busy, explained, status_of
from dovetail.serve.rest import Rest
from dovetail.serve.service import Service
from dovetail.serve.tools import Tools
from dovetail.serve.work import Workers

_WARMING = 600.0  # seconds, generously: kernels compile in the first run after an installation
_ADDRESS = 2_000_000  # bytes of an address with its headers, generously: 100,000 characters may be a million
_GRACE = 2  # seconds for answers that are under way when the server ends
_CONNECTIONS = 1_000  # at the same time; arbitrary, below what a process may open by default (1,024)
_LEFT = 499  # as nginx says it; nobody reads it


class Server:
    """Everything that answers at one address."""

    def __init__(
        self, index: str, limits: Limits | None = None, token: str | None = None, read_only: bool = False,
        keep: Path | None = None, pages: bool = True,
    ) -> None:  # fmt: skip
        self._own = None if keep else tempfile.TemporaryDirectory(prefix="dovetail-serve-")
        self.service = Service(index, keep or Path(self._own.name), limits)  # type: ignore[union-attr]
        self.workers = Workers(self.service)
        self.api = FastAPI(
            title="Dovetail", version=__version__, lifespan=self._life, docs_url=None, redoc_url=None,
            description="Finds, explains and makes joins in a data lake.",
        )  # fmt: skip
        _add_problem_handlers(self.api)
        self.api.include_router(Rest(self.service, self.workers, read_only).router)
        self._tools = Tools(self.service, self.workers, read_only).server
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard has checked the host
        self.api.router.routes.extend(self._tools.streamable_http_app(transport_security=unchecked).routes)
        if pages:
            from dovetail.serve.pages import add_pages

            add_pages(self.api, self.service, self.workers, read_only)
        self.failure: Exception | None = None
        """Why the server could not start."""
        self.app = Guard(self.api, token, self.service.limits.upload_bytes)

    @contextlib.asynccontextmanager
    async def _life(self, _: FastAPI) -> AsyncIterator[None]:
        async with self._tools.session_manager.run():
            try:
                await self.workers.run(self.workers.warm_up, seconds=_WARMING)
            except Exception as error:  # noqa: BLE001, raised by `listen`: here, uvicorn would print a traceback of it
                self.failure = error
            yield
        self.workers.close()
        if self._own:
            self._own.cleanup()


def _add_problem_handlers(app: FastAPI) -> None:
    @app.exception_handler(DovetailError)
    async def known(_: Request, error: DovetailError) -> JSONResponse:
        again = {"retry-after": str(error.seconds)} if isinstance(error, Busy) else None
        return _problem(status_of(error), str(error), again)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return _problem(422, _sentence(error))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, f"{error.detail}.", error.headers)

    @app.exception_handler(Cancelled)
    async def left(_: Request, error: Cancelled) -> JSONResponse:
        return _problem(_LEFT, "The client has left.")

    @app.exception_handler(OSError)  # what is handled as an Exception reaches the web server as well, with a traceback
    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        told = explained(error, request.url.path)
        return _problem(status_of(told), str(told))


def _problem(status: int, sentence: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status, headers)


def _sentence(error: RequestValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return f"`{name}`: {first['msg']}."


def listen(server: Server, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Answer until the process is told to end. `tell` gets the address once there is one."""
    import uvicorn

    from dovetail.serve.connections import PatientProtocol

    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InputError(f"Cannot listen at {host}, port {port}: {error.strerror}.") from error
    name = f"[{host}]" if ":" in host else host
    # Of uvicorn's two parsers, h11 is the one that takes long addresses, as those of a shared query are.
    config = uvicorn.Config(
        server.app, http=PatientProtocol, h11_max_incomplete_event_size=_ADDRESS, log_level="warning",
        timeout_graceful_shutdown=_GRACE, limit_concurrency=_CONNECTIONS,
    )  # fmt: skip

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if server.failure:
                self.should_exit = True
            else:
                tell(f"http://{name}:{listening.getsockname()[1]}")

    with listening:
        Told(config).run(sockets=[listening])
    if server.failure:
        server.workers.close()
        raise server.failure
