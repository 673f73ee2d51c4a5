"""A small lake, and its index, for tests of the command line. Nothing here starts Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import dovetail
from support.pipeline import without_spark

FILES = {
    "people.csv": "id,name,city\n1,Ada,Zürich\n2,Bo,Berlin\n3,Cy,berlin\n",
    "geo/cities.csv": "City;Country\nBerlin;DE\nZürich;CH\nBern;CH\n",
    "geo/codes.tsv": "code\tname\nDE\tGermany\nCH\tSwitzerland\n",
    "old/log.csv": "day,count\n2024-01-13,7\n2024-01-14,8\n",
    "letter.txt": "Dear reader, this is only a letter of many words.\nIt has a second line with as many words.\n",
}


@pytest.fixture(autouse=True)
def no_spark() -> Iterator[None]:
    with without_spark():
        yield


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def idx(tmp_path: Path, lake: Path) -> Path:
    assert dovetail("index", lake, "--to", tmp_path / "idx").code == 0
    return tmp_path / "idx"
