"""The commands of the documentation print what it says, and its Python runs."""

from __future__ import annotations

import shutil

import pytest

from dovetail.cli import demo
from support.pages import ROOT, code_blocks, page, program
from support.pipeline import without_spark

transcripts = program("docs/make_transcripts.py")


@pytest.mark.parametrize("name", transcripts.PAGES)
def test_commands_print_what_the_page_says(tmp_path, name):
    written = page(name)
    assert transcripts.commands(written)
    with without_spark(), transcripts.folder_with_sample_lake(tmp_path):
        now = transcripts.rewritten(written)
    assert transcripts.lasting(now) == transcripts.lasting(written), "run: python docs/make_transcripts.py"


def test_every_page_with_commands_is_checked():
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "```console" in path.read_text()]
    assert [path.relative_to(ROOT).as_posix() for path in pages] == [n for n in transcripts.PAGES if "/" in n]


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md", "docs/reference/python.md"])
def test_python_runs(sample_index, tmp_path, monkeypatch, name, capsys):
    shutil.copytree(sample_index, tmp_path / "sample-lake.idx")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = code_blocks(page(name), "python")
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), names)


@pytest.mark.parametrize(("name", "answers"), [("README.md", 1), ("docs/guides/questions.md", 4)])
def test_what_a_page_says_python_answers(sample_index, tmp_path, monkeypatch, name, answers):
    """`expression   # answer`: the answer is what the expression gives."""
    shutil.copytree(sample_index, tmp_path / "sample-lake.idx")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    compared = 0
    for line in "\n".join(code_blocks(page(name), "python")).splitlines():
        code, _, comment = line.partition("  #")
        if comment.strip().startswith(("[", "(", "'")):
            assert repr(eval(code, names)) == comment.strip()
            compared += 1
        else:
            exec(code, names)
    assert compared == answers


def test_examples(sample_index, tmp_path, monkeypatch, capsys):
    with without_spark(), transcripts.folder_with_sample_lake(tmp_path):
        program("examples/01_index.py").main()
        program("examples/02_look_around.py").main()
        program("examples/03_search_and_join.py").main()
    said = capsys.readouterr().out
    assert "The second run read 0 files" in said
    assert "icao, such as AGGH" in said
    assert "all 4 values of country" in said
    assert "Switzerland" in said.splitlines()[-4]


def test_the_demo_runs_commands_that_work(tmp_path):
    tried = [command for command in demo.TRY if "YOUR-FOLDER" not in command and command[0] != "serve"]  # runs for ever
    steps = [command for _, command in demo.STEPS] + tried
    with without_spark(), transcripts.folder_with_sample_lake(tmp_path):
        for command in steps:
            assert transcripts.run(list(command)) == 0, command
