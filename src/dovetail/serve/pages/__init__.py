"""Pages for people, with NiceGUI: over the same service as REST, on the same server."""

from __future__ import annotations

from fastapi import FastAPI
from nicegui import ui

from dovetail.serve.pages import decisions, graph, join, lake, relations, rows, search, union
from dovetail.serve.pages.frame import Desk, add_missing_page
from dovetail.serve.service import Service
from dovetail.serve.work import Workers


def add_pages(api: FastAPI, service: Service, workers: Workers, read_only: bool) -> None:
    """Put the pages beside the routes of an app. NiceGUI keeps them for the process: one server in each."""
    desk = Desk(service, workers, read_only)
    for page in (search, join, union, relations, rows, lake, graph, decisions):
        page.add(desk)
    add_missing_page()
    ui.run_with(api, title="Dovetail", show_welcome_message=False, favicon="🕊")
