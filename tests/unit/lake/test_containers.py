"""Files that hold several tables, made by the libraries that people make them with: every member is a table."""

from __future__ import annotations

import datetime
import io
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pytest

import dovetail
from dovetail.errors import InputError, TemporarilyUnreadable, UnreadableTable
from dovetail.lake import members
from dovetail.lake.containers.html_tables import HtmlPage
from dovetail.lake.containers.nested_json import tables_of as json_tables
from dovetail.lake.containers.registry import parse_member
from dovetail.lake.containers.spreadsheets import tables_of
from dovetail.lake.listing import Root, TableFile
from dovetail.lake.members import members_of
from dovetail.lake.reader import detect_layout, read
from dovetail.lake.source import is_unchanged, list_lake, source_of
from support.pipeline import without_spark


def read_table(address: str, folder: Path) -> list[dict[str, str | None]]:
    """The rows of a table, through its source."""
    copy = source_of(address).copy(TableFile("", address, 0, ""), folder)
    batches = list(read(copy.path, detect_layout(copy.path)))
    return pa.Table.from_batches(batches).to_pylist() if batches else []


def names_of(path: Path) -> list[str]:
    return [member.name for member in members_of(path)]


CITIES = "city,people\nZürich,402762\nBern,133115\nBasel,171017\n"
ROWS = [
    {"city": "Zürich", "people": "402762"}, {"city": "Bern", "people": "133115"}, {"city": "Basel", "people": "171017"}
]  # fmt: skip


