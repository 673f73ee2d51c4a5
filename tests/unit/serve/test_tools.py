"""Tools for assistants: small answers, read-only unless asked otherwise, by the official client."""

from __future__ import annotations

import asyncio
import json
from unittest.mock import Mock

import pytest
from mcp import Client

from dovetail.serve.service import Service
from dovetail.serve.tools import Tools
from dovetail.serve.work import Workers
from support.decided_lake import AIRPORTS, make_index

SMALL = 6_000  # characters of an answer; arbitrary, some 2,000 tokens of a model


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools")
    return Service(str(make_index(folder)), folder / "kept")


def called(service, calls, read_only=True):
    async def main():
        async with Client(Tools(service, Workers(service), read_only).server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(*call) for call in calls]

    return asyncio.run(main())


def test_tools_only_ask(service):
    tools, _ = called(service, [])
    assert {
        "search",
        "join",
        "union",
        "map",
        "predicates",
        "keys",
        "inds",
        "paths",
        "graph",
        "tables",
        "columns",
        "find",
    } <= {tool.name for tool in tools}
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert "decide" not in {tool.name for tool in tools}
    more, _ = called(service, [], read_only=False)
    assert {tool.name for tool in more} - {tool.name for tool in tools} == {"decide"}


@pytest.mark.parametrize(
    "call",
    [
        ("search", {"table": "flights.csv"}), ("union", {"table": "teams.csv"}), ("graph", {}),
        ("keys", {}), ("inds", {}),
        ("predicates", {"table": "flights.csv", "other": "airports.csv"}), ("foreign_keys", {}), ("tables", {}),
        ("paths", {"start": "flights.csv", "end": "carriers.csv"}), ("columns", {"table": "flights.csv"}),
        ("find", {"value": "ZRH"}), ("rows", {"table": "flights.csv"}),
        ("map", {"table": "airports.csv", "column": "city", "examples": {"City of ZRH": "ZRH"}}),
        ("join", {"table": "flights.csv", "other": "airports.csv", "on": "origin=code"}),
    ],
    ids=lambda call: call[0],
)  # fmt: skip
def test_answers_are_small(service, call):
    _, (answer,) = called(service, [call])
    assert not answer.is_error and answer.structured_content
    assert len(json.dumps(answer.structured_content)) < SMALL


def test_a_table_of_the_user_goes_all_the_way(service):
    content = "airport,visits\n" + "".join(f"{code},{n}\n" for n, code in enumerate(AIRPORTS))
    _, (given,) = called(service, [("give_table", {"content": content, "name": "mine.csv"})])
    mine = given.structured_content["table"]
    _, (found,) = called(service, [("search", {"table": mine})])
    hit = found.structured_content["hits"][0]
    assert hit["table"] == "airports.csv" and hit["on"] == "airport=code" and hit["covers"] == "12 of 12 values"
    _, (joined,) = called(service, [("join", {"table": mine, "other": hit["table"], "on": hit["on"]})])
    name = joined.structured_content["table"]
    assert joined.structured_content["preview"][0] == ["ZRH", 0, "ZRH", "City of ZRH"]
    _, (summed, rows) = called(
        service,
        [("sql", {"table": name, "query": "SELECT max(visits) AS m FROM result"}), ("rows", {"table": name, "k": 5})],
    )
    assert summed.structured_content["preview"] == [[11]]
    assert rows.structured_content["more"] == "Ask again with offset=5."


def test_failures_are_a_sentence(service):
    _, (answer,) = called(service, [("search", {"table": "fligths.csv"})])
    assert answer.is_error and 'Did you mean "flights.csv"?' in answer.content[0].text


def test_a_failure_of_the_index_tells_nothing_about_the_server(service, monkeypatch):
    failure = OSError(5, "Input/output error", "/srv/index/decisions.json")
    monkeypatch.setattr(service, "answers", Mock(side_effect=failure))
    _, (told,) = called(service, [("search", {"table": "flights.csv"})])
    assert told.is_error and "/srv" not in told.content[0].text and "Try again later" in told.content[0].text
