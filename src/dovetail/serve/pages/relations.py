"""Map: what belongs to the values of a column. Predicates: the columns on which two tables join best."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from nicegui import ui
from starlette.requests import Request

from dovetail.serve.pages import parts
from dovetail.serve.pages.frame import Desk, filled, frame, loading

_PAIRS = 500  # that are shown
_NONE: list[str] = []


def add(desk: Desk) -> None:
    @ui.page("/map")
    async def value_map(
        request: Request, table: str = "", column: str = "", example: Annotated[list[str], Query()] = _NONE
    ) -> None:
        if not table:
            ui.navigate.to("/")
            return
        with frame(request, "Map", "Search") as page:
            async with loading(page, "Opening the table …") as place:
                rows = await desk.run(lambda: desk.service.rows(table, 0, 1))
                with filled(place):
                    parts.heading(f"What belongs to the values of {rows['title']}?")
                    parts.soft("Give a pair as an example, such as Japan and Tokyo: tables of the lake that have such "
                               "pairs in their rows say what belongs to the other values.")  # fmt: skip
                    _example(table, rows["columns"], column, example)
            if column and example:
                async with loading(page, "Looking for tables that hold such pairs …") as place:
                    found = await desk.ask("map", table=table, column=column, examples=example)
                    with filled(place):
                        _mapped(found)

    @ui.page("/predicates")
    async def predicates(request: Request, table: Annotated[list[str], Query()] = _NONE) -> None:
        if len(table) < 2:
            ui.navigate.to("/")
            return
        with frame(request, "Predicates", "Search") as page:
            async with loading(page, "Comparing all columns …") as place:
                titles = await desk.run(lambda: [desk.service.title(name) for name in table])
                found = await desk.ask("predicates", tables=table)
                with filled(place):
                    parts.heading(f"On which columns do {' and '.join(titles)} join?")
                    _predicates(table, found)


def _example(table: str, columns: list[str], column: str, example: list[str]) -> None:
    value, _, partner = (example[0] if example else "").partition("=")

    def go() -> None:
        if first.value and second.value and chosen.value:
            pair = f"{first.value}={second.value}"
            ui.navigate.to(parts.address("/map", table=table, column=chosen.value, example=pair))

    with ui.element("div").classes("dt-row"):
        chosen = ui.select(columns, label="Column", value=column if column in columns else columns[0])
        chosen.props("outlined dense").classes("min-w-40")
        first = ui.input("A value of it", value=value).props("outlined dense")
        second = ui.input("What belongs to it", value=partner).props("outlined dense")
        for field in (first, second):
            field.on("keydown.enter", go)
        ui.button("Find the others", on_click=go).props("no-caps unelevated")


def _mapped(found: dict[str, Any]) -> None:
    pairs, tables = found["pairs"], found["tables"]
    if not pairs:
        parts.nothing("No tables of the lake hold such pairs.")
        return
    parts.soft(f"{len(pairs):,} of {found['values']:,} values, by {len(tables):,} tables: "
               f"{', '.join(each['table'] for each in tables[:3])}{' …' if len(tables) > 3 else ''}")  # fmt: skip
    rows = [
        (pair["value"], pair["partner"], f"{pair['probability']:.0%}", len(pair["tables"])) for pair in pairs[:_PAIRS]
    ]
    parts.small_table(("value", "belongs to it", "likely", "tables"), rows)
    if len(pairs) > _PAIRS:
        parts.soft(f"The first {_PAIRS} are shown; the JSON of this page has all.")


def _predicates(tables: list[str], found: dict[str, Any]) -> None:
    if not found["predicates"]:
        parts.nothing("No columns have a value in common.")
    for each in found["predicates"]:
        with ui.element("div").classes("dt-card"), ui.element("div").classes("dt-row"):
            on = ",".join(f"{pair['left']}={pair['right']}" for pair in each["pairs"])
            ui.label(" and ".join(f"{pair['left']} = {pair['right']}" for pair in each["pairs"])).classes("any")
            if found["prefer"] == "probability":
                parts.share(each["score"])
            else:
                parts.soft(f"score {each['score']:g} by {found['prefer']}")
            if len(tables) == 2:
                target = parts.address("/join", table=tables[0], with_=tables[1], on=on)
                ui.link("Join on these", target).classes("end")
