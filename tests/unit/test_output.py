"""A file that was asked for is there as a whole, or as it was."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from dovetail._output import whole_file
from dovetail.errors import InputError


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(OSError, match="disk"), whole_file(path) as draft:
        draft.write_text("ne")
        raise OSError("disk full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_draft_takes_the_place_also_behind_a_link(tmp_path):
    path, link = tmp_path / "out.csv", tmp_path / "link.csv"
    path.write_text("old")
    link.symlink_to(path)
    with whole_file(link) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"
    assert link.is_symlink()
    assert {each.name for each in tmp_path.iterdir()} == {"out.csv", "link.csv"}


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as reader:
        read = reader.submit(pipe.read_text)
        with whole_file(pipe) as draft:
            draft.write_text("new")
        assert read.result(timeout=60) == "new"


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="there is no folder"), whole_file(tmp_path / "none" / "out.csv"):
        raise AssertionError("not reached")
