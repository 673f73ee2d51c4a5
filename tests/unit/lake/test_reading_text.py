"""Hard text files, each made here: what a reader should see in them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard
from lakefiles import rows_of, table_of, written

from dovetail.errors import UnreadableTable
from dovetail.lake.reader import DialectOverride, RowCounter, detect_layout, read

PLACES = [
    ("Åland", "AX", "ALA", "Mariehamn", "Îles d'Åland"),
    ("Brazil", "BR", "BRA", "Brasília", "Brésil"),
    ("Cuba", "CU", "CUB", "Havana", "Cuba"),
    ("Denmark", "DK", "DNK", "Copenhagen", "Danemark"),
    ("Egypt", "EG", "EGY", "Cairo", "Égypte"),
    ("Fiji", "FJ", "FJI", "Suva", "Fidji"),
]
HEADER = ("country", "iso2", "iso3", "capital", "nom_fr")


def text(delimiter: str = ",", newline: str = "\n", header: bool = True) -> str:
    rows = [HEADER, *PLACES] if header else PLACES
    return "".join(delimiter.join(row) + newline for row in rows)


def expect_places(path: Path) -> None:
    columns, rows = table_of(path)
    assert columns == HEADER
    assert rows == [list(place) for place in PLACES]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "#", "^", "~"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_delimiters_and_newlines(tmp_path: Path, delimiter: str, newline: str) -> None:
    expect_places(written(tmp_path, "a.csv", text(delimiter, newline)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    content = text("\t").encode(encoding)
    if encoding == "utf-16-be":
        content = b"\xfe\xff" + content
    expect_places(written(tmp_path, "a.csv", content))


@pytest.mark.parametrize("name", ["a.csv", "A.CSV", "a.txt", "a.dat", "a b & ü.tab"])
def test_any_name(tmp_path: Path, name: str) -> None:
    expect_places(written(tmp_path, name, text()))


def test_no_final_newline_and_mixed_newlines(tmp_path: Path) -> None:
    expect_places(written(tmp_path, "a.csv", text().rstrip("\n")))
    lines = text().splitlines()
    expect_places(
        written(
            tmp_path,
            "b.csv",
            "".join(line + "\r\n" * (i % 2) + "\n" * (1 - i % 2) for i, line in enumerate(lines)),
        )
    )


def test_compressed(tmp_path: Path) -> None:
    content = text().encode()
    expect_places(written(tmp_path, "a.csv.gz", gzip.compress(content)))
    expect_places(written(tmp_path, "two-members.csv.gz", gzip.compress(content[:40]) + gzip.compress(content[40:])))
    expect_places(written(tmp_path, "a.csv.zst", zstandard.compress(content)))
    expect_places(written(tmp_path, "hidden.csv", gzip.compress(content)))


def test_sep_hint(tmp_path: Path) -> None:
    expect_places(written(tmp_path, "a.csv", "sep=;\r\n" + text(";", "\r\n")))


def test_preamble_and_footnotes(tmp_path: Path) -> None:
    expect_places(
        written(
            tmp_path,
            "a.csv",
            f"Some countries, 2024\nSource: nobody\n\n{text()}\n(1) provisional\nNotes: see site, p. 2\n",
        )
    )
    expect_places(written(tmp_path, "padded.csv", f"Some countries,,,,\n{text()}"))
    expect_places(written(tmp_path, "close.csv", f"{text()}Source: the office of made up statistics\n"))


def test_short_last_row_is_no_footnote(tmp_path: Path) -> None:
    _, rows = table_of(written(tmp_path, "a.csv", text() + "Gabon\n"))
    assert rows[-1] == ["Gabon", None, None, None, None]


def test_comments(tmp_path: Path) -> None:
    expect_places(written(tmp_path, "a.csv", "# made up\n# by hand\n" + text()))
    lines = text().splitlines(keepends=True)
    expect_places(written(tmp_path, "b.csv", "".join([*lines[:3], "# in between\n", *lines[3:]])))


def test_no_header(tmp_path: Path) -> None:
    layout = detect_layout(path := written(tmp_path, "a.csv", text(header=False)))
    assert not layout.header
    assert layout.columns == ("column_1", "column_2", "column_3", "column_4", "column_5")
    assert len(rows_of(path, layout)) == len(PLACES)


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("1,2.5\n2,3.5\n3,4.5\n", False),
        ("id,value\n1,2.5\n2,3.5\n", True),
        ("place,1960,1961,1962\nx,5,6,7\ny,8,9,10\n", True),
        ("place,1990,2000,2005\nx,5,6,7\ny,8,9,10\n", True),
        ("name,colour\nann,red\nbob,blue\n", True),
        ("2020-01-01,5\n2020-01-02,6\n2020-01-03,7\n", False),
        ("NOC,region\nAFG,Afghanistan\nALB,Albania\nALG,Algeria\n", True),
        ("x\n", True),
    ],
)
def test_header_or_none(tmp_path: Path, content: str, header: bool) -> None:
    assert detect_layout(written(tmp_path, "a.csv", content)).header is header


def test_ragged_rows_are_kept_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "a,b,c\n1,2,3\n4\n5,6,7,8,9\n10,11,12\n")
    counter = RowCounter()
    rows = rows_of(path, detect_layout(path), counter=counter)
    assert rows == [["1", "2", "3"], ["4", None, None], ["5", "6", "7"], ["10", "11", "12"]]
    assert (counter.rows, counter.short, counter.long, counter.ragged) == (4, 1, 1, 2)


def test_quotes_and_newlines_in_cells(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'a,b\n1,"x ""y"", z\nsecond\r\nthird"\n2,\n')
    assert table_of(path) == (("a", "b"), [["1", 'x "y", z\nsecond\r\nthird'], ["2", ""]])


def test_backslash_escapes(tmp_path: Path) -> None:
    rows = "".join(f'"n{i}","he said \\"{i}\\", ok"\n' for i in range(5))
    path = written(tmp_path, "a.csv", '"name","note"\n' + rows)
    assert table_of(path)[1] == [[f"n{i}", f'he said "{i}", ok'] for i in range(5)]


def test_single_quotes_and_spaces_after_delimiters(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "'a','b'\n'x, y','1'\n'z','2'\n")
    assert table_of(path) == (("a", "b"), [["x, y", "1"], ["z", "2"]])
    path = written(tmp_path, "b.csv", 'a, b, c\n1, "x, y", 2\n3, "z, w", 4\n')
    assert table_of(path) == (("a", "b", "c"), [["1", "x, y", "2"], ["3", "z, w", "4"]])


@pytest.mark.parametrize("later", ["", 'x,"a, b",c,d,e\n', 'x,y,z,w,e"\n'])
def test_unbalanced_quote_costs_one_row(tmp_path: Path, later: str) -> None:
    path = written(tmp_path, "a.csv", text() + '"broken,AA,BBB,city,nom\n' + text(header=False) + later)
    counter = RowCounter()
    rows = rows_of(path, detect_layout(path), counter=counter)
    assert rows[len(PLACES)] == ['"broken', "AA", "BBB", "city", "nom"]
    assert len(rows) == 2 * len(PLACES) + 1 + bool(later)
    assert counter.literal == 1


def test_odd_bytes(tmp_path: Path) -> None:
    nul = written(tmp_path, "nul.csv", text().replace("Havana", "Hav\0ana"))
    assert table_of(nul)[1][2][3] == "Hav\0ana"
    stray = written(tmp_path, "stray.csv", text().encode() * 8 + b"caf\xe9,FR,FRA,Paris,x\n")
    assert table_of(stray)[1][-1][0] == "café"


def test_one_huge_cell_and_one_wide_row(tmp_path: Path) -> None:
    path = written(tmp_path, "cell.csv", f"a,b\n1,{'x' * 3_000_000}\n2,y\n")
    assert [len(row[1] or "") for row in table_of(path)[1]] == [3_000_000, 1]
    names = ",".join(f"c{i}" for i in range(20_000))
    columns, rows = table_of(written(tmp_path, "wide.csv", names + "\n" + ",".join(["7"] * 20_000) + "\n"))
    assert len(columns) == 20_000 and rows == [["7"] * 20_000]


def test_header_only(tmp_path: Path) -> None:
    for content in ("a,b,c\n", "a,b,c", "x"):
        columns, rows = table_of(written(tmp_path, "a.csv", content))
        assert (len(columns), rows) == (len(content.strip().split(",")), [])


def test_override_is_obeyed(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "title\n1;2,5\n2;3,5\n")
    override = DialectOverride(delimiter=";", header=False, skip_lines=1)
    assert table_of(path, override) == (("column_1", "column_2"), [["1", "2,5"], ["2", "3,5"]])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", b"", "empty file"),
        ("a.csv", b" \n \n", "only white space"),
        ("a.csv", b"\xef\xbb\xbf\n", "only white space"),
        ("a.csv", b"<!DOCTYPE html><html><h1>404</h1></html>", "not a table: HTML"),
        (
            "a.csv",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
            "not a table: a Git LFS pointer",
        ),
        ("a.csv", bytes(range(256)) * 20, "not a table: binary data"),
        ("a.csv", b'{"a": 1, "b": [1, 2]}', "not a table: JSON"),
        ("a.csv.gz", b"plainly not gzip", "broken gzip stream"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 999, mtime=0)[:-20], "broken gzip stream"),
        ("a.csv.zst", zstandard.compress(b"a,b\n1,2\n" * 999)[:-5], "broken zstd stream"),
        (
            "a.txt",
            b"Once upon a time there was a king, who lived.\nHe was happy in his house by the sea.\n" * 9,
            "prose",
        ),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "broken JSON lines in line 2"),
        ("a.parquet", b"PAR1 and then nonsense", "broken Parquet file"),
        ("a.arrow", b"ARROW1 and then nonsense", "broken Arrow file"),
        ("a.md", b"a,b\n", "not a table by its name"),
    ],
)
def test_unreadable(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(UnreadableTable, match=reason):
        table_of(path)


def test_vanished_and_directory(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTable, match="vanished"):
        detect_layout(tmp_path / "no.csv")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(UnreadableTable, match="directory"):
        detect_layout(tmp_path / "dir.csv")


def test_one_column_of_titles_with_commas(tmp_path: Path) -> None:
    lines = ["title", "Emma", "Persuasion", "Eats, Shoots and Leaves", "Middlemarch", "Ulysses"]
    assert table_of(written(tmp_path, "a.csv", "\n".join(lines))) == (
        ("title",),
        [[line] for line in lines[1:]],
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("rows", [1, 2, 30])
def test_one_column_of_quoted_empty_cells(tmp_path: Path, rows: int, newline: str) -> None:
    path = written(tmp_path, "a.csv", newline.join(["full name", *['""'] * rows, ""]))
    layout = detect_layout(path)
    assert layout.columns == ("full name",)
    assert sum(batch.num_rows for batch in read(path, layout)) == rows


def test_one_column_of_values_with_spaces(tmp_path: Path) -> None:
    makers = [f"Maker {n}" for n in range(50)]
    assert table_of(written(tmp_path, "a.csv", "\n".join(["who", *makers]))) == (("who",), [[each] for each in makers])
    numbered = table_of(written(tmp_path, "b.txt", "\n".join(["who number", *makers])))
    assert numbered == (("who", "number"), [each.split() for each in makers])


@pytest.mark.parametrize("before", ["", ",".join(HEADER) + "\n"])
def test_stray_quote_in_the_first_rows(tmp_path: Path, before: str) -> None:
    body = text(header=False) * 10
    columns, rows = table_of(written(tmp_path, "a.csv", f'{before}"x,AA,BBB,c,d\n{body}'))
    assert len(columns) == 5
    assert len(rows) == 10 * len(PLACES) + bool(before)


def test_padded_titles_and_notes_of_a_spreadsheet(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", f"Report,,,,\nof the year,,,,\n,,,,\n{text()},,,,\nSource: somebody,,,,\n")
    expect_places(path)


def test_columns_that_the_header_does_not_name_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "x,y\n" + "".join(f"row {i},{i},{i * i}\n" for i in range(12)))
    columns, rows = table_of(path)
    assert columns == ("x", "y", "column_3")
    assert rows[3] == ["row 3", "3", "9"]


def test_null_of_databases_survives_escapes(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "id,note,v\n" + "".join(f'{i},"say \\"{i}\\"",\\N\n' for i in range(5)))
    assert table_of(path)[1][2] == ["2", 'say "2"', "\\N"]


def test_columns_aligned_with_spaces(tmp_path: Path) -> None:
    path = written(tmp_path, "a.dat", "x    y     z\n" + "".join(f"{i:<5}{i * 2:<6}{i * 3}\n" for i in range(9)))
    assert table_of(path) == (("x", "y", "z"), [[str(i), str(i * 2), str(i * 3)] for i in range(9)])


def test_large_files_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.lake.blocks.BLOCK_BYTES", 1 << 16)
    lines = [f'{i},"cell {i}\nof two lines",{i % 7}\n' for i in range(20_000)]
    lines[777] = "777,short\n"
    lines[999] = '"999,stray,5\n'
    content = "id,text,n\n" + "".join(lines) + "\nSource: the streaming test\n"
    for name, raw in (("a.csv", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
        path, counter = written(tmp_path, name, raw), RowCounter()
        layout = detect_layout(path)
        batches = list(read(path, layout, counter=counter))
        assert len(batches) > 5
        assert (counter.rows, counter.short, counter.literal) == (20_000, 1, 1)
    wide = written(tmp_path, "w.csv", content.encode("utf-16"))
    assert len(rows_of(wide, detect_layout(wide))) == 20_000


def test_footnotes_after_a_cell_of_several_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'a,b,c\n1,2,"end\n"\n\nNote: nothing\n')
    assert table_of(path)[1] == [["1", "2", "end\n"]]


COUNTRIES = ("Afghanistan", "Albania", "Algeria", "Andorra", "Angola", "Argentina", "Armenia", "Australia", "Austria")
ZONES = ("Africa/Abidjan", "Africa/Accra", "Africa/Addis_Ababa", "America/Lima", "Asia/Tokyo", "Europe/Paris")


@pytest.mark.parametrize(
    "lines",
    [
        COUNTRIES,
        ZONES,
        [f"{zone},{zone.split('/')[1].replace('_', ' ')} Time" for zone in ZONES],
        [f"{country},{country[:2].upper()}" for country in COUNTRIES],
    ],
)
@pytest.mark.parametrize("header", ["", "country", "Name", "Land", "Zone"])
def test_text_without_a_header_keeps_its_first_row(tmp_path: Path, lines: Sequence[str], header: str) -> None:
    width = lines[0].count(",") + 1
    top = [",".join(f"{header}{n}" if n else header for n in range(width))] if header else []
    columns, rows = table_of(written(tmp_path, "a.csv", "\n".join([*top, *lines]) + "\n"))
    assert len(rows) == len(lines), columns


@pytest.mark.parametrize(
    "content",
    [
        # names that are repeated, above rows that repeat nothing
        "Bride,Origin,Groom,Origin\nAda Lund,Norrby,Per Falk,Vik\n"
        "Ida Berg,Tuna,Nils Ek,Sala\nEva Dahl,Lima,Bo Alm,Mora\n",
        # a question above short answers
        "Grower,Which of these orchards in the valley did you go to most often last year?\n"
        "Lund,Norrby\nFalk,Vik\nBerg,Tuna\nEk,None\n",
        # two columns of the same name, with the same values, or with numbers that happen to be equal
        "Guild,Women,Guild,Men,gap\nUSCB,64,USCB,78,14\nSoCal,72,SoCal,81,9\nEmory,68,Emory,82,14\nMite,70,Mite,90,20\n",
        "Player,Won,Player,Lost\nArlen,3,Boren,3\nCort,1,Dale,1\nErie,2,Flint,2\nGary,4,Hull,4\n",
        # flags: columns that hold their own name or nothing
        "land,short,OECD,EU,G7\nAlbora,AL,,,\nBelgar,BE,OECD,EU,\nCastul,CA,OECD,,G7\n"
        "Dorvan,DO,,EU,\nEstury,ES,OECD,EU,\nFrango,FR,OECD,EU,G7\n",
        # the header again, between two groups of rows
        "Keeper,Party,Term\nAda Lund,None,until spring\nPer Falk,None,until winter\nKeeper,Party,Term\n"
        "Ida Berg,None,until spring\nNils Ek,Union,until winter\n",
    ],
)
def test_header_of_text_columns_is_kept(tmp_path: Path, content: str) -> None:
    assert detect_layout(written(tmp_path, "a.csv", content)).header


def test_lines_that_never_end_are_refused_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.lake.delimited.HEAD_BYTES", 1 << 10)
    monkeypatch.setattr("dovetail.lake.delimited.LARGEST_HEAD", 1 << 20)
    monkeypatch.setattr("dovetail.lake.blocks.BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr("dovetail.lake.blocks.LARGEST_RECORD", 1 << 16)
    with pytest.raises(UnreadableTable, match="a first line of more than 1 MB"):
        detect_layout(written(tmp_path, "a.csv.gz", gzip.compress(b"0" * (1 << 21))))
    path = written(tmp_path, "b.csv.gz", gzip.compress(b"id,word\n1,a\n2,b\n3," + b"0" * (1 << 21)))
    with pytest.raises(UnreadableTable, match="a row of more than"):
        rows_of(path, detect_layout(path))
