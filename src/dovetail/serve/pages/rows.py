"""A table that somebody sent or made: its rows, how it was made, downloads, SQL, and where to go on from it."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.serve.code import python_code, spark_code
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading, shown_in

_ROWS = 1_000
_FIRST_QUERY = "SELECT * FROM result LIMIT 10"
_FORMATS = {"csv": "CSV", "parquet": "Parquet", "xlsx": "Excel"}


def add(desk: Desk) -> None:
    @ui.page("/rows")
    async def rows(request: Request, table: str = "") -> None:
        await _page(request, desk, table, "")

    @ui.page("/sql")
    async def sql(request: Request, table: str = "", query: str = "") -> None:
        await _page(request, desk, table, query)


async def _page(request: Request, desk: Desk, table: str, query: str) -> None:
    if not table:
        ui.navigate.to("/")
        return
    with frame(request, "Table", "Search") as page:
        async with loading(page, "Opening the table …") as place:
            found = await desk.run(lambda: desk.service.rows(table, 0, _ROWS))
            history = await desk.run(lambda: desk.service.history(table))
            with filled(place):
                _head(found, history, table, desk.service.index)
                parts.grid(found["columns"], found["data"], found["rows"])
                _sql(table, query or _FIRST_QUERY)
            if query:
                await _answer(desk, table, query)


def _head(found: dict[str, Any], history: list[dict[str, Any]], table: str, index: str) -> None:
    parts.heading(found["title"])
    parts.steps(history)
    with ui.element("div").classes("dt-row"):
        parts.soft(f"{found['rows']:,} rows, {len(found['columns']):,} columns")
        with ui.element("div").classes("dt-row end").style("width: auto"):
            for suffix, name in _FORMATS.items():
                ui.link(name, parts.address(f"/download.{suffix}", table=table))
            target = parts.address("/search", table=table)
            ui.button("Search with this table", on_click=lambda: ui.navigate.to(target)).props("no-caps unelevated")
    with ui.element("div").classes("dt-row"):
        parts.copied(python_code(index, history), "Copy as Python")
        spark = spark_code(index, history)
        if spark:
            parts.copied(spark, "Copy as PySpark")


def _sql(table: str, query: str) -> None:
    """A query over the table. Its answer has an address of its own."""
    with ui.element("section").classes("dt-card"):
        parts.heading("SQL on this table", 2)
        parts.soft("One SELECT of DuckDB; the table is called result. It sees nothing but this table.")
        written = ui.textarea(value=query).props("outlined dense autogrow aria-label='SQL'").classes("w-full font-mono")
        written.on("keydown.ctrl.enter", lambda: run())

        def run() -> None:
            ui.navigate.to(parts.address("/sql", table=table, query=written.value))

        ui.button("Run (Ctrl+Enter)", on_click=run).props("outline no-caps")


async def _answer(desk: Desk, table: str, query: str) -> None:
    state = ui.element("div").classes("w-full").props("aria-live=polite")
    with state:
        parts.waiting("Running the query …")
    with shown_in(state):
        found = await desk.ask("sql", table=table, query=query, rows=_ROWS)
        state.clear()
        with ui.element("div").classes("dt-row"):
            parts.heading(f"{found['rows']:,} rows", 2)
            ui.link("Go on with this result", parts.address("/rows", table=found["table"])).classes("end")
        parts.grid(found["columns"], found["data"], found["rows"])
