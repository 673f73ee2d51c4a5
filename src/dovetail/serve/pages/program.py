"""A learned program in words, and its steps to change: text, or a part of a column."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from dovetail.errors import InputError
from dovetail.serve.pages import parts
from dovetail.transform.program import CASES
from dovetail.transform.transformation import Transformation

Document = dict[str, Any]
_TEXT: Document = {"constant": " "}
_PART: Document = {"column": "", "splits": [], "start": 0, "stop": None, "case": "as is"}
_SPLIT: Document = {"separator": " ", "first": 0, "last": 0}


class ProgramEditor:
    """The steps of each program as fields; `use` takes the changed transformation, as JSON."""

    def __init__(self, document: Document, columns: Sequence[str], use: Callable[[str], None]) -> None:
        self._document, self._columns = json.loads(json.dumps(document)), list(columns)
        with ui.expansion("Change the program").classes("w-full").props("dense"):
            self._place = ui.element("div").classes("dt-column")
            self._words = ui.element("div").classes("small any").props("aria-live=polite")
            ui.button("Join by this program", on_click=lambda: use(json.dumps(self._document))).props("outline no-caps")
        self._draw()

    def _draw(self) -> None:
        self._place.clear()
        with self._place:
            for number, program in enumerate(self._document["programs"], 1):
                with ui.element("div").classes("dt-card"):
                    parts.soft(f"Program {number}: these parts, one after the other")
                    for step in program:
                        self._step(program, step)
                    with ui.element("div").classes("dt-row"):
                        self._more("Add text", program, _TEXT)
                        self._more("Add a part of a column", program, {**_PART, "column": self._columns[0]})
        self._say()

    def _say(self) -> None:
        self._words.clear()
        with self._words:
            try:
                ui.label(f"In words: {Transformation.from_json(self._document)}").classes("any")
            except InputError as error:
                ui.label(str(error)).classes("bad")

    def _step(self, program: list[Document], step: Document) -> None:
        with ui.element("div").classes("dt-row"):
            if "constant" in step:
                self._field("text", step, "constant", str)
            else:
                self._part(step)
            ui.button(icon="close", on_click=lambda: self._drop(program, step)).props(
                "flat dense round size=sm aria-label='Leave this part out'"
            )

    def _part(self, step: Document) -> None:
        self._choice("column", step, "column", self._columns)
        for split in step["splits"]:
            self._field("split at", split, "separator", str)
            self._field("from piece", split, "first", int)
            self._field("to piece", split, "last", int)
        self._more("Split", step["splits"], _SPLIT)
        self._field("from character", step, "start", int)
        self._field("to character", step, "stop", int)
        self._choice("letters", step, "case", list(CASES))

    def _field(self, label: str, of: Document, name: str, kind: type) -> None:
        """Pieces and characters are counted from 0, or from the end below it, as in Python."""

        def change(event: Any) -> None:
            if kind is str:
                of[name] = event.value or ""
            else:
                of[name] = int(event.value) if event.value is not None else (None if name == "stop" else 0)
            self._say()

        make = ui.input if kind is str else ui.number
        make(label, value=of[name], on_change=change).props("outlined dense").style("width: 7rem")

    def _choice(self, label: str, of: Document, name: str, options: list[str]) -> None:
        def change(event: Any) -> None:
            of[name] = event.value
            self._say()

        value = of[name] if of[name] in options else options[0]
        ui.select(options, label=label, value=value, on_change=change).props("outlined dense").classes("min-w-28")

    def _more(self, label: str, to: list[Document], what: Document) -> None:
        def add() -> None:
            to.append(dict(what, splits=[]) if "splits" in what else dict(what))
            self._draw()

        ui.button(label, on_click=add).props("flat dense no-caps")

    def _drop(self, program: list[Document], step: Document) -> None:
        program.remove(step)
        self._draw()
