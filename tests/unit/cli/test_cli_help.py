"""Every command's help ends in an example that can be run."""

from __future__ import annotations

import shlex

import click
import pytest

from dovetail import __version__
from dovetail.cli.verbs import VERBS, cli, load
from support.command import dovetail

COMMANDS = list(VERBS)
NO_ANSWER = ("demo", "serve", "mcp")  # of their own, as JSON


def examples(command: click.Command) -> list[str]:
    """The lines below `Example:`, which end the description."""
    _, example, lines = (command.help or "").partition("Example:\n")
    assert example, f"{command.name} has no example"
    return [line.strip() for line in lines.splitlines() if line.strip()]


@pytest.mark.parametrize("command", [cli, *map(load, VERBS)], ids=lambda command: command.name)
def test_help_ends_in_examples_that_parse(command):
    # Without its parent, a command would remember for good that it has no -h.
    parent = click.Context(cli, info_name="dovetail", help_option_names=cli.context_settings["help_option_names"])
    for line in examples(command):
        program, name, *arguments = shlex.split(line.rpartition(" | ")[2].partition(" > ")[0])
        assert program == "dovetail"
        load(name).make_context(name, arguments, parent=parent)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_every_command(name, option):
    answer = dovetail(name, option)
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: dovetail {name} ")
    assert ("--json" in answer.out) == (name not in NO_ANSWER)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_their_own_short_helps(name):
    assert load(name).name == name
    assert load(name).short_help == VERBS[name]


def test_commands_are_listed_in_the_order_of_use():
    assert COMMANDS == [
        "demo",
        "index",
        "search",
        "join",
        "union",
        "map",
        "predicates",
        "inds",
        "keys",
        "path",
        "graph",
        "decide",
        "serve",
        "mcp",
        "info",
        "tables",
        "columns",
        "find",
        "verify",
        "remove",
        "compact",
        "clean",
    ]
    listed = dovetail("--help").out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert not any(line.endswith("...") for line in listed)


def test_version():
    assert dovetail("--version").out == f"dovetail, version {__version__}\n"


def test_no_command_shows_the_help():
    answer = dovetail()
    assert answer.code == 2
    assert "Commands:" in answer.err
