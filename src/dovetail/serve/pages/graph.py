"""Graph: components first, then tables, then edges with their reasons; and the path between two tables."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.graph.join_graph import EDGES
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading

EXPLORER = "/explorer"
_EDGES = {"keys": "likely foreign keys", "inds": "inclusion dependencies"}
_WAITING = {
    "keys": "Finding the keys of the whole lake. The first time takes a while; then they are kept …",
    "inds": "Comparing all columns of the lake …",
}
assert tuple(_EDGES) == EDGES


def add(desk: Desk) -> None:
    @ui.page("/graph")
    async def graph(request: Request, edges: str = EDGES[0]) -> None:
        kind = edges if edges in EDGES else EDGES[0]
        with frame(request, "Graph", "Graph", wide=True) as page:
            _switch(kind)
            async with loading(page, _WAITING[kind]) as place:
                made = await desk.run_on_lake(lambda: desk.service.graph(edges=kind))
                place.clear()
                if made.edges:
                    place.delete()
                    _explore(kind)
                    return
                with place:
                    parts.nothing(f"There are no {_EDGES[kind]} between tables of the lake.")

    @ui.page("/paths")
    async def paths(request: Request, start: str = "", end: str = "") -> None:
        with frame(request, "Paths", "Graph") as page:
            parts.heading("How two tables join over others")
            _ends(start, end)
            if not (start and end):
                return
            async with loading(page, "Looking for paths …") as place:
                found = await desk.run_on_lake(lambda: desk.service.paths(start, end))
                with filled(place):
                    if not found:
                        parts.nothing(f"No path of at most three joins leads from {start} to {end}.")
                    for path in found:
                        _path(path)


def _switch(kind: str) -> None:
    with ui.element("div").classes("dt-row dt-switch").props("role=group aria-label='Edges'"):
        for name, words in _EDGES.items():
            target = parts.address("/graph", edges=None if name == EDGES[0] else name)
            parts.chip(words, partial(ui.navigate.to, target), name == kind)
        ui.link("The path between two tables", "/paths").classes("small end")


def _explore(kind: str) -> None:
    """The explorer that `graph --html` writes, over the same data."""
    ui.add_head_html(f'<link rel="stylesheet" href="{EXPLORER}/explorer.css">')
    root = ui.element("div").style("flex: 1 1 0; width: 100%; min-height: 0")
    ui.run_javascript(f"""
        const script = document.createElement("script");
        script.src = "{EXPLORER}/explorer.js";
        script.onload = async () => {{
            const answer = await fetch("{EXPLORER}.json?edges={kind}");
            const root = document.getElementById("c{root.id}");
            const isDark = () => document.body.classList.contains("body--dark");
            const dark = () => root.classList.toggle("dark", isDark());
            dovetailExplorer(root, await answer.json());
            dark();
            new MutationObserver(dark).observe(document.body, {{attributeFilter: ["class"]}});
        }};
        document.head.appendChild(script);
    """)


def _ends(start: str, end: str) -> None:
    def go() -> None:
        ui.navigate.to(parts.address("/paths", start=first.value, end=last.value))

    with ui.element("div").classes("dt-row"):
        first = ui.input("From table", value=start).props("outlined dense").style("flex: 1 1 14rem")
        last = ui.input("To table", value=end).props("outlined dense").style("flex: 1 1 14rem")
        for field in (first, last):
            field.on("keydown.enter", go)
        ui.button("Find paths", on_click=go).props("no-caps unelevated")


def _path(path: Any) -> None:
    with ui.element("div").classes("dt-card"):
        with ui.element("div").classes("dt-row"):
            for number, name in enumerate(path.tables):
                if number:
                    ui.label("–").classes("soft")
                ui.link(name, parts.table_address(name))
        parts.soft(f"score {path.score:.2f}")
        ui.label(path.sql()).classes("dt-code")
        with ui.element("div").classes("dt-row"):
            parts.copied(path.sql(), "Copy SQL")
