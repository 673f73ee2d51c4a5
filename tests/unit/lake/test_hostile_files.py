"""Files that are made to harm: each is refused with one sentence, in bounded memory, or is simply read."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakefiles import rows_of, written

from dovetail.errors import UnreadableTable
from dovetail.lake import streams
from dovetail.lake.containers import databases, html_tables
from dovetail.lake.containers.archives import TarArchive, ZipArchive
from dovetail.lake.containers.databases import SqliteFile
from dovetail.lake.containers.html_tables import HtmlPage
from dovetail.lake.containers.nested_json import JsonDocument
from dovetail.lake.containers.spreadsheets import Workbook
from dovetail.lake.layout import distinct_names
from dovetail.lake.members import members_of
from dovetail.lake.reader import detect_layout, read

ATTACK = "unpacks to more than 250 times its size"
TABLE = b"id,word\n" + b"".join(b"%d,word %d\n" % (number, number) for number in range(100))
READING = """
import re, resource, sys
from pathlib import Path
from dovetail.errors import UnreadableTable
from dovetail.lake import blocks
from dovetail.lake.reader import detect_layout, read
blocks.LARGEST_RECORD >>= 2
def memory():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10
Path(sys.argv[1] + ".csv").write_text("a,b\\n1,2\\n")  # whatever has to be imported and compiled
list(read(Path(sys.argv[1] + ".csv"), detect_layout(Path(sys.argv[1] + ".csv"))))
before = memory()
most = (int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) + (1 << 20)) << 10
resource.setrlimit(resource.RLIMIT_DATA, (most, most))  # what is reserved and never used would not show in the memory
for name in sys.argv[1:]:
    try:
        rows = sum(batch.num_rows for batch in read(Path(name), detect_layout(Path(name))))
        print(memory() - before, f"{rows} rows")
    except UnreadableTable as error:
        print(memory() - before, error)
