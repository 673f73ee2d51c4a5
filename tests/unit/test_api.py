"""An open index in Python, on the sample lake."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

import dovetail
from dovetail.errors import NotAnIndex, UnknownName
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE


@pytest.fixture(scope="module")
def lake(sample_index):
    return dovetail.open(sample_index)


@pytest.fixture
def copy(sample_index, tmp_path):
    return shutil.copytree(sample_index, tmp_path / "idx")


def test_public_names_are_sorted_and_there():
    assert dovetail.__all__ == sorted(dovetail.__all__)
    assert all(hasattr(dovetail, name) for name in dovetail.__all__)


def test_tables(lake):
    every = lake.tables()
    files = {path.relative_to(SAMPLE_LAKE).as_posix() for path in SAMPLE_LAKE.rglob("*.*")} - {"ORIGINS.md"}
    assert [line.table for line in every] == sorted(files)
    assert [line.table for line in every if line.error] == ["notes.csv"]
    assert [line.table for line in lake.tables("geo/us-s*")] == ["geo/us-state-capitals.jsonl", "geo/us-states.csv"]
    assert lake.tables("nothing") == []


def test_a_table_and_its_columns(lake):
    table = lake.table("geo/countries.csv")
    assert (table.name, table.rows, table.error) == ("geo/countries.csv", 252, "")
    assert [column.name for column in table.columns if column.key] == ["Code", "Name", "Native"]
    code = table.column("Code")
    assert (code.table, code.type, code.rows, code.nulls, code.distinct) == ("geo/countries.csv", "text", 252, 0, 252)
    assert code.sample[:3] == ("AC", "AD", "AE")
    assert repr(table).startswith("<Table geo/countries.csv: 252 rows, columns Code, Name, ")
    assert repr(code) == "<Column Code of geo/countries.csv: text, 252 distinct, 0 nulls>"


def test_a_file_that_is_no_table(lake):
    notes = lake.table("notes.csv")
    assert (notes.rows, notes.columns, notes.error) == (0, [], "not a table: prose")
    assert repr(notes) == "<Table notes.csv: not a table: prose>"
    assert [(skipped.path, skipped.reason) for skipped in lake.skipped()] == [("notes.csv", notes.error)]


def test_unknown_names_get_suggestions(lake):
    with pytest.raises(UnknownName, match=r'has no table "countries\.csv"\. Did you mean "geo/countries'):
        lake.table("countries.csv")
    with pytest.raises(UnknownName, match=r'geo/countries\.csv has no column "Contry"'):
        lake.table("geo/countries.csv").column("Contry")
    with pytest.raises(UnknownName, match=r"There are 8: Code, Name, Native, Phone, Continent and 3 more\."):
        lake.table("geo/countries.csv").column("zzz")


def test_find_equals_a_plain_count(lake):
    lines = (SAMPLE_LAKE / "economy" / "gapminder.csv").read_text().splitlines()
    assert lines[0].split(",")[0] == "country"
    expected = Counter(line.split(",")[0] for line in lines[1:])["Switzerland"]
    hits = {(hit.table, hit.column): hit.rows for hit in lake.find(" SWITZERLAND ")}
    assert hits["economy/gapminder.csv", "country"] == expected == 12
    assert lake.find("Atlantis") == []


def test_find_is_ordered_by_rows(lake):
    hits = lake.find("us")
    assert hits == sorted(hits, key=lambda hit: (-hit.rows, hit.table, hit.column))
    assert len(hits) > 3


def test_find_columns_whatever_the_case(lake):
    assert {line.column for line in lake.find_columns("*IATA*")} == {"iata", "IATA"}


def test_answers_turn_into_other_things(lake):
    lines = lake.tables("transport/*")
    assert lines.to_arrow().num_rows == len(lines.to_dicts()) == len(lines)
    assert list(lines.to_pandas().columns) == ["table", "rows", "columns", "bytes", "error"]
    assert "<td>transport/airports.csv</td>" in lines._repr_html_()
    assert lake.tables("nothing")._repr_html_() == "<p>nothing</p>"
    assert lake.tables("nothing").to_pandas().empty


def test_values_cannot_break_out_of_a_notebook_table(lake):
    lines = lake.tables("geo/us-states.csv")
    lines[0] = type(lines[0])("<script>", 0, 0, 0, "")
    assert "<script>" not in lines._repr_html_()


def test_info_adds_up(lake):
    info = lake.info()
    tables = [line for line in lake.tables() if not line.error]
    assert info["tables"] == len(tables)
    assert info["rows"] == sum(line.rows for line in tables)
    assert info["columns"] == sum(line.columns for line in tables)
    assert info["generation"] == lake.generation
    assert repr(lake).endswith(f"generation {lake.generation}>")


def test_removed_tables_are_gone_for_new_readers_only(copy):
    before = dovetail.open(copy)
    removed = dovetail.remove(copy, "geo/*", "notes.csv")
    assert len(removed) == 18
    after = dovetail.open(copy)
    assert len(before.tables("geo/*")) == 17
    assert after.tables("geo/*") == []
    assert after.skipped() == []
    assert not any(hit.table.startswith("geo/") for hit in after.find("switzerland"))
    assert not any(line.table.startswith("geo/") for line in after.find_columns("*"))
    with pytest.raises(UnknownName):
        after.table("geo/countries.csv")


def test_compact_changes_no_answer(copy):
    dovetail.remove(copy, "geo/*")
    before = dovetail.open(copy)
    with without_spark():
        done = dovetail.compact(copy)
    after = dovetail.open(copy)
    assert done.bytes_after < done.bytes_before
    assert after.generation == done.generation > before.generation
    assert after.tables() == before.tables()
    assert after.find("switzerland") == before.find("switzerland")
    assert dovetail.verify(copy).problems == ()


def test_no_index(tmp_path):
    for ask in (dovetail.open, dovetail.verify, dovetail.compact):
        with pytest.raises(NotAnIndex, match="is not an index"):
            ask(tmp_path)


def test_index_takes_everything_that_the_command_takes(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.txt").write_text("1|x\n2|y\n")
    (tmp_path / "lake" / "b.csv").write_text("k,v\n1,2\n")
    with without_spark():
        report = dovetail.index(
            tmp_path / "lake",
            tmp_path / "idx",
            tables=["*.txt", "*.csv"],
            exclude=["b*"],
            dialects={"*.txt": "delimiter=|,header=no"},
            settings={"segment_mb": 5, "super_key_bits": 256},
        )
    assert (report.tables, report.columns, report.added) == (1, 2, 1)
    info = dovetail.open(tmp_path / "idx").info()
    assert info["settings"]["super_key_bits"] == 256
    assert info["roots"][0]["exclude"] == ["b*"]
