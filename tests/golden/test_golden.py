"""An index as the current format has it on disk: a change of the format without a new number fails here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import dovetail
from dovetail._storage.directory import open_snapshot
from dovetail._storage.marker import FORMAT_VERSION
from dovetail._storage.segment import Segment
from dovetail.catalog.records import CatalogReader
from support.contents import contents_of
from support.pipeline import without_spark

HERE = Path(__file__).parent

pytestmark = pytest.mark.filterwarnings("ignore:The index was written with Unicode")


@pytest.fixture
def golden(tmp_path) -> Path:
    """A copy: a test must not change it."""
    return shutil.copytree(HERE / f"format-{FORMAT_VERSION}", tmp_path / "golden")


def test_the_current_format_has_a_golden_index():
    assert (HERE / f"format-{FORMAT_VERSION}").is_dir()


def test_tables(golden):
    lines = dovetail.open(golden).tables()
    assert [(line.table, line.rows, line.columns, line.error) for line in lines] == [
        ("broken.csv", 0, 0, "empty file"),
        ("cities.csv", 4, 4, ""),
        ("geo/countries.tsv", 3, 3, ""),
        ("ids.jsonl", 2, 3, ""),
        ("notes/quoted.csv", 2, 2, ""),
    ]


def test_columns(golden):
    lake = dovetail.open(golden)
    told = {
        (name, column.name): [
            column.to_dict()[key] for key in ("type", "rows", "nulls", "distinct", "min", "max", "key")
        ]
        for name in ("cities.csv", "geo/countries.tsv", "ids.jsonl", "notes/quoted.csv")
        for column in lake.table(name).columns
    }
    assert told == {
        ("cities.csv", "city"): ["text", 4, 0, 4, "genève", "zürich", True],
        ("cities.csv", "country"): ["text", 4, 0, 3, "france", "switzerland", False],
        ("cities.csv", "founded"): ["date", 4, 3, 1, "0015-01-01", "0015-01-01", False],
        ("cities.csv", "population"): ["integer", 4, 1, 3, "203856", "2102650", False],
        ("geo/countries.tsv", "iso"): ["text", 3, 0, 3, "ch", "na", True],
        ("geo/countries.tsv", "name"): ["text", 3, 0, 3, "france", "switzerland", True],
        ("geo/countries.tsv", "area"): ["integer", 3, 0, 3, "41285", "825615", True],
        ("ids.jsonl", "id"): ["integer", 2, 0, 2, "12345678901234567890", "12345678901234567891", True],
        ("ids.jsonl", "code"): ["text", 2, 0, 2, "00501", "00502", True],
        ("ids.jsonl", "deep.ok"): ["boolean", 2, 0, 2, "false", "true", True],
        ("notes/quoted.csv", "id"): ["integer", 2, 0, 2, "1", "2", True],
        ("notes/quoted.csv", "note"): ["text", 2, 0, 2, 'say "hi"', "two lines", True],
    }


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ("switzerland", [("cities.csv", "country", 2), ("geo/countries.tsv", "name", 1)]),
        ("ZÜRICH ", [("cities.csv", "city", 1)]),
        ("NA", [("cities.csv", "city", 1), ("geo/countries.tsv", "iso", 1)]),
        ("643801", [("geo/countries.tsv", "area", 1)]),
        ("12345678901234567891", [("ids.jsonl", "id", 1)]),
        ("501", []),
        ("00501", [("ids.jsonl", "code", 1)]),
        ("two lines", [("notes/quoted.csv", "note", 1)]),
        ("Atlantis", []),
    ],
)
def test_find(golden, value, places):
    assert [(hit.table, hit.column, hit.rows) for hit in dovetail.open(golden).find(value)] == places


MINE = pa.table({"city": ["zürich", "PARIS", "Oslo"], "land": ["Switzerland", "France", "Norway"]})
BY_CITY = ("cities.csv", ("city",))
BY_COUNTRY = [("cities.csv", ("country",)), ("geo/countries.tsv", ("name",))]


@pytest.mark.parametrize(
    ("question", "hits"),
    [
        ({"on": "land"}, BY_COUNTRY),  # josie
        ({"on": "land", "threshold": 0.6}, BY_COUNTRY),  # lsh_ensemble
        ({"on": ["city", "land"]}, [("cities.csv", ("city", "country"))]),  # rows, mate
        ({"on": "city", "by": "semantic"}, [BY_CITY]),  # pexeso
    ],
    ids=str,
)
def test_search(golden, question, hits):
    found = dovetail.open(golden).search(MINE, **question)
    assert sorted((hit.table, hit.columns) for hit in found) == hits


def test_info_and_verify(golden):
    found = dovetail.verify(golden)
    assert (found.problems, found.segments, found.tables) == ((), 2, 5)
    info = dovetail.open(golden).info()
    assert [info[name] for name in ("tables", "columns", "rows", "values", "dead_tables")] == [4, 12, 11, 26, 1]


def test_it_can_be_gone_on_with(golden):
    """An index of this format is not only read but written to."""
    before = contents_of(golden)
    with without_spark():
        assert dovetail.compact(golden).segments_after == 1
    assert dovetail.remove(golden, "ids.jsonl") == ["ids.jsonl"]
    del before["ids.jsonl"]
    assert contents_of(golden) == before
    assert dovetail.verify(golden).problems == ()


def test_it_is_what_is_written_today(tmp_path, golden):
    """Where an index has other parts, arrays or columns today, the format has changed without a new number."""
    from make import make

    make(tmp_path / "today")
    today, then = (open_snapshot(path).segments for path in (tmp_path / "today", golden))
    assert [shape(segment) for segment in today] == [shape(segment) for segment in then]


def shape(segment: Segment) -> dict[str, object]:
    """The parts with their versions and arrays, and what the catalog's columns are called and made of."""
    packs = {name: segment.pack(name) for name in segment.parts}
    catalog = CatalogReader(packs["catalog"])
    return {
        "parts": {
            name: (pack.version, [(key, array.dtype) for key, array in sorted(pack._arrays.items())])
            for name, pack in packs.items()
        },
        "catalog": (catalog.tables.schema, catalog.columns.schema),
        "counts": sorted(segment.counts),
    }
