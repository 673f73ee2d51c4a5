"""Union: the tables whose rows could be appended to one, with their columns aligned."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.evidence.thresholds import LIKELY_UNION
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading

_RELATIONS = {"copy": "a copy of yours", "version": "a version of yours"}


def add(desk: Desk) -> None:
    @ui.page("/union")
    async def union(request: Request, table: str = "") -> None:
        if not table:
            ui.navigate.to("/")
            return
        with frame(request, "Union", "Search") as page:
            async with loading(page, "Looking for tables with the same kind of rows …") as place:
                title = await desk.run(lambda: desk.service.title(table))
                hits = await desk.ask("union", table=table)
                with filled(place):
                    parts.heading(f"What can be appended to {title}?")
                    ui.link("What joins with it?", parts.address("/search", table=table)).classes("small")
                    if not hits:
                        parts.nothing(hits.sentence)
                    elif hits[0].probability < LIKELY_UNION:
                        parts.soft("None of these is likely to hold the same kind of rows; the nearest come first.")
                    for hit in hits:
                        _hit(hit)


def _hit(hit: Any) -> None:
    with ui.element("article").classes("dt-card"):
        with ui.element("div").classes("dt-row"):
            with ui.element("h2"):
                ui.link(hit.table, parts.table_address(hit.table))
            parts.share(hit.probability)
        same = f", {_RELATIONS[hit.relation]}" if hit.relation else ""
        known = f"; {hit.common_rows:,} of them are yours" if hit.common_rows else ""
        parts.soft(f"{hit.rows:,} rows{known}{same}.")
        parts.reasons(hit.reasons, hit.objections)
        rows = [(pair.mine, pair.theirs, f"{pair.probability:.0%}") for pair in hit.columns]
        with ui.expansion(f"{len(rows)} columns correspond").classes("w-full").props("dense"):
            parts.small_table(("yours", "theirs", "likely"), rows)
        lacks = {"without a counterpart": hit.only_mine, "only there": hit.only_theirs}
        for name, columns in lacks.items():
            if columns:
                parts.soft(f"{name}: {', '.join(columns)}")