"""


def read_all_apart(paths: Iterable[Path]) -> list[tuple[int, str]]:
    """The megabytes that reading the files so far takes in a process of its own, and the rows or the reason of each.

    The process may have a gigabyte, so that who asks for more is told that there is no memory.
    """
    done = subprocess.run(
        [sys.executable, "-c", READING, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return [(int(megabytes), reason) for megabytes, _, reason in lines]


def read_apart(path: Path) -> tuple[int, str]:
    (found,) = read_all_apart([path])
    return found


@pytest.fixture
def small_limit(monkeypatch):
    """Bombs of a megabyte, so that tests take no time."""
    monkeypatch.setattr(streams, "ALWAYS_UNPACKED", 1 << 20)


def packed(kind: str, content: bytes) -> bytes:
    if kind == "gz":
        return gzip.compress(content)
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_stream_that_unpacks_to_too_much_is_refused(tmp_path, kind, small_limit):
    bomb = written(tmp_path, f"bomb.csv.{kind}", packed(kind, TABLE + b"0,0\n" * 2_000_000))
    with pytest.raises(UnreadableTable, match=ATTACK):
        list(read(bomb, detect_layout(bomb)))
    numbers = b"".join(b"%d,%d\n" % (number, number * number) for number in range(100_000))
    fine = written(tmp_path, f"fine.csv.{kind}", packed(kind, b"id,square\n" + numbers))
    assert sum(batch.num_rows for batch in read(fine, detect_layout(fine))) == 100_000


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_bomb_in_an_archive_is_refused(tmp_path, small_limit):
    archive = zipped(tmp_path / "a.zip", {"bomb.csv": bytes(4 << 20), "fine.csv": TABLE})
    with pytest.raises(UnreadableTable, match=ATTACK):
        ZipArchive().extract(archive, "bomb.csv", tmp_path)
    with pytest.raises(UnreadableTable, match=ATTACK):
        ZipArchive().members(archive)
    assert ZipArchive().extract(archive, "fine.csv", tmp_path).read_bytes() == TABLE


def test_a_member_that_lies_about_its_size_gives_no_more_than_it_says(tmp_path):
    archive = zipped(tmp_path / "a.zip", {"a.csv": bytes(1 << 20)})
    true, lie = (size.to_bytes(4, "little") for size in (1 << 20, 100))
    archive.write_bytes(archive.read_bytes().replace(true, lie))
    with pytest.raises(UnreadableTable, match="broken ZIP archive"):
        ZipArchive().extract(archive, "a.csv", tmp_path)
    assert (tmp_path / "member.csv").stat().st_size <= 100


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_a_packed_tar_archive_is_not_unpacked_for_ever(tmp_path, kind, small_limit):
    bomb = tmp_path / f"a.tar.{kind}"
    with tarfile.open(bomb, f"w:{kind}") as archive:
        info = tarfile.TarInfo("a.csv")
        info.size = 4 << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    with pytest.raises(UnreadableTable, match=ATTACK):
        TarArchive().members(bomb)


@pytest.mark.parametrize("name", ["../../out.csv", "/tmp/out.csv", "..\\out.csv", "a/../../out.csv", "\x1b[2J.csv"])
def test_no_member_is_unpacked_outside_of_its_folder(tmp_path, name):
    inner = tmp_path / "deep" / "inner"
    inner.mkdir(parents=True)
    archive = tmp_path / "deep" / "a.tar"
    with tarfile.open(archive, "w") as file:
        info = tarfile.TarInfo(name)
        info.size = len(TABLE)
        file.addfile(info, io.BytesIO(TABLE))
        link = tarfile.TarInfo("link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    assert all(member.name != "link.csv" for member in TarArchive().members(archive))
    made = TarArchive().extract(archive, name, inner)
    assert made.parent == inner
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.tar", "member.csv"]


def test_names_that_are_no_characters_are_replaced_in_tar_archives_and_refused_elsewhere(tmp_path):
    archive = tmp_path / "a.tar"
    with tarfile.open(archive, "w", errors="surrogateescape") as file:
        info = tarfile.TarInfo("\udcff.csv")
        info.size = len(TABLE)
        file.addfile(info, io.BytesIO(TABLE))
    (member,) = members_of(archive)
    assert member.name == "\ufffd.csv"
    assert TarArchive().extract(archive, member.name, tmp_path).read_bytes() == TABLE
    with pytest.raises(UnicodeError):
        members_of(written(tmp_path, "a.json", '{"\\ud800": [{"a": 1}], "b": [{"a": 2}]}'))


def workbook(path: Path, cell: str) -> Path:
    """A sheet with one cell."""
    main, office = "http://schemas.openxmlformats.org/", "application/vnd.openxmlformats-officedocument.spreadsheetml"
    rows = f'<row r="1"><c r="A1"><v>1</v></c></row><row><c r="{cell}"><v>2</v></c></row>'
    relation = f"{main}officeDocument/2006/relationships"
    return zipped(path, {
        "[Content_Types].xml": f'<Types xmlns="{main}package/2006/content-types"><Override PartName="/xl/workbook.xml" '
                               f'ContentType="{office}.sheet.main+xml"/></Types>'.encode(),
        "_rels/.rels": f'<Relationships xmlns="{main}package/2006/relationships"><Relationship Id="r1" '
                       f'Type="{relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
        "xl/workbook.xml": f'<workbook xmlns="{main}spreadsheetml/2006/main" xmlns:r="{relation}"><sheets>'
                           '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'.encode(),
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{main}package/2006/relationships"><Relationship Id="r1" '
                                      f'Type="{relation}/worksheet" Target="worksheets/s.xml"/>'
                                      '</Relationships>'.encode(),
        "xl/worksheets/s.xml": f'<worksheet xmlns="{main}spreadsheetml/2006/main"><sheetData>{rows}</sheetData>'
                               '</worksheet>'.encode(),
    })  # fmt: skip


def test_a_cell_in_the_far_corner_of_a_sheet_is_refused(tmp_path):
    with pytest.raises(UnreadableTable, match="a sheet of 1,048,576 rows and 16,384 columns"):
        Workbook().members(workbook(tmp_path / "far.xlsx", "XFD1048576"))
    assert Workbook().members(workbook(tmp_path / "near.xlsx", "B3")) is not None


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dovetail.lake.containers.spreadsheets.LARGEST_WORKBOOK", 1 << 20)
    with pytest.raises(UnreadableTable, match="spreadsheet of more than 1 MB, unpacked"):
        Workbook().members(zipped(tmp_path / "a.xlsx", {"xl/worksheets/a.xml": bytes(4 << 20)}))


def test_cells_of_html_that_span_too_many_others_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(html_tables, "_MOST_CELLS", 100_000)
    page = written(tmp_path, "a.html", "<table>" + "<tr><td colspan=1000 rowspan=1000>x</td></tr>" * 100 + "</table>")
    with pytest.raises(UnreadableTable, match="more than 100,000 cells"):
        HtmlPage().members(page)
    ragged = "<table><tr>" + "<td colspan=1000>x" * 10 + "</tr>" + "<tr><td>y</td></tr>" * 1_000 + "</table>"
    with pytest.raises(UnreadableTable, match="more than 100,000 cells"):
        HtmlPage().members(written(tmp_path, "b.html", ragged))
    assert not HtmlPage().members(written(tmp_path, "c.html", "<table><tr><td>" * 100_000))


def test_nested_documents_are_refused(tmp_path):
    for depth in (400, 900, 990, 100_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        for name, content in (("a.json", f"[{deep}]"), ("a.jsonl", f'{{"b":1}}\n{deep}\n')):
            path = written(tmp_path, name, content)
            try:
                if name == "a.json":
                    path = JsonDocument().extract(path, JsonDocument().members(path)[0].name, tmp_path)
                assert sum(batch.num_rows for batch in read(path, detect_layout(path))) <= 2
            except (UnreadableTable, RecursionError) as reason:
                assert isinstance(reason, UnreadableTable) or name == "a.json"  # `reasons` is around containers


def test_a_hundred_thousand_columns_are_read(tmp_path):
    names = ",".join(["same"] * 100_000)
    path = written(tmp_path, "a.csv", f"{names}\n" + ("1," * 99_999 + "1\n") * 3)
    layout = detect_layout(path)
    assert len(set(layout.columns)) == 100_000
    assert len(rows_of(path, layout)) in (3, 4)


def test_equal_names_are_numbered_as_before():
    assert distinct_names(["a", "a", "a_2", "a", "", "a"]) == ("a", "a_3", "a_2", "a_4", "column_5", "a_5")


def test_an_endless_line_takes_bounded_memory(tmp_path):
    """80 MB in one line, after some others; a row may have 64 here, a quarter of what it may have."""
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(TABLE)
        for _ in range(80):
            file.write(b"x" * (1 << 20))
    megabytes, reason = read_apart(path)
    assert reason == "a row of more than 256 MB"
    assert megabytes < 350


def test_an_endless_first_line_takes_bounded_memory(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(1 << 36)  # of zeros, which take no room on the disk
    megabytes, reason = read_apart(path)
    assert reason == "a first line of more than 64 MB"
    assert megabytes < 300


def test_a_parquet_file_that_lies_about_its_sizes_takes_bounded_memory(tmp_path):
    """Every number of its footer and its first page, one after the other, made huge."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": range(1_000), "word": ["word"] * 1_000}), path, compression="none")
    whole = path.read_bytes()
    start, end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole) - 8
    lies = []
    for place in (*range(4, 60, 3), *range(start, end, 7)):
        lies.append(tmp_path / f"{place}.parquet")
        lies[-1].write_bytes(whole[:place] + b"\xfe\xff\xff\x0f"[: end - place] + whole[place + 4 :])
    found = read_all_apart([path, *lies])
    assert found[0][1] == "1000 rows" and len(found) == len(lies) + 1
    assert found[-1][0] < 150, "megabytes"
    refused = [reason for _, reason in found if not reason.endswith(" rows")]
    assert len(refused) > len(lies) / 4 and not [reason for reason in refused if "memory" in reason]
    assert all(int(reason.split()[0]) <= 1_000 for _, reason in found if reason.endswith(" rows"))


