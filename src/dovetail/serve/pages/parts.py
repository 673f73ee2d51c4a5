"""The parts that pages are made of: headings, states, tables, links.

Everything that comes from a table is set as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui

from dovetail.serve.kept import is_kept

SHOWN_COLUMNS = 200  # of a table: more than anybody looks through
_GRID_ROWS = 1_000
_FEW_ROWS = 10  # so many need no scrolling


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


def chip(text: str, action: Callable[[], Any], chosen: bool = False) -> None:
    pressed = f"type=button aria-pressed={str(chosen).lower()}"
    with ui.element("button").classes("dt-chip" + (" chosen" if chosen else "")).props(pressed).on("click", action):
        ui.label(text)


def share(likely: float) -> None:
    """A probability, as a bar and as a number."""
    with ui.element("div").classes("dt-bar"):
        ui.element("div").style(f"width: {likely:.0%}")
    ui.label(f"{likely:.0%} likely").classes("small")


def reasons(good: Sequence[str], bad: Sequence[str]) -> None:
    """What speaks for something and what against it."""
    for texts, tone, mark in ((good, "good", "+"), (bad, "bad", "–")):
        for text in texts:
            ui.label(f"{mark} {text}").classes(f"{tone} small any")


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
    ui.button(label, on_click=lambda: _copy(text)).props("flat dense no-caps")


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
