"""Search: a table in, the tables that join with it out, as they are found."""

from __future__ import annotations

import contextlib
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui
from starlette.requests import Request

from dovetail._text import first_names
from dovetail.methods.registry import LABELS, SEARCH_METHODS
from dovetail.search.hit import Hit
from dovetail.search.hits import Hits
from dovetail.serve.kept import is_kept, upload_suffix
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading, shown_in
from dovetail.tables.column_names import column_list
from dovetail.through.mapping import ValuePair

_METHODS = {name: LABELS[name] for name in SEARCH_METHODS}
_OFFERED, _CHIPS, _BRINGS, _MAPPED = 8, 60, 12, 50


def add(desk: Desk) -> None:
    @ui.page("/")
    async def start(request: Request) -> None:
        with frame(request, "Search", "Search"):
            parts.heading("What joins with your table?")
            tables = await desk.run(desk.tables)
            parts.soft(f"Give a table: its columns are compared with those of {len(tables):,} tables of the lake.")
            failed = ui.element("div").classes("w-full")
            with ui.element("div").classes("dt-ways"):
                _upload(desk, failed)
                _paste(desk, failed)
                await _pick(desk)

    @ui.page("/search")
    async def search(request: Request, table: str = "", on: str = "", by: str = SEARCH_METHODS[0]) -> None:
        if not table:
            ui.navigate.to("/")
            return
        with frame(request, "Search", "Search") as page:
            async with loading(page, "Opening the table …") as place:
                history, rows = await desk.run(lambda: (desk.service.history(table), desk.service.rows(table, 0, 5)))
                with filled(place):
                    _query(history, rows, table, on, by)
                await _stream(desk, table, on, by)


def _upload(desk: Desk, failed: Any) -> None:
    async def take(event: events.UploadEventArguments) -> None:
        with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
            path = Path(folder) / f"upload{upload_suffix(event.file.name)}"
            await event.file.save(path)
            await _keep(desk, failed, path, event.file.name)

    with ui.element("div").classes("dt-card"):
        parts.heading("Drop a file", 2)
        parts.soft("CSV, TSV, JSON lines, Parquet or Arrow; also .gz and .zst.")
        limit = desk.service.limits
        ui.upload(
            on_upload=take, auto_upload=True, max_file_size=limit.upload_bytes,
            on_rejected=lambda: _fail(failed, f"The file is larger than {limit.upload_mb:,} MB."),
        ).props("flat bordered label='Choose or drop a file'")  # fmt: skip


def _paste(desk: Desk, failed: Any) -> None:
    async def take() -> None:
        with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
            path = Path(folder) / "pasted.csv"
            path.write_text(cells.value or "", encoding="utf-8")
            await _keep(desk, failed, path, "pasted cells.csv")

    with ui.element("div").classes("dt-card"):
        parts.heading("Paste cells", 2)
        parts.soft("From a spreadsheet, with the headings.")
        cells = ui.textarea(placeholder="country\tpopulation\nPeru\t34352719").props(
            "outlined dense rows=4 maxlength=5000000"
        )
        ui.button("Search with these cells", on_click=take).props("outline no-caps")


async def _pick(desk: Desk) -> None:
    async def offer() -> None:
        typed = (name.value or "").strip().casefold()
        found = [table for table in await desk.run(desk.tables) if typed in table.casefold()]
        offered.clear()
        with offered:
            for table in found[:_OFFERED]:
                ui.link(table, parts.address("/search", table=table)).classes("small any")
            if not found:
                parts.soft("No table of the lake is called so.")
            elif len(found) > _OFFERED:
                parts.soft(f"… and {len(found) - _OFFERED:,} more")

    with ui.element("div").classes("dt-card"):
        parts.heading("Or take a table of the lake", 2)
        name = ui.input(placeholder="Part of its name", on_change=offer).props("outlined dense debounce=200 clearable")
        offered = ui.element("div").classes("dt-card").style("border: 0; padding: 0")
        await offer()


async def _keep(desk: Desk, failed: Any, path: Path, title: str) -> None:
    failed.clear()
    with shown_in(failed):
        kept = await desk.run(lambda: desk.service.upload(path, title))
        ui.navigate.to(parts.address("/search", table=kept.name))


def _fail(failed: Any, sentence: str) -> None:
    failed.clear()
    with failed:
        parts.problem(sentence)


def _query(history: list[dict[str, Any]], rows: dict[str, Any], table: str, on: str, by: str) -> None:
    """What is searched with; a click on a column searches with it too, or without it."""
    chosen = column_list(on, rows["columns"]) if on else ()
    with ui.element("div").classes("dt-card").style("gap: .6rem"):
        with ui.element("div").classes("dt-row"):
            parts.heading(f"What joins with {rows['title']}?")
            ui.link(f"{rows['rows']:,} rows", parts.table_address(table)).classes("small end")
        parts.steps(history)
        with ui.element("div").classes("dt-row").props("role=group aria-label='Columns to search with'"):
            parts.chip("let it choose", lambda: ui.navigate.to(parts.address("/search", table=table, by=by)), not on)
            for column in rows["columns"][:_CHIPS]:
                others = [each for each in chosen if each != column]
                wanted = others if column in chosen else [*others, column]
                target = parts.address("/search", table=table, on=",".join(wanted), by=by)
                parts.chip(column, partial(ui.navigate.to, target), column in chosen)
            if len(rows["columns"]) > _CHIPS:
                parts.soft(f"… and {len(rows['columns']) - _CHIPS:,} more columns")
        with ui.expansion("First rows").classes("w-full").props("dense"):
            parts.small_table(rows["columns"], rows["data"])
        with ui.element("div").classes("dt-row"):
            ui.select(
                _METHODS, value=by if by in _METHODS else SEARCH_METHODS[0], label="Values match if they are",
                on_change=lambda event: ui.navigate.to(parts.address("/search", table=table, on=on, by=event.value)),
            ).props("outlined dense").style("width: 18rem")  # fmt: skip
            with ui.element("div").classes("dt-row end small").style("width: auto"):
                ui.link("Tables to append", parts.address("/union", table=table))
                ui.link("What belongs to its values", parts.address("/map", table=table))


