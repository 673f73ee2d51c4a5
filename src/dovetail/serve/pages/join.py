"""Join: both tables side by side, what can be changed, what the join would give, and pairs to decide about."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request

from dovetail.catalog.decisions import JOINS, NEVER
from dovetail.join.request import KINDS
from dovetail.methods.registry import LABELS
from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading, shown_in
from dovetail.serve.pages.program import ProgramEditor
from dovetail.serve.rest import program_document

_ANY = ""
_METHOD_WORDS = {_ANY: "what the values suggest", **LABELS}
_KIND_WORDS = {"inner": "only rows that match (inner)", "left": "all rows of the left table (left)",
               "right": "all rows of the right table (right)", "outer": "all rows of both (outer)",
               "semi": "left rows with a match, alone (semi)", "anti": "left rows without a match (anti)"}  # fmt: skip
assert tuple(_KIND_WORDS) == KINDS


def add(desk: Desk) -> None:
    @ui.page("/join")
    async def join(
        request: Request, table: str = "", on: str = "", how: str = KINDS[0], by: str = _ANY, program: str = ""
    ) -> None:
        other = request.query_params.get("with", "")
        if not (table and other):
            ui.navigate.to("/")
            return
        how, by = how if how in KINDS else KINDS[0], by if by in LABELS else _ANY
        asked = {"on": on, "how": how, "by": by, "program": program}
        with frame(request, "Join", "Search") as page:
            async with loading(page, "Opening both tables …") as place:
                history = await desk.run(lambda: desk.service.history(table))
                sides = [await desk.run(partial(desk.service.rows, name, 0, 5)) for name in (table, other)]
                with filled(place):
                    _both(history, sides, table, other)
                    _options(sides, table, other, asked)
                await _Counted(desk, table, other, asked, sides).show()


def _both(history: list[dict[str, Any]], sides: list[dict[str, Any]], table: str, other: str) -> None:
    parts.heading(f"Join {sides[0]['title']} with {sides[1]['title']}")
    parts.steps(history)
    with ui.element("div").classes("dt-pair"):
        for name, side in zip((table, other), sides, strict=True):
            _side(name, side)


def _side(name: str, side: dict[str, Any]) -> None:
    with ui.element("section").classes("dt-card").style("border: 0; padding: 0"):
        with ui.element("div").classes("dt-row"):
            ui.link(side["title"], parts.table_address(name)).classes("any")
            parts.soft(f"{side['rows']:,} rows")
        parts.small_table(side["columns"], side["data"])


def _options(sides: list[dict[str, Any]], table: str, other: str, asked: dict[str, str]) -> None:
    """What can be changed; a change is a new address."""

    def change(**changed: str) -> None:
        ui.navigate.to(parts.address("/join", table=table, with_=other, **{**asked, "program": "", **changed}))

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
            parts.soft(f"on {asked['on']}")
        both = [("table", table), ("table", other)]
        ui.link("All columns that join", f"/predicates?{urlencode(both)}").classes("small")
        ui.select(_METHOD_WORDS, label="Method", value=asked["by"], on_change=lambda e: change(by=e.value)) \
            .props("outlined dense").classes("min-w-52")  # fmt: skip
        ui.select(_KIND_WORDS, label="Keep", value=asked["how"], on_change=lambda e: change(how=e.value)) \
            .props("outlined dense").classes("min-w-52")  # fmt: skip


class _Counted:
    """How many rows the join would have, before it is made; and what to look at first."""

    def __init__(self, desk: Desk, table: str, other: str, asked: dict[str, str], sides: list[dict[str, Any]]) -> None:
        self._desk, self._table, self._other, self._asked, self._sides = desk, table, other, asked, sides
        self._state = ui.element("div").classes("dt-column").props("aria-live=polite")

    async def show(self) -> None:
        with filled(self._state):
            parts.waiting("Counting the rows that match …")
        with shown_in(self._state):
            report = await self._desk.ask("join", **self._options, rows=0)
            with filled(self._state):
                self._report(report)

    @property
    def _options(self) -> dict[str, Any]:
        given = {name: value or None for name, value in self._asked.items()}
        program = program_document(self._asked["program"] or None)
        return {"table": self._table, "other": self._other, **given, "program": program}

    def _report(self, report: dict[str, Any]) -> None:
        if not report["pairs"]:
            parts.nothing(report["sentence"])
            return
        with ui.element("div").classes("dt-card"):
            with ui.element("div").classes("dt-row"):
                ui.label(report["sentence"]).classes("any").style("flex: 1 1 20rem")
                if report["probability"] is not None:
                    parts.share(report["probability"])
                self._make()
            parts.soft(report["why"])
            if report["decided_pairs"]:
                parts.soft(f"{report['decided_pairs']:,} pairs of rows join because somebody accepted their values.")
            _left_over(report)
            self._program(report)
        self._uncertain(report)
        if report["sql"]:
            with ui.expansion("As SQL for DuckDB").classes("w-full").props("dense"):
                ui.label(report["sql"]).classes("dt-code")
                parts.copied(report["sql"], "Copy SQL")

    def _make(self) -> None:
        async def make() -> None:
            button.disable()
            with shown_in(said):
                made = await self._desk.ask("join", **self._options, rows=1)
                ui.navigate.to(parts.address("/rows", table=made["table"]))

        button = ui.button("Make the join", on_click=make).props("no-caps unelevated")
        said = ui.element("div").classes("w-full")

    def _program(self, report: dict[str, Any]) -> None:
        """The learned program in words; its steps can be changed, and it is then used instead."""
        if report["program"] is None:
            return
        for program in report["programs"]:
            ui.label(f"Program on the {report['transformed']} table: {program['words']}").classes("small any")
        columns = self._sides[1 if report["transformed"] == "right" else 0]["columns"]

        def use(document: str) -> None:
            changed = {**self._asked, "on": "", "by": "", "program": document}
            ui.navigate.to(parts.address("/join", table=self._table, with_=self._other, **changed))

        ProgramEditor(report["program"], columns, use)

    def _uncertain(self, report: dict[str, Any]) -> None:
        """The pairs of values to look at first, the least certain on top: each can be accepted or rejected."""
        if not report["uncertain"]:
            return
        with ui.element("section").classes("dt-card"):
            parts.heading("Are these the same?", 2)
            parts.soft(
                "The least certain pairs first. What you decide is kept with the index, and later joins follow it."
            )
            for pair in report["uncertain"]:
                self._pair(report, pair)

    def _pair(self, report: dict[str, Any], pair: dict[str, Any]) -> None:
        with ui.element("div").classes("dt-row dt-line"):
            ui.label(pair["left"]).classes("any").style("flex: 1 1 9rem")
            ui.label("=").classes("soft")
            ui.label(pair["right"]).classes("any").style("flex: 1 1 9rem")
            parts.soft(f"{pair['similarity']:.0%}")
            said = ui.element("div").classes("dt-row").style("width: auto; flex: 0 0 auto")
            if self._desk.read_only or len(report["on"]) != 1:
                return
            with said:
                for name, verdict, icon in (("Same", JOINS, "check"), ("Different", NEVER, "close")):
                    act = partial(self._decide, report["on"][0], (pair["left"], pair["right"]), verdict, said)
                    ui.button(name, icon=icon, on_click=act).props("flat dense no-caps")

    async def _decide(self, on: dict[str, str], values: tuple[str, str], verdict: str, said: Any) -> None:
        left, right = (side["title"] for side in self._sides)
        columns = [(on["left"], on["right"])]
        # By then the page may be closed, which NiceGUI answers with a RuntimeError; what was decided is kept.
        with contextlib.suppress(RuntimeError), shown_in(said):
            lake = self._desk.service.lake
            await self._desk.run(lambda: lake.decide(left, right, columns, verdict, values=values))
            with filled(said):
                parts.soft("kept: the same" if verdict == JOINS else "kept: different")
                ui.button("Count again", on_click=self.show).props("flat dense no-caps")


def _left_over(report: dict[str, Any]) -> None:
    for side in ("left", "right"):
        sample, number = report[f"unmatched_{side}_sample"], report[f"unmatched_{side}"]
        if sample:
            rows = "1 row" if number == 1 else f"{number:,} rows"
            parts.soft(f"Not matched on the {side} ({rows}): {'; '.join(map(str, sample))}")