class TestArchives:
    @pytest.fixture
    def archive(self, tmp_path) -> Path:
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("in/cities.csv", CITIES)
            archive.writestr("../hidden.csv", CITIES)
            archive.writestr("/tmp/evil.csv", CITIES)
            archive.writestr("__MACOSX/in/._cities.csv", "x")
            archive.writestr("read me.md", "no table")
        return tmp_path / "a.zip"

    def test_members(self, archive):
        assert names_of(archive) == ["in/cities.csv", "/tmp/evil.csv"]

    def test_rows(self, archive, tmp_path):
        assert read_table(f"{archive}::in/cities.csv", tmp_path / "copies") == ROWS

    def test_no_name_leaves_the_folder(self, archive, tmp_path):
        assert read_table(f"{archive}::/tmp/evil.csv", tmp_path / "copies") == ROWS
        assert {path.name for path in tmp_path.iterdir()} == {"a.zip", "copies"}

    def test_no_such_member(self, archive, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_table(f"{archive}::other.csv", tmp_path / "copies")

    @pytest.mark.parametrize("mode", ["", ":gz", ":bz2", ":xz"])
    def test_tar(self, tmp_path, mode):
        path = tmp_path / f"a.tar{mode.replace(':', '.')}"
        with tarfile.open(path, f"w{mode}") as archive:
            info = tarfile.TarInfo("in/cities.csv")
            info.size = len(CITIES.encode())
            archive.addfile(info, io.BytesIO(CITIES.encode()))
            link = tarfile.TarInfo("link.csv")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        assert names_of(path) == ["in/cities.csv"]
        assert read_table(f"{path}::in/cities.csv", tmp_path / "copies") == ROWS

    def test_zstd(self, tmp_path):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            info = tarfile.TarInfo("cities.csv")
            info.size = len(CITIES.encode())
            archive.addfile(info, io.BytesIO(CITIES.encode()))
        (tmp_path / "a.tar.zst").write_bytes(pa.compress(packed.getvalue(), "zstd", asbytes=True))
        assert read_table(f"{tmp_path}/a.tar.zst::cities.csv", tmp_path / "copies") == ROWS

    @pytest.mark.parametrize(
        "name", ["a.zip", "a.tar", "a.tar.gz", "a.xlsx", "a.ods", "a.sqlite", "a.duckdb", "a.json"]
    )
    def test_damage(self, tmp_path, name):
        (tmp_path / name).write_bytes(b"this is none of them at all" * 50)
        (file,) = list_lake([Root.of(str(tmp_path))]).values()
        assert file.table == name
        assert file.refused.startswith("broken ")

    def test_cut_off(self, archive):
        archive.write_bytes(archive.read_bytes()[:-20])
        with pytest.raises(UnreadableTable, match="broken ZIP archive"):
            members_of(archive)


class TestSpreadsheets:
    def book(self, path: Path, **sheets: list[list[object]]) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
        book.save(path)
        return path

    def test_cells_as_a_person_reads_them(self, tmp_path):
        day, moment = datetime.datetime(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5)
        rows = [["id", "x", "day", "at", "ok"], [1, 0.25, day, moment, True], [2, -3.0, day, moment, False]]
        path = self.book(tmp_path / "b.xlsx", One=rows)
        assert names_of(path) == ["One"]
        assert read_table(f"{path}::One", tmp_path / "c") == [
            {"id": "1", "x": "0.25", "day": "2024-02-29", "at": "2024-02-29T13:05:00", "ok": "true"},
            {"id": "2", "x": "-3", "day": "2024-02-29", "at": "2024-02-29T13:05:00", "ok": "false"},
        ]

    def test_titles_and_several_tables(self, tmp_path):
        path = self.book(
            tmp_path / "b.xlsx",
            Report=[
                ["Cities of 2024"], [],
                ["city", "people", None, "code", "name"],
                ["Bern", 1, None, "BE", "Bern"], ["Basel", 2, None, "BS", "Basel"],
                [], ["Source: our own"],
            ],
            Empty=[],
            Other=[["a", "b"], [1, 2]],
        )  # fmt: skip
        assert names_of(path) == ["Report/1", "Report/2", "Other"]
        assert read_table(f"{path}::Report/2", tmp_path / "c") == [
            {"code": "BE", "name": "Bern"}, {"code": "BS", "name": "Basel"},
        ]  # fmt: skip

    def test_the_only_table_needs_no_name(self, tmp_path):
        path = self.book(tmp_path / "b.xlsx", One=[["a", "b"], ["x", 1], ["y", 2]])
        assert dovetail.join(path, path, on="a").rows == 2
        many = self.book(tmp_path / "m.xlsx", One=[["a", "b"], ["x", 1]], Two=[["a", "b"], ["x", 1]])
        with pytest.raises(InputError, match=r"it holds 2 tables \(One, Two\); name one as .*m.xlsx::One"):
            dovetail.join(many, path)

    def test_an_empty_row_for_the_eye(self):
        cells = [["a", "b"], ["x", "1"], ["", ""], ["y", "2"], ["z", "3"], ["", ""], ["c", "d"], ["p", "q"]]
        assert tables_of(cells) == [[["a", "b"], ["x", "1"], ["y", "2"], ["z", "3"]], [["c", "d"], ["p", "q"]]]

    def test_one_column(self):
        assert tables_of([["a"], ["x"], [""], ["y"]]) == [[["a"], ["x"], ["y"]]]
        assert tables_of([]) == []


class TestDatabases:
    def test_sqlite(self, tmp_path):
        path = tmp_path / "app.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute('CREATE TABLE "my ""table" (id INTEGER PRIMARY KEY AUTOINCREMENT, x, y REAL)')
            connection.executemany(
                'INSERT INTO "my ""table" (x, y) VALUES (?, ?)', [("ü", 0.5), (b"\x00\xff", None), (7, 2)]
            )
            connection.execute('CREATE VIEW v AS SELECT id FROM "my ""table"')
        connection.close()
        assert names_of(path) == ['my "table', "v"]
        assert read_table(f'{path}::my "table', tmp_path / "c") == [
            {"id": "1", "x": "ü", "y": "0.5"}, {"id": "2", "x": "00ff", "y": None}, {"id": "3", "x": "7", "y": "2.0"},
        ]  # fmt: skip
        assert [row["id"] for row in read_table(f"{path}::v", tmp_path / "c")] == ["1", "2", "3"]

    def test_what_is_in_the_log_only(self, tmp_path):
        path = tmp_path / "app.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        (before,) = list_lake([Root.of(str(tmp_path))]).values()
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        (after,) = list_lake([Root.of(str(tmp_path))]).values()
        assert before.fingerprint != after.fingerprint
        assert read_table(after.path, tmp_path / "c") == [{"x": "1"}]
        assert source_of(after.path).fingerprint(after) == after.fingerprint, "reading changes nothing"
        assert is_unchanged(after.path, after.fingerprint)
        connection.close()

    def test_duckdb(self, tmp_path):
        path = tmp_path / "w.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE SCHEMA s; CREATE TABLE s.t AS SELECT range AS id, DATE '2024-01-01' AS day FROM range(3)"
            )
            connection.execute("CREATE VIEW v AS SELECT 'x' AS a, [1, 2] AS list")
        assert names_of(path) == ["v", "s.t"]
        assert read_table(f"{path}::s.t", tmp_path / "c")[2] == {"id": "2", "day": "2024-01-01"}
        assert read_table(f"{path}::v", tmp_path / "c") == [{"a": "x", "list": "[1, 2]"}]


class TestJson:
    def test_lists_are_tables_with_a_key_to_their_parent(self):
        document = {
            "orders": [{"no": 1, "items": [{"sku": "a", "n": 2}, {"sku": "b", "n": 1}], "tags": ["x"]}, {"no": 2}]
        }
        assert [tuple(table) for table in json_tables(document)] == [
            ("orders", [{"no": 1}, {"no": 2}]),
            ("orders.items", [{"orders.no": 1, "sku": "a", "n": 2}, {"orders.no": 1, "sku": "b", "n": 1}]),
            ("orders.tags", [{"orders.no": 1, "value": "x"}]),
        ]

    def test_rows_without_a_key_are_numbered(self):
        assert [tuple(table) for table in json_tables([{"a": 1, "l": [3]}, {"a": 1, "l": [4, 5]}])] == [
            ("", [{"_row": 1, "a": 1}, {"_row": 2, "a": 1}]),
            ("l", [{"_row": 1, "value": 3}, {"_row": 2, "value": 4}, {"_row": 2, "value": 5}]),
        ]

    def test_rows_by_their_keys(self):
        assert json_tables({"CH": {"name": "Swiss", "n": 1}, "DE": {"name": "German"}})[0].rows == [
            {"key": "CH", "name": "Swiss", "n": 1}, {"key": "DE", "name": "German"},
        ]  # fmt: skip

    @pytest.mark.parametrize("document", [{"name": "x", "version": "1"}, [], {}, 3, {"a": {"b": 1}, "c": {"d": 2}}])
    def test_no_rows(self, document):
        with pytest.raises(UnreadableTable, match="JSON without rows"):
            json_tables(document)

    def test_files(self, tmp_path):
        (tmp_path / "a.json").write_text('[{"x": 1.50, "o": {"p": "ü"}}, {"x": 2, "o": {"p": null}}]')
        (tmp_path / "lines.json").write_text('{"x": 1}\n{"x": 2}\n')
        assert read_table(f"{tmp_path}/a.json", tmp_path / "c") == [{"x": "1.50", "o.p": "ü"}, {"x": "2", "o.p": None}]
        assert read_table(f"{tmp_path}/lines.json", tmp_path / "c") == [{"x": "1"}, {"x": "2"}]


