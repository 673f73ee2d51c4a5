"""Decisions: what people said about columns and values, which later answers follow."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.catalog.decisions import JOINS
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading, shown_in


def add(desk: Desk) -> None:
    @ui.page("/decisions")
    async def decisions(request: Request) -> None:
        with frame(request, "Decisions", "Decisions") as page:
            parts.heading("What was decided")
            parts.soft("Searches, joins, keys and paths follow decisions about columns, and joins those about values.")
            parts.soft("Decide in the hits of a table of the lake, and on the pairs of values of a join.")
            async with loading(page, "Reading …") as place:
                await _list(desk, place)


async def _list(desk: Desk, place: Any) -> None:
    kept = await desk.run(desk.service.lake.decisions)
    with filled(place):
        if not kept:
            parts.nothing("Nothing was decided yet.")
        for decision in kept:
            _line(desk, place, decision)


def _line(desk: Desk, place: Any, decision: Any) -> None:
    pairs = list(zip(decision.left_columns, decision.right_columns, strict=True))

    async def forget() -> None:
        with shown_in(place):
            left, right, values = decision.left_table, decision.right_table, decision.values or None
            await desk.run(lambda: desk.service.lake.forget(left, right, pairs, values=values))
            await _list(desk, place)

    with ui.element("div").classes("dt-card"), ui.element("div").classes("dt-row"):
        said, tone = ("join", "good") if decision.verdict == JOINS else ("never join", "bad")
        ui.label(said).classes(tone)
        _table(decision.left_table, decision.missing)
        ui.label(decision.condition).classes("any")
        _table(decision.right_table, decision.missing)
        parts.soft(decision.sentence)
        if not desk.read_only:
            ui.button("Forget", on_click=forget).props("flat dense no-caps").classes("end")


def _table(name: str, missing: tuple[str, ...]) -> None:
    """A link, unless the lake does not have the table, as one that somebody sent."""
    if name in missing:
        ui.label(name).classes("any")
    else:
        ui.link(name, parts.table_address(name))
