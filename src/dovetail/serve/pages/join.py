"""Join: both tables side by side, what can be changed, what the join would give, and then the joined table."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from nicegui import ui
from starlette.requests import Request

from dovetail.join.request import KINDS, METHODS
from dovetail.serve.pages.frame import (
    Desk,
    address,
    copied,
    frame,
    heading,
    nothing,
    share,
    shown_in,
    small_table,
    soft,
    steps,
    table_address,
    waiting,
)  # fmt: skip

_ANY = ""
_METHOD_WORDS = {_ANY: "what the values suggest", "equal": "equal values", "transform": "after a transformation",
                 "similar": "similar values", "semantic": "similar spelling or meaning",
                 "through": "through other tables of the lake"}  # fmt: skip
_KIND_WORDS = {"inner": "only rows that match (inner)", "left": "all rows of the left table (left)",
               "right": "all rows of the right table (right)", "outer": "all rows of both (outer)",
               "semi": "left rows with a match, alone (semi)", "anti": "left rows without a match (anti)"}  # fmt: skip
assert tuple(_METHOD_WORDS)[1:] == METHODS and tuple(_KIND_WORDS) == KINDS


def add(desk: Desk) -> None:
    @ui.page("/join")
    async def join(
        request: Request, table: str = "", on: str = "", how: str = KINDS[0], by: str = _ANY, program: str = ""
    ) -> None:
        other = request.query_params.get("with", "")
        if not (table and other):
            ui.navigate.to("/")
            return
        how, by = how if how in KINDS else KINDS[0], by if by in METHODS else _ANY
        asked = {"on": on, "how": how, "by": by, "program": program}
        with frame(request, "Join", "Search") as page:
            place = ui.element("div").classes("w-full")
            with place:
                waiting("Opening both tables …")
            await ui.context.client.connected()
            with shown_in(page):
                history = await desk.run(lambda: desk.service.history(table))
                sides = [await desk.run(partial(desk.service.rows, name, 0, 5)) for name in (table, other)]
                place.clear()
                with place:
                    heading(f"Join {sides[0]['title']} with {sides[1]['title']}")
                    steps(history)
                with ui.element("div").classes("dt-pair"):
                    for name, side in zip((table, other), sides, strict=True):
                        _side(name, side)
                _options(sides, table, other, asked)
                await _count(desk, table, other, asked)


def _side(name: str, side: dict[str, Any]) -> None:
    with ui.element("section").classes("dt-card").style("border: 0; padding: 0"):
        with ui.element("div").classes("dt-row"):
            ui.link(side["title"], table_address(name)).classes("any")
            soft(f"{side['rows']:,} rows")
        small_table(side["columns"], side["data"])


def _options(sides: list[dict[str, Any]], table: str, other: str, asked: dict[str, str]) -> None:
    """What can be changed; a change is a new address."""

    def change(**changed: str) -> None:
        ui.navigate.to(address("/join", table=table, with_=other, **{**asked, "program": "", **changed}))

    pairs = [pair.partition("=")[::2] for pair in asked["on"].split(",")] if asked["on"] else []
    first = pairs[0] if len(pairs) == 1 else ("", "")
    with ui.element("div").classes("dt-card"), ui.element("div").classes("dt-row"):
        selects = []
        for side, name, value in zip(sides, ("Left column", "Right column"), first, strict=True):
            options = {"": "let it choose", **{column: column for column in side["columns"]}}
            selects.append(ui.select(options, label=name, value=value if value in options else "", with_input=True)
                           .props("outlined dense").classes("min-w-40"))  # fmt: skip

        def chosen() -> None:
            left, right = (select.value or "" for select in selects)
            if bool(left) == bool(right):
                change(on=f"{left}={right}" if left else "")

        for select in selects:
            select.on_value_change(chosen)
        if len(pairs) > 1:
            soft(f"on {asked['on']}")
        ui.select(_METHOD_WORDS, label="Method", value=asked["by"], on_change=lambda e: change(by=e.value)) \
            .props("outlined dense").classes("min-w-52")  # fmt: skip
        ui.select(_KIND_WORDS, label="Keep", value=asked["how"], on_change=lambda e: change(how=e.value)) \
            .props("outlined dense").classes("min-w-52")  # fmt: skip


async def _count(desk: Desk, table: str, other: str, asked: dict[str, str]) -> None:
    """How many rows the join would have, before it is made."""
    state = ui.element("div").classes("w-full").props("aria-live=polite")
    with state:
        waiting("Counting the rows that match …")
    options = {name: value or None for name, value in asked.items()}
    with shown_in(state):
        options["program"] = json.loads(asked["program"]) if asked["program"] else None
        report = await desk.ask("join", table=table, other=other, rows=0, **options)
        state.clear()
        if not report["pairs"]:
            nothing(report["sentence"])
            return
        with ui.element("div").classes("dt-card"):
            with ui.element("div").classes("dt-row"):
                ui.label(report["sentence"]).classes("any").style("flex: 1 1 20rem")
                if report["probability"] is not None:
                    share(report["probability"])
                _make(desk, table, other, options)
            soft(report["why"])
            _left_over(report)
            _program(report, table, other, asked)
            _uncertain(report)
        if report["sql"]:
            with ui.expansion("As SQL for DuckDB").classes("w-full").props("dense"):
                ui.label(report["sql"]).classes("dt-code")
                copied(report["sql"], "Copy SQL")


def _make(desk: Desk, table: str, other: str, options: dict[str, Any]) -> None:
    async def make() -> None:
        button.disable()
        with shown_in(said):
            made = await desk.ask("join", table=table, other=other, rows=1, **options)
            ui.navigate.to(address("/rows", table=made["table"]))

    button = ui.button("Make the join", on_click=make).props("no-caps unelevated")
    said = ui.element("div").classes("w-full")


def _left_over(report: dict[str, Any]) -> None:
    for side in ("left", "right"):
        sample, number = report[f"unmatched_{side}_sample"], report[f"unmatched_{side}"]
        if sample:
            rows = "1 row" if number == 1 else f"{number:,} rows"
            soft(f"Not matched on the {side} ({rows}): {'; '.join(map(str, sample))}")


def _program(report: dict[str, Any], table: str, other: str, asked: dict[str, str]) -> None:
    """The learned program in words; as JSON it can be changed and used instead."""
    if report["program"] is None:
        return
    for program in report["programs"]:
        ui.label(f"Program on the {report['transformed']} table: {program['words']}").classes("small any")
    with ui.expansion("Edit the program").classes("w-full").props("dense"):
        written = ui.textarea(value=json.dumps(report["program"], ensure_ascii=False, indent=1)) \
            .props("outlined dense autogrow").classes("w-full")  # fmt: skip

        def use() -> None:
            changed = {**asked, "on": "", "by": "", "program": written.value}
            ui.navigate.to(address("/join", table=table, with_=other, **changed))

        ui.button("Join by this program", on_click=use).props("outline no-caps size=sm")


def _uncertain(report: dict[str, Any]) -> None:
    """The pairs to look at first."""
    if report["least_similar"]:
        soft("The least similar pairs:")
        rows = [(pair["left"], pair["right"], f"{pair['similarity']:.2f}") for pair in report["least_similar"]]
        small_table(("left", "right", "similarity"), rows)
