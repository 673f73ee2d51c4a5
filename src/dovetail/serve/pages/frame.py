"""What all pages share: the head with its links, how they wait, and how they fail."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import resources
from typing import Any, TypeVar

from nicegui import Client, app, ui
from starlette.requests import Request
from starlette.responses import Response

from dovetail._cancel import Cancelled
from dovetail.serve.pages import parts
from dovetail.serve.problems import explained
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.work import Workers

T = TypeVar("T")
LINKS = {"Search": "/", "Lake": "/tables", "Graph": "/graph", "Decisions": "/decisions"}
_DARK = "dovetail_dark"


class Desk:
    """What a page works with: the service, and threads to ask it in."""

    def __init__(self, service: Service, workers: Workers, read_only: bool) -> None:
        self.service, self.workers, self.read_only = service, workers, read_only
        self._tables: tuple[int, list[str]] = (0, [])

    async def run(self, work: Callable[[], T]) -> T:
        """Look something up for somebody who looks at a page; it ends when the page is closed."""
        return await self.workers.run(work, self._has_left())

    async def run_on_lake(self, work: Callable[[], T]) -> T:
        return await self.workers.run_on_lake(work, self._has_left())

    async def ask(self, verb: str, **options: Any) -> Any:
        """Ask a question about tables."""
        return await self.workers.ask(Question(verb, options), self._has_left())

    def stages(self, verb: str, **options: Any) -> AsyncIterator[Any]:
        return self.workers.stages(Question(verb, options), self._has_left())

    def tables(self) -> list[str]:
        """The names of all tables of the lake, found once for a generation."""
        lake = self.service.lake
        if self._tables[0] != lake.generation:
            self._tables = lake.generation, [line.table for line in lake.tables() if not line.error]
        return self._tables[1]

    @staticmethod
    def _has_left() -> Any:
        client = ui.context.client.id

        async def has_left() -> bool:
            return client not in Client.instances

        return has_left


@contextlib.contextmanager
def frame(request: Request, title: str, here: str = "", wide: bool = False) -> Iterator[Any]:
    """A page under the head. The link at its end leads to the same as JSON."""
    stored = request.cookies.get(_DARK)
    dark = ui.dark_mode(None if stored is None else stored == "1")
    ui.colors(primary="#2563a8")
    ui.page_title(f"{title} · Dovetail")
    ui.add_css(resources.files(__package__).joinpath("theme.css").read_text(encoding="utf-8"))
    with ui.element("header").classes("dt-head"):
        ui.link("Dovetail", "/").classes("name")
        for name, target in LINKS.items():
            ui.link(name, target).classes("here" if name == here else "")
        with ui.element("div").classes("end"):
            ui.link("JSON", _as_json(request)).classes("wide-only").tooltip("The data of this page")
            _dark_switch(dark)
    with ui.element("div").classes("dt-page wide" if wide else "dt-page") as page:
        yield page


def add_missing_page() -> None:
    """The page at addresses that lead nowhere."""

    async def missing(request: Request, _: Exception) -> Response:
        with Client(ui.page(""), request=request) as client, frame(request, "Nothing here"):
            parts.problem("There is nothing at this address.")
        return client.build_response(request, 404)

    app.add_exception_handler(404, missing)


def _dark_switch(dark: ui.dark_mode) -> None:
    def turn() -> None:
        ui.run_javascript(
            "const dark = !document.body.classList.contains('body--dark'); emitEvent('dark', dark);"
            f"document.cookie = `{_DARK}=${{Number(dark)}};path=/;max-age=31536000;samesite=strict`"
        )

    ui.on("dark", lambda event: dark.set_value(event.args))
    ui.button(icon="contrast", on_click=turn).props("flat dense round aria-label='Dark or light'")


def _as_json(request: Request) -> str:
    path = request.url.path if request.url.path != "/" else "/tables"
    return f"{path}.json" + (f"?{request.url.query}" if request.url.query else "")


@contextlib.asynccontextmanager
async def loading(page: Any, sentence: str) -> AsyncIterator[Any]:
    """A place that says what the page waits for, until it is filled. What goes wrong is shown there as a sentence."""
    place = ui.element("div").classes("dt-column")
    with place:
        parts.waiting(sentence)
    await ui.context.client.connected()
    with shown_in(page):
        yield place


@contextlib.contextmanager
def filled(place: Any) -> Iterator[None]:
    """What is made in the context replaces what was there."""
    place.clear()
    with place:
        yield


@contextlib.contextmanager
def shown_in(place: Any) -> Iterator[None]:
    """What goes wrong in the context is shown in a place of the page, as one sentence."""
    try:
        with place:
            yield
    except Cancelled:
        return
    except Exception as error:  # noqa: BLE001  # logged, and shown as a sentence
        told = explained(error, "a page")
        place.clear()
        with place:
            parts.problem(str(told))
