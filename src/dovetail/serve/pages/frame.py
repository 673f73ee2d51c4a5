"""What all pages share: the head with its links, how tables are shown, and how waiting, nothing and failure look.

Everything that comes from a table is set as text, never as HTML.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from importlib import resources
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from nicegui import Client, ui
from starlette.requests import Request

from dovetail._cancel import Cancelled
from dovetail.errors import DovetailError
from dovetail.serve.kept import is_kept
from dovetail.serve.problems import UNEXPECTED
from dovetail.serve.question import Question
from dovetail.serve.service import Service
from dovetail.serve.work import Workers

T = TypeVar("T")
LINKS = {"Search": "/", "Lake": "/tables", "Graph": "/graph", "Decisions": "/decisions"}
SHOWN_COLUMNS = 200  # of a table: more than anybody looks through
_GRID_ROWS = 1_000
_FEW_ROWS = 10  # so many need no scrolling
_DARK = "dovetail_dark"
_log = logging.getLogger("dovetail.serve")


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


def _dark_switch(dark: ui.dark_mode) -> None:
    def set_dark(value: bool) -> None:
        dark.set_value(value)
        ui.run_javascript(f"document.cookie = '{_DARK}={int(value)};path=/;max-age=31536000;samesite=strict'")

    ui.button(icon="light_mode", on_click=lambda: set_dark(False)).props("flat dense round aria-label='Light'")
    ui.button(icon="dark_mode", on_click=lambda: set_dark(True)).props("flat dense round aria-label='Dark'")


def _as_json(request: Request) -> str:
    path = request.url.path if request.url.path != "/" else "/tables"
    return f"{path}.json" + (f"?{request.url.query}" if request.url.query else "")


def heading(text: str, level: int = 1) -> None:
    with ui.element(f"h{level}"):
        ui.label(text)


def soft(text: str) -> ui.label:
    return ui.label(text).classes("soft small any")


def waiting(text: str) -> None:
    with ui.element("div").classes("dt-state").props("role=status"), ui.element("div").classes("dt-row justify-center"):
        ui.spinner(size="1.2em")
        ui.label(text)


def nothing(text: str) -> None:
    with ui.element("div").classes("dt-state"):
        ui.label(text)


def problem(text: str) -> None:
    with ui.element("div").classes("dt-state problem").props("role=alert"):
        ui.label(text)
        ui.link("Start again with a table", "/").classes("small")


@contextlib.contextmanager
def shown_in(place: Any) -> Iterator[None]:
    """What goes wrong in the context is shown in a place of the page, as one sentence."""
    try:
        with place:
            yield
    except Cancelled:
        return
    except Exception as error:  # noqa: BLE001  # logged, and shown as a sentence
        if not isinstance(error, DovetailError):
            _log.error("a page failed", exc_info=error)
        place.clear()
        with place:
            problem(str(error) if isinstance(error, DovetailError) else UNEXPECTED)


def chip(text: str, action: Callable[[], Any], chosen: bool = False) -> None:
    pressed = f"type=button aria-pressed={str(chosen).lower()}"
    with ui.element("button").classes("dt-chip" + (" chosen" if chosen else "")).props(pressed).on("click", action):
        ui.label(text)


def share(likely: float) -> None:
    """A probability, as a bar and as a number."""
    with ui.element("div").classes("dt-bar"):
        ui.element("div").style(f"width: {likely:.0%}")
    ui.label(f"{likely:.0%} likely").classes("small")


def small_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A few rows, as a plain table."""
    names = columns[:SHOWN_COLUMNS]
    with ui.element("div").classes("dt-scroll"), ui.element("table").classes("dt-table"):
        with ui.element("thead"), ui.element("tr"):
            for name in names:
                with ui.element("th").props("scope=col"):
                    ui.label(name)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for cell in row[:SHOWN_COLUMNS]:
                        with ui.element("td"):
                            ui.label("" if cell is None else str(cell))
    if len(columns) > len(names):
        soft(f"The first {len(names)} of {len(columns):,} columns.")


def grid(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> None:
    """Many rows, to sort, filter and scroll. Fields are numbered: a dot in a name would be taken for a path."""
    names = columns[:SHOWN_COLUMNS]
    fields = [{"headerName": name, "field": f"c{place}", "sortable": True, "filter": True, "resizable": True}
              for place, name in enumerate(names)]  # fmt: skip
    data = [{f"c{place}": cell for place, cell in enumerate(row[:SHOWN_COLUMNS])} for row in rows[:_GRID_ROWS]]
    options = {"columnDefs": fields, "rowData": data, "enableCellTextSelection": True}
    few = len(data) <= _FEW_ROWS
    shown = ui.aggrid(
        options | {"domLayout": "autoHeight"} if few else options, html_columns=[], auto_size_columns=False
    )
    shown.classes("dt-few" if few else "dt-grid")
    parts = [f"the first {len(data):,} of {total:,} rows"] if total > len(data) else []
    parts += [f"the first {len(names)} of {len(columns):,} columns"] if len(columns) > len(names) else []
    if parts:
        soft(f"Shown: {', '.join(parts)}. Downloads have all.")


def address(path: str, **options: Any) -> str:
    """An address on this server, with the options that are set."""
    given = {name.rstrip("_"): value for name, value in options.items() if value not in (None, "", False, ())}
    return path + (f"?{urlencode(given)}" if given else "")


def table_address(name: str) -> str:
    """The page of a table: of the lake, or made by somebody."""
    return address("/rows", table=name) if is_kept(name) else f"/tables/{quote(name)}"


def copied(text: str, label: str) -> None:
    """A button that copies a text."""
    ui.button(label, on_click=lambda: _copy(text)).props("flat dense no-caps size=sm")


def _copy(text: str) -> None:
    ui.clipboard.write(text)
    ui.notify("Copied.")


def steps(history: Sequence[dict[str, Any]]) -> None:
    """How a table was made: each step can be visited again."""
    if len(history) < 2:
        return
    with ui.element("nav").classes("dt-row small").props("aria-label='Steps'"):
        for place, step in enumerate(history):
            if place:
                ui.label("→").classes("soft")
            ui.link(_said(step), table_address(step["table"]))


def _said(table: dict[str, Any]) -> str:
    step = table["step"]
    if step is None:
        return str(table["title"])
    what = f"joined with {step['with']}" if step["verb"] == "join" else "SQL"
    return f"{what} ({table['rows']:,} rows)"
