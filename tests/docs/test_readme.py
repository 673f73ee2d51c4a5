"""The README is short: what Dovetail is, two commands, one transcript, a dozen questions, and links to the rest."""

from __future__ import annotations

import re

import pytest

from dovetail.cli.verbs import load
from support.pages import code_blocks, page

MOST_WORDS = 900
MOST_QUESTIONS = 12
GROUPS = ["Find", "Join", "Understand the lake", "Serve", "Run on Spark"]
QUESTIONS = "docs/guides/questions.md"


def first_screen() -> str:
    return page("README.md").partition("\n## ")[0]


def rows_of_questions() -> list[list[str]]:
    """Group, question and command."""
    section = page("README.md").partition("\n## Questions\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_it_is_short():
    assert len(page("README.md").split()) < MOST_WORDS


def test_it_begins_with_one_sentence():
    _, sentence, *_ = first_screen().split("\n\n")
    assert re.findall(r"[.!?](?=\s|$)", sentence) == ["."]


def test_two_commands_show_and_test_it():
    (shell,) = code_blocks(first_screen(), "sh")
    commands, times = zip(*(line.split("#") for line in shell.splitlines()), strict=True)
    assert [command.strip() for command in commands] == ["make demo", "make test"]
    assert all(re.search(r"\b(seconds|minutes?)\b", time) for time in times)
    assert all(re.search(rf"^{command.split()[1]}:", page("Makefile"), re.MULTILINE) for command in commands)
    needs = first_screen().partition("Both need")[2].partition(".venv")[0]
    assert all(word in needs for word in ("Python 3.11", "`make`", "disk", "no Java"))


def test_its_one_transcript_is_on_the_first_screen():
    (transcript,) = code_blocks(page("README.md"), "console")
    assert transcript in first_screen()
    assert re.findall(r"^\$ dovetail (\w+)", transcript, re.MULTILINE) == ["index", "search", "join"]


def test_its_questions_are_few_and_grouped():
    rows = rows_of_questions()
    groups = [re.fullmatch(r"\[\*\*(.+)\*\*\]\((.+)\)", group) for group, *_ in rows if group]
    assert len(rows) <= MOST_QUESTIONS
    assert [found[1] for found in groups if found] == GROUPS
    for found in groups:
        assert found and found[2] == f"{QUESTIONS}#{found[1].lower().replace(' ', '-')}"
        assert f"\n## {found[1]}\n" in page(QUESTIONS)


@pytest.mark.parametrize("name", ["README.md", QUESTIONS])
def test_commands_have_the_options_that_the_page_gives_them(name):
    """`…` stands for a search."""
    spans = re.findall(r"`(?:dovetail (\w+)|… )([^`]*)`", page(name))
    assert len(spans) >= MOST_QUESTIONS
    for verb, words in spans:
        options = {option for parameter in load(verb or "search").params for option in parameter.opts}
        assert set(re.findall(r"(?<!\S)-{1,2}[a-z][\w-]*", words)) <= options, (verb, words)
