"""Decisions: what people said about columns, which later answers follow."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.serve.pages.frame import Desk, frame, heading, nothing, shown_in, soft, table_address, waiting


def add(desk: Desk) -> None:
    @ui.page("/decisions")
    async def decisions(request: Request) -> None:
        with frame(request, "Decisions", "Decisions") as page:
            heading("What was decided")
            soft("Searches, joins, keys and paths follow these. Decide about more in the hits of a table of the lake.")
            place = ui.element("div").classes("w-full").style("display: flex; flex-direction: column; gap: .6rem")
            with place:
                waiting("Reading …")
            await ui.context.client.connected()
            with shown_in(page):
                await _list(desk, place)


async def _list(desk: Desk, place: Any) -> None:
    kept = await desk.run(desk.service.lake.decisions)
    place.clear()
    with place:
        if not kept:
            nothing("Nothing was decided yet.")
        for decision in kept:
            _line(desk, place, decision)


def _line(desk: Desk, place: Any, decision: Any) -> None:
    pairs = list(zip(decision.left_columns, decision.right_columns, strict=True))

    async def forget() -> None:
        with shown_in(place):
            await desk.run(lambda: desk.service.lake.forget(decision.left_table, decision.right_table, pairs))
            await _list(desk, place)

    with ui.element("div").classes("dt-card"), ui.element("div").classes("dt-row"):
        said, tone = ("join", "good") if decision.verdict == "joins" else ("never join", "bad")
        ui.label(said).classes(tone)
        ui.link(decision.left_table, table_address(decision.left_table))
        ui.label(decision.condition).classes("any")
        ui.link(decision.right_table, table_address(decision.right_table))
        soft(decision.sentence)
        if not desk.read_only:
            ui.button("Forget", on_click=forget).props("flat dense no-caps size=sm").classes("end")