class TestHtml:
    def test_tables(self, tmp_path):
        path = tmp_path / "page.html"
        path.write_text(
            "<html><body><table><tr><td><table><tr><th>city<th>people</tr>"
            "<tr><td rowspan=2>Z&uuml;rich<br>City<td>1</tr><tr><td>2<script>evil()</script></tr></table></table>"
            "<table><tr><td>no table</table>"
        )
        assert names_of(path) == ["1"]
        copy = HtmlPage().extract(path, "1", tmp_path)
        assert copy.read_text() == "city,people\nZürich City,1\nZürich City,2\n"


def test_addresses():
    assert parse_member("/a::b/x.zip::in/c::d.csv")[::2] == ("/a::b/x.zip", "in/c::d.csv")
    assert parse_member("s3://b/x.xlsx::One")[::2] == ("s3://b/x.xlsx", "One")
    assert parse_member("/a::b/x.csv") is None


def test_a_lake_of_containers(tmp_path):
    """Indexed, searched, joined, changed and removed as files are."""
    lake, to = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    with zipfile.ZipFile(lake / "a.zip", "w") as archive:
        archive.writestr("cities.csv", CITIES)
        archive.writestr("other.csv", "a,b\n1,2\n3,4\n")
    (lake / "p.json").write_text(json.dumps([{"city": "Zürich", "rain": 3}, {"city": "Bern", "rain": 4}]))
    with without_spark():
        dovetail.index(lake, to, exclude=["a.zip::other.csv"])
        opened = dovetail.open(to)
        assert set(opened.tables().to_pandas()["table"]) == {"a.zip::cities.csv", "p.json"}
        (hit,) = opened.search({"town": ["Zürich", "Basel", "Bern"]}, on="town", k=1)
        assert hit.table == "a.zip::cities.csv"
        assert opened.join({"town": ["Bern"]}, "a.zip::cities.csv", on="town=city").table.to_pylist() == [
            {"town": "Bern", "city": "Bern", "people": "133115"}
        ]
        assert dovetail.index(lake, to).unchanged == 2
        with zipfile.ZipFile(lake / "a.zip", "w") as archive:
            archive.writestr("cities.csv", CITIES + "Genf,203951\n")
        assert dovetail.index(lake, to).changed == 1
        (lake / "a.zip").unlink()
        assert dovetail.index(lake, to).removed == 1


def test_containers_that_have_not_changed_are_not_opened(tmp_path, monkeypatch):
    lake, to = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    with zipfile.ZipFile(lake / "a.zip", "w") as archive:
        archive.writestr("cities.csv", CITIES)
        archive.writestr("other.csv", CITIES)
    (lake / "broken.zip").write_bytes(b"no archive")
    with without_spark():
        dovetail.index(lake, to, exclude=["*::other.csv"])
        with monkeypatch.context() as patch:
            patch.setattr(members, "members_of", lambda path: pytest.fail(f"{path} was opened"))
            assert dovetail.index(lake, to).unchanged == 2
            assert dovetail.index(lake, to, exclude=[]).added == 1, "what else is in it is known"
        (to / "members.json").write_bytes(b"damaged")
        assert dovetail.index(lake, to).unchanged == 3
        (lake / "a.zip").unlink()
        dovetail.index(lake, to, allow_drop=True)
        assert "a.zip" not in (to / "members.json").read_text()
        assert dovetail.verify(to).problems == ()


def test_a_container_that_cannot_be_opened_now_is_tried_again(tmp_path, monkeypatch):
    lake, to = tmp_path / "lake", tmp_path / "idx"
    lake.mkdir()
    (lake / "a.json").write_text('[{"a": 1, "b": 2}, {"a": 3, "b": 4}]')

    def locked(path: Path) -> None:
        raise TemporarilyUnreadable("cannot be read now: locked")

    with without_spark():
        with monkeypatch.context() as patch:
            patch.setattr(members, "members_of", locked)
            (skipped,) = dovetail.index(lake, to).skipped
            assert skipped.reason == "cannot be read now: locked"
        assert not dovetail.index(lake, to).skipped
