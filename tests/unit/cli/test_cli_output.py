"""How answers are printed."""

from __future__ import annotations

import json
import os
import sys

import click
import pytest

from dovetail._text import one_line
from dovetail.cli import output
from dovetail.cli.output import echo, print_json


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (99_949, "99.9 KB"), (151_000, "151 KB"), (2_634_455, "2.6 MB"),
     (78_100_000_000, "78.1 GB"), (5_200_000_000_000, "5.2 TB")],
)  # fmt: skip
def test_sizes(number, said):
    assert output.size(number) == said


def test_counts():
    assert output.count(1, "table") == "1 table"
    assert output.count(0, "table") == "0 tables"
    assert output.count(1234, "table") == "1,234 tables"


def test_cells_stay_on_their_line_and_cannot_move_the_cursor():
    assert one_line("two\nlines\tand \x1b[2J more") == "two lines and �[2J more"
    assert one_line(1234567) == "1,234,567"
    assert one_line(True) == "yes"


def test_a_narrow_terminal_shortens_loose_columns_only(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(output.shutil, "get_terminal_size", lambda **_: os.terminal_size((40, 20)))
    rows = [("a/very/long/path/to/some/table.csv", 12_345, "a note that is long too")]
    output.print_table(("table", "rows", "note"), rows, numbers=("rows",), loose={"table": 15, "note": 10})
    _, line = capsys.readouterr().out.splitlines()
    assert line == "…h/to/some/table.csv  12,345  a note th…"
    assert len(line) == 40


def test_without_a_terminal_cells_are_separated_by_tabs_and_nothing_is_shortened(capsys):
    output.print_table(("table", "rows", "note"), [("x" * 300, 12_345, "y\ty")], loose={"table": 10, "note": 10})
    assert capsys.readouterr().out.splitlines() == ["table\trows\tnote", "x" * 300 + "\t12345\ty y"]


def test_a_table_fits_the_terminal_whatever_its_columns(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(output.shutil, "get_terminal_size", lambda **_: os.terminal_size((60, 20)))
    output.print_table([f"column {n}" for n in range(6)], [["a value of some length"] * 6])
    assert all(len(click.unstyle(line)) <= 60 for line in capsys.readouterr().out.splitlines())


def test_wide_characters_keep_columns_in_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.print_table(("name", "n"), [("日本", 1), ("ab", 2)], numbers=("n",))
    assert click.unstyle(capsys.readouterr().out).splitlines() == ["name  n", "日本  1", "ab    2"]


def test_names_from_files_cannot_move_the_cursor(capsys):
    name = "a\x1b[2J\x9b31m\u202e\r.csv"
    echo(f"  skipped {name}: empty file")
    echo("two\nlines", err=True)
    print_json({"table": name})
    out, err = capsys.readouterr()
    assert not set(out) & set("\x1b\x9b\r") and "\u202e" not in out.splitlines()[0]
    assert json.loads(out.partition("\n")[2]) == {"table": name}
    assert err == "two\nlines\n"
