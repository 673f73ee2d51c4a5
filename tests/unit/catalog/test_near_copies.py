"""Near-copies: the same file twice, editions, lists in several languages; and what only looks like them."""

from __future__ import annotations

from pathlib import Path

import dovetail
from dovetail.catalog.near_copies import CopyGroups, Outline, ValueRange, outlines
from dovetail.tables.input_table import open_table
from support.pipeline import index, without_spark

ID = ValueRange("integer", 5, "1", "5")


def _table(path: str, **columns: ValueRange) -> Outline:
    return Outline(path, columns)


def _names(distinct: int, first: str, last: str) -> ValueRange:
    return ValueRange("text", distinct, first, last)


def test_the_same_file_under_two_names_is_a_copy() -> None:
    one = _table("a/cities.csv", id=ID, name=_names(9, "athens", "zürich"))
    other = _table("b/c/places.csv", id=ID, name=_names(10, "athens", "zürich"))
    assert one.related(other) == other.related(one) == "copy"


def test_lookup_tables_with_the_same_columns_are_no_copies() -> None:
    colours = _table("shop/colours.csv", id=ID, name=_names(5, "blue", "red"))
    sizes = _table("shop/sizes.csv", id=ID, name=_names(5, "large", "small"))
    assert colours.related(sizes, ["id"]) is None
    assert colours.related(sizes, ["name"]) is None


def test_a_list_in_several_languages_is_a_copy_if_its_codes_are_in_question() -> None:
    english = _table("countries_english.csv", code=_names(200, "ad", "zw"), name=_names(200, "afghanistan", "zimbabwe"))
    german = _table("countries_german.csv", code=_names(200, "ad", "zw"), name=_names(200, "afghanistan", "zypern"))
    assert english.related(german, ["code"]) == "copy"
    assert english.related(german, ["name"]) is None


def test_editions_differ_in_numbers_or_in_one_folder() -> None:
    columns = {"day": ValueRange("date", 1, "2020-03-21", "2020-03-21"), "cases": ID}
    later = {"day": ValueRange("date", 1, "2020-03-22", "2020-03-22"), "cases": ValueRange("integer", 7, "3", "9")}
    for one, other in (
        ("daily/03-21-2020.csv", "daily/03-22-2020.csv"),
        ("data/2019/report.csv", "data/2020/report.csv"),
        ("data/de/report.csv", "data/fr/report.csv"),
        ("wave1.csv", "wave2.csv"),
    ):
        assert Outline(one, columns).related(Outline(other, later)) == "edition"
    for one, other in (
        ("web/577.csv", "web/630.csv"),  # numbers that name any table
        ("data/north.csv", "data/south.csv"),
        ("a/b/report.csv", "c/d/report.csv"),
    ):
        assert Outline(one, columns).related(Outline(other, later)) is None


def test_editions_have_column_names_of_their_own() -> None:
    one = _table("page1.csv", column_1=ID, column_2=_names(3, "a", "c"))
    other = _table("page2.csv", column_1=_names(4, "x", "z"), column_2=ID)
    assert one.related(other) is None


def test_other_columns_make_another_table() -> None:
    one = _table("report_2019.csv", id=ID, name=_names(5, "a", "e"))
    other = _table("report_2020.csv", key=ID, title=_names(5, "a", "e"))
    assert one.related(other) is None
    assert _table("empty.csv").related(_table("empty.csv")) is None


def test_each_group_is_that_of_its_first_table() -> None:
    groups = CopyGroups()
    copies = [_table(f"daily/2020-01-{day}.csv", name=_names(day, "a", f"z{day}"), n=ID) for day in (10, 20, 30)]
    other = _table("people.csv", name=_names(4, "ada", "tim"), n=ID)
    assert [groups.add(table, ["name"]) for table in (copies[0], other, *copies[1:])] == [0, 1, 0, 0]


def test_a_file_is_outlined_as_in_the_index(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.csv").write_text("id,name,when\n10,Bo,2020-01-02\n9,Al,2021-03-04\n9,,\n")
    (lake / "b.csv").write_text("x,y\n1.5,yes\n2.5,no\n")
    with without_spark():
        index(lake, tmp_path / "idx")
    (segment,) = dovetail.Lake(tmp_path / "idx").segments
    read = outlines(segment.catalog, [1, 0])
    assert read == [open_table(outline.path).outline for outline in read]
    assert {Path(outline.path).name for outline in read} == {"a.csv", "b.csv"}
    assert read[0].columns.keys() | read[1].columns.keys() == {"id", "name", "when", "x", "y"}
