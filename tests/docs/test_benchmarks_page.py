"""The page of results is written from its template and figures, by the programs that measure them."""

from __future__ import annotations

import ast
import json
import re
import sys

import pytest

from support.pages import ROOT, page

sys.path.insert(0, str(ROOT / "benchmarks"))

import page as writer
import plot
import run as runner
from measured import record, recorded
from programs import BENCHMARKS, GIVEN, MADE, needs_of

FIGURES = writer.read_figures()
TOPICS = {path.stem for path in (ROOT / "docs" / "benchmarks").glob("*.md")}
NORMALISE = next(one for one in BENCHMARKS if one.name == "normalise")
NAMED = [f"{figure['benchmark']}: {figure['what']}" for figure in FIGURES]
EXAMPLE = {
    "topic": "join",
    "benchmark": "join-speed",
    "what": "The join",
    "data": "{rows:,} rows",
    "peer": "SQL",
    "result": "{ratio:.2f} × its time",
    "bar": {"text": "at most {0} ×", "conditions": [{"value": "ratio", "at_most": 1.2}]},
    "values": {"ratio": [0.31, 0.39], "rows": 1000},
    "measured": {"date": "November 2026"},
}
RESULT = {"date": "2030-01-02", "commit": "abc", "load": 0.5}


def with_values(bar, **values):
    return EXAMPLE | {"bar": bar, "values": EXAMPLE["values"] | values}


def test_the_page_is_fresh():
    assert page("docs/benchmarks.md") == writer.page(), "run: python benchmarks/run.py --page"


@pytest.mark.parametrize("picture", plot.PICTURES, ids=lambda picture: picture.file.stem)
def test_the_pictures_are_fresh(picture):
    assert plot.lines_of(picture, FIGURES)
    assert plot.digest(picture, FIGURES) in picture.file.read_text(), "run: python benchmarks/run.py --page"
    assert f"images/{picture.file.name}" in writer.TEMPLATE.read_text()


def test_every_topic_has_its_table_and_its_page():
    linked = set(re.findall(r"\[Details\]\(benchmarks/([\w-]+)\.md\)", writer.TEMPLATE.read_text()))
    tables = set(writer.TABLE.findall(writer.TEMPLATE.read_text()))
    assert linked == tables == TOPICS == {figure["topic"] for figure in FIGURES}


@pytest.mark.parametrize("figure", FIGURES, ids=NAMED)
def test_every_figure_is_recorded_by_its_benchmark(figure):
    roles = [figure[role] for role in ("benchmark", "beside") if role in figure]
    programs = [one for one in BENCHMARKS if one.name in roles]
    assert len(programs) == len(roles)
    assert any(one.name == figure["benchmark"] and one.page == figure["topic"] for one in programs)
    if "by_hand" not in figure:
        names = set().union(*(recorded_names(one.command.split()[0]) for one in programs))
        assert writer.names_of(figure) <= names


def recorded_names(program):
    """The names in all calls of `record` of a program and its neighbours."""
    trees = (ast.parse(path.read_text()) for path in (ROOT / "benchmarks" / program).parent.glob("*.py"))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {word.arg for call in calls if getattr(call.func, "id", "") == "record" for word in call.keywords}


@pytest.mark.parametrize("figure", FIGURES, ids=NAMED)
def test_every_figure_has_the_values_that_it_shows(figure):
    assert writer.names_of(figure) == set(figure["values"])
    assert "{" not in writer.line(figure) and figure["measured"]["date"]


@pytest.mark.parametrize("one", BENCHMARKS, ids=lambda one: one.name)
def test_every_benchmark_is_a_program_whose_data_are_known(one):
    for command in filter(None, (one.command, one.quick)):
        program = ROOT / "benchmarks" / command.split()[0]
        options = re.findall(r"(?<= )--[\w-]+", command)
        written = "".join(path.read_text() for path in program.parent.glob("*.py"))
        assert all(f'"{option}"' in written for option in options), options
    assert one.needs(quick=False) <= {*GIVEN, *MADE} and one.needs(quick=True) <= set(MADE)
    assert one.page in TOPICS
    assert one.minutes > 0 and (one.quick_minutes > 0) == bool(one.quick)


def test_what_is_made_needs_only_what_is_given():
    assert set().union(*(needs_of(command) for command in MADE.values())) <= set(GIVEN)


def test_a_program_records_numbers_and_ranges(capsys):
    record(ratio=1 / 3, rows=1000.0, times=iter([5, 2.5, 4]), peer=None, unknown=float("nan"), nobody=[])
    record(ratio=0.25)
    printed = "a table, and measured: nothing\n" + capsys.readouterr().out
    assert recorded(printed) == {"ratio": 0.25, "rows": 1000, "times": [2.5, 5]}


