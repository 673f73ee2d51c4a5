from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.lake.dialect import DialectOverride, parse_override
from dovetail.lake.formats import format_of
from dovetail.lake.layout import Layout, distinct_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", ("delimited", "")),
        ("A.CSV", ("delimited", "")),
        ("a.b.Tsv.GZ", ("delimited", "gz")),
        ("a.psv.zst", ("delimited", "zst")),
        ("a.ndjson", ("jsonl", "")),
        ("a.jsonl.gz", ("jsonl", "gz")),
        ("a.parquet", ("parquet", "")),
        ("a.pq", ("parquet", "")),
        ("a.feather", ("arrow", "")),
        ("a.parquet.gz", None),
        ("a.gz", None),
        ("README.md", None),
        (".csv", None),
        ("noname", None),
    ],
)
def test_format_of(name: str, expected: tuple[str, str] | None) -> None:
    assert format_of(name) == expected


def test_names_are_distinct_and_stable() -> None:
    assert distinct_names(["name", "code", "code", "name", "name"]) == (
        "name",
        "code",
        "code_2",
        "name_2",
        "name_3",
    )
    assert distinct_names(["", "a", " ", None]) == ("column_1", "a", "column_3", "column_4")
    assert distinct_names(["a", "a", "a_2"]) == ("a", "a_3", "a_2")
    assert distinct_names(["column_2", ""]) == ("column_2", "column_2_2")


@given(st.lists(st.sampled_from(["", "a", "b", "a_2", "a_3", "column_1", "column_2"])))
def test_names_are_always_distinct(cells: list[str]) -> None:
    names = distinct_names(cells)
    assert len(set(names)) == len(cells)
    assert all(names)


def test_override() -> None:
    assert parse_override("delimiter=;,header=no,encoding=cp1252") == DialectOverride(
        delimiter=";", header=False, encoding="cp1252"
    )
    assert parse_override("delimiter=tab, quote=none,skip_lines=2").delimiter == "\t"
    assert parse_override("quote=none").quote == ""
    assert parse_override("delimiter=comma").delimiter == ","
    assert parse_override("") == DialectOverride()


@pytest.mark.parametrize(
    "text",
    [
        "colour=red",
        "delimiter",
        "delimiter=ab",
        "header=maybe",
        "encoding=klingon",
        "skip_lines=-1",
        "delimiter=none",
    ],
)
def test_override_says_what_is_wrong(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_override(text)
    assert text.split("=")[0] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_layout_round_trip() -> None:
    layout = Layout("delimited", ("a", "b"), encoding="cp1252", delimiter=";", quote='"', header=False, body=17)
    assert Layout.from_json(layout.to_json()) == layout
