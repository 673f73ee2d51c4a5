"""Which files of a lake are listed, and what is said of those that are not read."""

from __future__ import annotations

import pytest

from dovetail.lake.listing import BROKEN, HIDDEN, LEAVES, Root
from dovetail.lake.source import list_lake


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    (folder / ".versions" / "1").mkdir(parents=True)
    (folder / "blobs").mkdir()
    (folder / "plain.csv").write_text("id\n1\n")
    (folder / ".versions" / "1" / "old.csv").write_text("id\n2\n")
    (folder / "blobs" / "0f3a").write_text("id\n3\n")
    (tmp_path / "outside.csv").write_text("id\n4\n")
    return folder


def listed(lake, **options):
    return {name: file.refused for name, file in list_lake([Root(str(lake), **options)]).items()}


def test_links_to_files_that_are_not_listed_by_themselves_are_tables(lake):
    (lake / "from_hidden.csv").symlink_to(".versions/1/old.csv")
    (lake / "from_blob.csv").symlink_to("blobs/0f3a")
    assert listed(lake) == {"plain.csv": "", "from_hidden.csv": "", "from_blob.csv": ""}


def test_a_second_name_of_a_listed_table_is_left_out(lake):
    (lake / "again.csv").symlink_to("plain.csv")
    (lake / "sub").symlink_to(".")
    assert listed(lake) == {"plain.csv": ""}
    assert listed(lake, exclude=("plain*",)) == {"again.csv": ""}, "unless the table itself is not wanted"


def test_every_other_link_is_listed_with_its_reason(lake):
    (lake / "current").symlink_to(".versions/1")
    (lake / "away").symlink_to(lake.parent)
    (lake / "away.csv").symlink_to("../outside.csv")
    (lake / "dangling.csv").symlink_to("nowhere.csv")
    (lake / "loop.csv").symlink_to("loop.csv")
    assert listed(lake) == {
        "plain.csv": "",
        "current": HIDDEN,
        "away": LEAVES,
        "away.csv": LEAVES,
        "dangling.csv": BROKEN,
        "loop.csv": BROKEN,
    }