async def _stream(desk: Desk, table: str, on: str, by: str) -> None:
    state = ui.element("div").classes("w-full").props("aria-live=polite")
    found = ui.element("div").classes("w-full").style("display: flex; flex-direction: column; gap: 1rem")
    with state:
        parts.waiting("Searching …")
    with shown_in(state):
        options = {"on": on or None, "by": by, "when_long": True}
        async for hits in desk.stages("search_stages", table=table, **options):
            state.clear()
            found.clear()
            with found:
                for hit in hits:
                    _hit(desk, table, hit)
            with state:
                _summary(hits)


def _summary(hits: Hits) -> None:
    if not hits.exact and hits.before is None and hits.by == "equal":
        parts.waiting(f"{len(hits)} hits by sketches; checking …")
    elif not hits:
        parts.nothing(hits.sentence)
    else:
        copies = sum(len(hit.copies) for hit in hits)
        folded = f" {copies:,} near-copies are folded." if copies else ""
        parts.soft(f"{len(hits)} tables, best first, in {hits.seconds:.2f} s.{folded}")
        if hits.note:
            parts.soft(hits.note)
    if hits.to_append:
        with ui.element("div").classes("dt-row small"):
            parts.soft("Rather to append than to join:")
            for other in hits.to_append:
                ui.link(f"{other.table} ({other.probability:.0%})", parts.table_address(other.table))


def _hit(desk: Desk, table: str, hit: Hit) -> None:
    with ui.element("article").classes("dt-card"):
        with ui.element("div").classes("dt-row"):
            with ui.element("h2"):
                ui.link(hit.table, parts.table_address(hit.table))
            if hit.probability is not None:
                parts.share(hit.probability)
            if hit.rather == "union":
                ui.link("rather to append", parts.address("/union", table=table)).classes("small")
            ui.button("Join", on_click=lambda: ui.navigate.to(_join_address(table, hit))).props(
                "no-caps unelevated"
            ).classes("end")
        ui.label(f"{', '.join(hit.on)} → {', '.join(hit.columns)}").classes("any")
        warning = f" {hit.warning}." if hit.warning else ""
        values = f"{hit.overlap:,} of {hit.query_size:,} values are there, {hit.cardinality}"
        parts.soft(f"{values}; {hit.matched_rows:,} of {hit.query_rows:,} rows match.{warning}")
        parts.reasons(hit.reasons, hit.objections)
        _samples(hit)
        _decide(desk, table, hit)


def _samples(hit: Hit) -> None:
    lines = {
        "matched": ", ".join(hit.matched), "not matched": ", ".join(hit.unmatched),
        "new columns": first_names(hit.brings, _BRINGS),
    }  # fmt: skip
    with ui.element("div").classes("small any"):
        for name, text in lines.items():
            with ui.element("div"):
                ui.label(f"{name}: ").classes("soft").style("display: inline")
                ui.label(text or "–").style("display: inline")
    pairs = getattr(hit, "mapping", ())
    if pairs:
        with ui.expansion("How values correspond").classes("w-full small").props("dense"):
            parts.small_table(("yours", "theirs", "likely"), [_mapped(pair) for pair in pairs[:_MAPPED]])
            if len(pairs) > _MAPPED:
                parts.soft(f"The first {_MAPPED} of {len(pairs):,}.")
    if hit.copies:
        with ui.expansion(hit.likes).classes("w-full small").props("dense"):
            for copy in hit.copies[:_CHIPS]:
                ui.link(copy, parts.table_address(copy)).classes("small any")


def _mapped(pair: Any) -> tuple[str, str, str]:
    """A pair of a hit by similarity or through the lake; each names the likelihood after its method."""
    if isinstance(pair, ValuePair):
        return pair.value, pair.partner, f"{pair.probability:.0%}"
    return pair.value, pair.matched, f"{pair.similarity:.0%}"


def _decide(desk: Desk, table: str, hit: Hit) -> None:
    """A person's word about the pair, which later answers follow; only tables of the lake are remembered."""
    if desk.read_only or is_kept(table) or len(hit.on) != len(hit.columns):
        return
    if hit.is_decided:
        parts.soft(f"{hit.reasons[0]}." if hit.reasons else "Decided.")

    async def decide(verdict: str) -> None:
        # By then the page may be closed, which NiceGUI answers with a RuntimeError; what was decided is kept.
        with contextlib.suppress(RuntimeError), shown_in(said):
            await desk.run(lambda: desk.service.lake.decide(table, hit.table, hit.pairs, verdict))
            said.clear()
            parts.soft("Kept with the index: these columns " + ("join." if verdict == "joins" else "never join."))

    with ui.element("div").classes("dt-row"):
        said = ui.element("div").classes("dt-row")
        with said:
            ui.button("These columns join", on_click=lambda: decide("joins")).props("flat dense no-caps")
            ui.button("Never", on_click=lambda: decide("never")).props("flat dense no-caps")


def _join_address(table: str, hit: Hit) -> str:
    theirs = hit.columns * len(hit.on) if len(hit.columns) == 1 else hit.columns
    on = ",".join(f"{mine}={other}" for mine, other in zip(hit.on, theirs, strict=True))
    return parts.address("/join", table=table, with_=hit.table, on=on, by=None if hit.by == "equal" else hit.by)