def arrow_file(path: Path) -> bytes:
    with pa.ipc.new_file(path, pa.schema([("word", pa.string())])) as file:
        file.write_table(pa.table({"word": ["one", "two", "three"]}))
    return path.read_bytes()


def test_an_arrow_file_whose_offsets_point_elsewhere_is_refused(tmp_path):
    """Arrow itself would read memory of others there, or crash."""
    path = tmp_path / "a.arrow"
    whole = arrow_file(path)
    offsets = b"".join(each.to_bytes(4, "little") for each in (0, 3, 6, 11))
    assert whole.count(offsets) == 1
    path.write_bytes(whole.replace(offsets, offsets[:-4] + (1 << 30).to_bytes(4, "little")))
    with pytest.raises(UnreadableTable, match="broken Arrow file"):
        list(read(path, detect_layout(path)))


def avro_file(path: Path, schema: object, block: bytes, count: int, codec: str = "null") -> Path:
    def long(number: int) -> bytes:
        number, made = number << 1, b""
        while number > 127:
            number, made = number >> 7, made + bytes([number & 127 | 128])
        return made + bytes([number])

    def text(content: bytes) -> bytes:
        return long(len(content)) + content

    head = b"Obj\x01" + long(2)
    head += text(b"avro.schema") + text(json.dumps(schema).encode()) + text(b"avro.codec") + text(codec.encode())
    sync = b"s" * 16
    path.write_bytes(head + long(0) + sync + long(count) + text(block) + sync)
    return path


