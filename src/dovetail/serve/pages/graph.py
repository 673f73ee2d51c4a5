"""Graph: components first, then tables, then foreign keys with their reasons; and the path between two tables."""

from __future__ import annotations

from nicegui import ui
from starlette.requests import Request

from dovetail.serve.pages.frame import (
    Desk,
    address,
    frame,
    heading,
    nothing,
    shown_in,
    soft,
    table_address,
    waiting,
)  # fmt: skip

EXPLORER = "/explorer"


def add(desk: Desk) -> None:
    @ui.page("/graph")
    async def graph(request: Request) -> None:
        with frame(request, "Graph", "Graph", wide=True) as page:
            place = ui.element("div").classes("w-full p-4")
            with place:
                waiting("Finding the keys of the whole lake. The first time takes a while; then they are kept …")
            await ui.context.client.connected()
            with shown_in(page):
                made = await desk.run_on_lake(desk.service.graph)
                place.clear()
                if not made.edges:
                    with place:
                        nothing("No table of the lake likely refers to another.")
                    return
                place.delete()
                ui.add_head_html(f'<link rel="stylesheet" href="{EXPLORER}/explorer.css">')
                root = ui.element("div").style("flex: 1 1 0; width: 100%; min-height: 0")
                ui.run_javascript(f"""
                    const script = document.createElement("script");
                    script.src = "{EXPLORER}/explorer.js";
                    script.onload = async () => {{
                        const answer = await fetch("{EXPLORER}.json");
                        const root = document.getElementById("c{root.id}");
                        const isDark = () => document.body.classList.contains("body--dark");
                        const dark = () => root.classList.toggle("dark", isDark());
                        dovetailExplorer(root, await answer.json());
                        dark();
                        new MutationObserver(dark).observe(document.body, {{attributeFilter: ["class"]}});
                    }};
                    document.head.appendChild(script);
                """)

    @ui.page("/paths")
    async def paths(request: Request, start: str = "", end: str = "") -> None:
        with frame(request, "Paths", "Graph") as page:
            heading("How two tables join over others")
            with ui.element("div").classes("dt-row"):
                first = ui.input("From table", value=start).props("outlined dense").style("flex: 1 1 14rem")
                last = ui.input("To table", value=end).props("outlined dense").style("flex: 1 1 14rem")
                ui.button("Find paths", on_click=lambda: ui.navigate.to(
                    address("/paths", start=first.value, end=last.value))).props("no-caps unelevated")  # fmt: skip
            if not (start and end):
                return
            place = ui.element("div").classes("w-full")
            with place:
                waiting("Looking for paths …")
            await ui.context.client.connected()
            with shown_in(page):
                found = await desk.run_on_lake(lambda: desk.service.paths(start, end))
                place.clear()
                with place:
                    if not found:
                        nothing(f"No path of at most three joins leads from {start} to {end}.")
                    for path in found:
                        with ui.element("div").classes("dt-card"):
                            with ui.element("div").classes("dt-row"):
                                for number, name in enumerate(path.tables):
                                    ui.label("–").classes("soft") if number else None
                                    ui.link(name, table_address(name))
                            soft(f"score {path.score:.2f}")
                            ui.label(path.sql()).classes("dt-code")