def test_what_is_recorded_becomes_the_figure():
    found = dict(EXAMPLE)
    writer.take_over(found, {"values": {"ratio": [0.5, 1.25], "rows": 2000, "other": 1}, **RESULT})
    assert found["values"] == {"ratio": [0.5, 1.25], "rows": 2000}
    assert writer.line(found) == (
        "| The join | 2,000 rows | SQL | **0.50 to 1.25 × its time** | at most 1.2 ×: **missed** | `join-speed` |"
    )
    assert writer.when([found]) == "Measured on 2030-01-02 at abc, load 0.5."
    others = [EXAMPLE | {"benchmark": "faults"}, EXAMPLE | {"by_hand": "since it was lost"}]
    assert writer.when([found, *others]) == (
        "Measured on 2030-01-02 at abc, load 0.5: `join-speed`; in November 2026: `faults`. "
        "*The join*: by hand in November 2026, since it was lost."
    )


def test_a_benchmark_that_recorded_too_little_changes_nothing():
    writer.take_over(found := dict(EXAMPLE), {"values": {"ratio": 0.5}, **RESULT})
    assert found == EXAMPLE
    writer.take_over(found, {"values": {"ratio": 0.5}, **RESULT}, {"values": {"rows": 3}})
    assert found["values"] == {"ratio": 0.5, "rows": 3}, "another benchmark may have measured the rest"


@pytest.mark.parametrize(
    ("kind", "limit", "ratio", "met"),
    [
        ("at_least", 10, 10, True),
        ("at_least", 10, [9.9, 20], False),
        ("above", "peer", 1.0, False),
        ("above", "peer", 1.01, True),
        ("at_most", 4, [3, 4], True),
        ("at_most", 4, [3, 4.1], False),
        ("below", 4, 4, False),
    ],
)
def test_the_verdict_is_computed(kind, limit, ratio, met):
    bar = {"text": "a bar", "conditions": [{"value": "ratio", kind: limit}]}
    assert writer.verdict(with_values(bar, ratio=ratio, peer=1.0)) == f"a bar: {'met' if met else '**missed**'}"
    assert writer.verdict(with_values(bar | {"text": ""}, ratio=ratio, peer=1.0)) == ("–" if met else "**behind**")


def test_a_picture_shows_times_as_fast():
    shown = plot.line_of(EXAMPLE | {"plot": {"kind": "time", "label": "x", "values": ["ratio"]}})
    assert (shown.dot, shown.low, shown.high, shown.bar, shown.met) == (1 / 0.39, 1 / 0.39, 1 / 0.31, 1 / 1.2, True)


def test_a_benchmark_runs_once_for_the_same_code(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    printed = 'measured: {"ratio": 2}\n'
    monkeypatch.setattr(runner, "output_of", lambda command, data: (calls.append(command) or len(calls) == 1, printed))

    def run(code="one", again=False):
        return [each.run() for each in runner.to_run([runner.Run(NORMALISE, {}, False, code)], again)]

    assert run() == [False], "the first run fails"
    assert run() == [True], "what has failed is run again"
    assert run() == [], "what has ended well is not"
    assert run(again=True) == [True], "unless it is asked for"
    assert run(code="two") == [True], "or the code is another"
    kept = json.loads((tmp_path / "normalise.json").read_text())
    assert kept["values"] == {"ratio": 2} and {"date", "commit", "load"} <= set(kept)
    said = capsys.readouterr().out
    assert "1 benchmarks to run, about 1 minutes; 0 done before." in said
    assert "0 benchmarks to run, about 0 minutes; 1 done before." in said


def test_the_code_that_counts_is_that_of_the_package_and_the_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    files = ("src/dovetail/a.py", "benchmarks/one/run.py", "benchmarks/figures.json", "benchmarks/results/x.json")
    for name in (*files, "docs/a.md", "benchmarks/one/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    before = runner.code_hash()
    changed = set()
    for name in (*files, "docs/a.md", "benchmarks/one/README.md"):
        (tmp_path / name).write_text("after")
        if runner.code_hash() != before:
            changed.add(name)
        before = runner.code_hash()
    assert changed == {"src/dovetail/a.py", "benchmarks/one/run.py"}


def test_what_lacks_its_data_is_named(capsys):
    (one,) = (one for one in BENCHMARKS if one.name == "search-among-strangers")
    assert runner.to_run([runner.Run(one, {"truth": "here"}, False, "code")], again=False) == []
    assert "search-among-strangers: left out, needs --index\n" in capsys.readouterr().out
