"""What the documentation says of signatures, methods and parts is what the code has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import dovetail
from dovetail.cli.maintain import compact_command
from dovetail.indexes.frozen import OPTIONAL
from dovetail.methods.registry import JOIN_METHODS, SEARCH_METHODS
from support.pages import ROOT, page

REFERENCE = re.sub(r"\s+", " ", page("docs/reference/python.md"))
FUNCTIONS = {f"dovetail.{name}": getattr(dovetail, name) for name in dovetail.__all__}
METHODS = {f"lake.{name}": value for name, value in inspect.getmembers(dovetail.Lake) if not name.startswith("_")}
CALLS = {name: value for name, value in (FUNCTIONS | METHODS).items() if inspect.isfunction(value)}
AS_IN_JOIN = ", *, …"
"""Stands for the options of `dovetail.join`."""


def parameters_of(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found if each.name != "self"]


@pytest.mark.parametrize("name", CALLS)
def test_signatures(name):
    """The first time that the reference shows a call, it shows all parameters with their defaults."""
    shown = re.search(rf"`{re.escape(name)}\(([^`]*)\)`", REFERENCE)
    assert shown, "its call is not in the reference"
    written, has = shown[1], parameters_of(CALLS[name])
    if written.endswith(AS_IN_JOIN):
        written = written.removesuffix(AS_IN_JOIN)
        options = {option for option, *_ in has[written.count(",") + 1 :]}
        assert options <= {option for option, *_ in parameters_of(dovetail.join)}
        has = has[: written.count(",") + 1]
    assert parameters_of(eval(f"lambda {written}: None")) == has


@pytest.mark.parametrize(("section", "methods"), [("search", SEARCH_METHODS), ("join", JOIN_METHODS)])
def test_methods_of_json(section, methods):
    text = page("docs/reference/json.md").partition(f"\n## dovetail {section}\n")[2].partition("\n## ")[0]
    (meaning,) = re.findall(r"^\| `by` \| string \| the method: (.+) \|$", text, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", meaning)) == methods


def test_methods_of_joins():
    section = page("docs/guides/joining.md").partition("\n## The method\n")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == JOIN_METHODS
    (argument,) = re.findall(r"^\| `by` \| the method: (.+?), or a", page("docs/reference/python.md"), re.MULTILINE)
    assert tuple(re.findall(r'`"(\w+)"`', argument)) == JOIN_METHODS


def test_parts_that_can_be_left_out():
    (option,) = (each for each in compact_command.params if each.name == "without")
    assert re.findall(r"\w+", option.help.partition(": of ")[2].replace(" and ", " ")) == list(OPTIONAL)
    section = page("docs/reference/settings.md").partition("\n## Parts\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(OPTIONAL)


def test_files_that_the_architecture_names_are_there():
    """By their path below the package or the repository."""
    named = re.findall(r"`((?:[\w]+/)+[\w]+\.(?:py|json))`", page("ARCHITECTURE.md"))
    assert len(named) > 50
    assert [name for name in named if not any((ROOT / top / name).exists() for top in ("", "src/dovetail"))] == []