def record(**fields: object) -> dict[str, object]:
    return {"type": "record", "name": "r", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


HUGE = bytes([0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F])


@pytest.mark.parametrize(
    ("schema", "block", "count", "codec", "reason"),
    [
        (record(a="null"), b"", 1 << 50, "null", "records without content"),
        (record(a="int", b={"type": "array", "items": "null"}), b"\x02" + HUGE + b"\x00", 1, "null", "lists of values"),
        (record(a="string"), HUGE + b"x", 1, "null", "broken Avro file"),
        (record(a="bytes"), b"\x01", 1, "null", "broken Avro file"),
        (record(a="string"), zlib.compress(bytes(300 << 20), 1)[2:-4], 1, "deflate", "a block of more than 256 MB"),
    ],
)  # fmt: skip
def test_an_avro_file_that_lies_is_refused(tmp_path, schema, block, count, codec, reason):
    path = avro_file(tmp_path / "a.avro", schema, block, count, codec)
    with pytest.raises(UnreadableTable, match=reason):
        list(read(path, detect_layout(path)))


def test_large_texts_and_endless_views_of_sqlite_are_bounded(tmp_path, monkeypatch, small_limit):
    monkeypatch.setattr(databases, "_STEPS", 1 << 21)
    path = tmp_path / "a.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE fine AS SELECT 1 AS a")
    connection.execute("CREATE VIEW huge AS SELECT zeroblob(900000000) AS a")
    count = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)"
    connection.execute(f"CREATE VIEW counting AS {count} SELECT a FROM n WHERE a < 0")
    connection.execute(f"CREATE VIEW endless AS {count} SELECT a, hex(zeroblob(100000)) AS b FROM n")
    connection.commit()
    connection.close()
    for name, reason in (("huge", "too big"), ("counting", "a view that takes too long"), ("endless", ATTACK)):
        with pytest.raises(UnreadableTable, match=reason):
            SqliteFile().extract(path, name, tmp_path)
    assert SqliteFile().extract(path, "fine", tmp_path).exists()
