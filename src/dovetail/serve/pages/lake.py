"""Lake: its tables by name, its columns by name or by value, and one table with the profiles of its columns."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from nicegui import events, ui
from starlette.requests import Request

from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading, shown_in

_LISTED, _FOUND, _PROFILES, _SAMPLE = 1_000, 200, 200, 5
_KINDS = {"name": "tables by name", "value": "columns by value", "column": "columns by name"}


def add(desk: Desk) -> None:
    @ui.page("/tables")
    async def tables(request: Request, pattern: str = "*") -> None:
        with frame(request, "Lake", "Lake") as page:
            parts.heading("The lake")
            _finder("name", pattern.strip("*"))
            async with loading(page, "Listing the tables …") as place:
                lines = await desk.run(lambda: desk.service.lake.tables(pattern))
                with filled(place):
                    _list(lines)

    @ui.page("/find")
    async def find(request: Request, value: str = "", column: str = "") -> None:
        with frame(request, "Find", "Lake") as page:
            parts.heading(f"Columns that contain {value!r}" if value else f"Columns called {column!r}")
            _finder("value" if value else "column", value or column.strip("*"))
            async with loading(page, "Looking …") as place:
                asked = {"value": value, "column": None} if value else {"value": None, "column": column or "*"}
                found = await desk.run(lambda: desk.service.find(**asked))
                with filled(place):
                    _found(found)

    @ui.page("/tables/{name:path}")
    async def table(request: Request, name: str) -> None:
        with frame(request, name, "Lake") as page:
            parts.heading(name)
            async with loading(page, "Opening the table …") as place:
                found = await desk.run(lambda: desk.service.lake.table(name))
                with filled(place):
                    _profile(found)
                if not found.error:
                    sample = ui.element("div").classes("w-full")
                    with shown_in(sample):
                        rows = await desk.run(lambda: desk.service.rows(name, 0, _SAMPLE))
                        parts.small_table(rows["columns"], rows["data"])


def _finder(kind: str, text: str) -> None:
    def go() -> None:
        typed = (words.value or "").strip()
        targets = {
            "name": parts.address("/tables", pattern=f"*{typed}*" if typed else None),
            "value": parts.address("/find", value=typed),
            "column": parts.address("/find", column=f"*{typed}*"),
        }
        ui.navigate.to(targets[what.value])

    with ui.element("div").classes("dt-row").props("role=search"):
        what = ui.select(_KINDS, value=kind).props("outlined dense aria-label='What to find'").classes("min-w-44")
        words = ui.input(value=text, placeholder="Part of a name, or a value").props("outlined dense autofocus") \
            .style("flex: 1 1 12rem").on("keydown.enter", go)  # fmt: skip
        ui.button("Find", on_click=go).props("no-caps unelevated")


def _list(lines: Any) -> None:
    if not lines:
        parts.nothing("No table of the lake is called so.")
        return
    parts.soft(f"{len(lines):,} tables" + (f", the first {_LISTED:,} shown" if len(lines) > _LISTED else "") + ".")
    rows = [[line.table, line.rows, line.columns, line.bytes, line.error or ""] for line in lines[:_LISTED]]
    fields = [
        {"headerName": "Table", "field": "table", "flex": 3, "minWidth": 200, "filter": True},
        {"headerName": "Rows", "field": "rows", "width": 110, "filter": "agNumberColumnFilter"},
        {"headerName": "Columns", "field": "columns", "width": 110, "filter": "agNumberColumnFilter"},
        {"headerName": "Bytes", "field": "bytes", "width": 120},
        {"headerName": "Not a table", "field": "error", "flex": 1, "minWidth": 120},
    ]
    data = [dict(zip(("table", "rows", "columns", "bytes", "error"), row, strict=True)) for row in rows]
    options = {"columnDefs": fields, "rowData": data}
    shown = ui.aggrid(options, html_columns=[], auto_size_columns=False).classes("dt-grid")
    shown.style("height: 34rem; cursor: pointer")

    def open_table(event: events.GenericEventArguments) -> None:
        ui.navigate.to(parts.table_address(event.args["data"]["table"]))

    shown.on("cellClicked", open_table, ["data"])
    entered = "(event) => { if (event.event && event.event.key === 'Enter') emit({data: event.data}) }"
    shown.on("cellKeyDown", open_table, js_handler=entered)


def _found(found: Any) -> None:
    if not found:
        parts.nothing("No column of the lake has it.")
        return
    parts.soft(f"{len(found):,} columns" + (f", the first {_FOUND} shown" if len(found) > _FOUND else "") + ".")
    for each in found[:_FOUND]:
        with ui.element("div").classes("dt-row small"):
            ui.link(each.table, parts.table_address(each.table))
            ui.label(each.column).classes("any")
            parts.soft(f"{each.type}, in {each.rows:,} row{'' if each.rows == 1 else 's'}")


def _profile(table: Any) -> None:
    if table.error:
        parts.nothing(f"This file is not a table: {table.error}.")
        return
    with ui.element("div").classes("dt-row"):
        parts.soft(f"{table.rows:,} rows, {len(table.columns):,} columns")
        with ui.element("div").classes("dt-row end").style("width: auto"):
            ui.link("Rows", parts.address("/rows", table=table.name))
            ui.link("Paths from it", parts.address("/paths", start=table.name))
            ui.link("In the graph", f"/graph#{urlencode({'table': table.name})}")
            target = parts.address("/search", table=table.name)
            ui.button("What joins with it?", on_click=lambda: ui.navigate.to(target)).props("no-caps unelevated")
    heads = ("column", "type", "distinct", "nulls", "most frequent", "range")
    with ui.element("div").classes("dt-scroll"), ui.element("table").classes("dt-table"):
        with ui.element("thead"), ui.element("tr"):
            for head in heads:
                with ui.element("th").props("scope=col"):
                    ui.label(head)
        with ui.element("tbody"):
            for column in table.columns[:_PROFILES]:
                _column(column)
    if len(table.columns) > _PROFILES:
        parts.soft(f"The first {_PROFILES} of {len(table.columns):,} columns.")


def _column(column: Any) -> None:
    record = column.record
    with ui.element("tr"):
        with ui.element("td"):
            ui.label(column.name + (" (key)" if column.key else ""))
        for text in (column.type, f"{column.distinct:,}", f"{column.nulls:,}"):
            with ui.element("td"):
                ui.label(text)
        with ui.element("td"):
            _histogram(record.top)
        with ui.element("td"):
            ui.label(f"{record.minimum} … {record.maximum}" if record.minimum else "")


def _histogram(top: Any) -> None:
    """The most frequent values, as small bars; the first is named."""
    most = max((rows for _, rows in top), default=0)
    with ui.element("div").classes("dt-row").style("flex-wrap: nowrap; gap: .5rem"):
        with ui.element("div").classes("dt-bars").props("aria-hidden=true"):
            for value, rows in top:
                ui.element("div").style(f"height: {max(1, round(22 * rows / most))}px").tooltip(f"{value}: {rows:,}")
        if top:
            ui.label(f"{top[0][0]} ({top[0][1]:,})")
