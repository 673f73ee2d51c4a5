"""The page of results is written from its template and figures, and what runs the benchmarks knows all of them."""

from __future__ import annotations

import json
import re
import sys

import pytest

from support.pages import ROOT, page

sys.path.insert(0, str(ROOT / "benchmarks"))

import page as writer
import run as runner
from programs import BENCHMARKS, GIVEN, MADE

FIGURES = json.loads(writer.FIGURES.read_text())
TOPICS = {path.stem for path in (ROOT / "docs" / "benchmarks").glob("*.md")}


def test_the_page_is_fresh():
    assert page("docs/benchmarks.md") == writer.page(), "run: python benchmarks/run.py --page"


def test_every_topic_has_its_table_and_its_page():
    linked = set(re.findall(r"\[Details\]\(benchmarks/([\w-]+)\.md\)", writer.TEMPLATE.read_text()))
    tables = set(writer.TABLE.findall(writer.TEMPLATE.read_text()))
    assert linked == tables == TOPICS == {figure["topic"] for figure in FIGURES}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure['benchmark']}: {figure['what']}")
def test_every_figure_can_be_repeated(figure):
    (one,) = (one for one in BENCHMARKS if one.name == figure["benchmark"])
    assert one.page == figure["topic"]


@pytest.mark.parametrize("one", BENCHMARKS, ids=lambda one: one.name)
def test_every_benchmark_is_a_program_whose_data_are_known(one):
    for command in filter(None, (one.command, one.quick)):
        program = ROOT / "benchmarks" / command.split()[0]
        options = re.findall(r"(?<= )--[\w-]+", command)
        written = "".join(path.read_text() for path in program.parent.glob("*.py"))
        assert all(f'"{option}"' in written for option in options), options
    assert one.needs(quick=False) <= {*GIVEN, *MADE} and one.needs(quick=True) <= set(MADE)
    assert one.page in TOPICS


def test_what_is_printed_becomes_the_figure():
    (figure,) = (figure for figure in FIGURES if figure["benchmark"] == "join-speed")
    output = "a – b, inner  ours 0.10 s   SQL  0.40 s   0.25 x,  0.20 x\na – c, left  ours …   0.50 x,  0.30 x\n"
    found = dict(figure)
    writer.take_over(found, {"output": output, "code": 0, "date": "2030-01-02", "commit": "abc"})
    assert (found["measured"], found["when"]) == ("0.25 to 0.50 × its time", "2030-01-02, abc")
    writer.take_over(failed := dict(figure), {"output": output, "code": 1, "date": "2030-01-02", "commit": "abc"})
    assert failed == figure


def test_a_benchmark_runs_once_for_a_commit(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "commit", lambda: "one")
    monkeypatch.setattr(runner, "output_of", lambda command, data: (calls.append(command) or len(calls) == 1, "text"))
    (one,) = (one for one in BENCHMARKS if one.name == "normalise")
    assert not runner.run(one, {}, quick=False, again=False), "the first run fails"
    assert runner.run(one, {}, quick=False, again=False) and len(calls) == 2, "what has failed is run again"
    assert runner.run(one, {}, quick=False, again=False) and len(calls) == 2, "what has ended well is not"
    assert runner.run(one, {}, quick=False, again=True) and len(calls) == 3, "unless it is asked for"
    monkeypatch.setattr(runner, "commit", lambda: "two")
    assert runner.run(one, {}, quick=False, again=False) and len(calls) == 4, "or the commit is another"
    assert json.loads((tmp_path / "normalise.json").read_text())["commit"] == "two"


def test_what_lacks_its_data_is_named(capsys):
    (one,) = (one for one in BENCHMARKS if one.name == "through")
    assert runner.run(one, {"truth": "here"}, quick=False, again=False)
    assert capsys.readouterr().out == "through: left out, needs --index\n"
