"""Random tables in random dialects: read back exactly, alike by both parsers, and alike whole or in parts."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lakefiles import rows_of, written

from dovetail.lake import blocks, frame
from dovetail.lake.blocks import record_rules
from dovetail.lake.encoding import encoding_of
from dovetail.lake.layout import Layout, RowCounter
from dovetail.lake.parse import BlockParser
from dovetail.lake.reader import detect_layout, split
from dovetail.lake.record_kernels import record_starts

words = st.sampled_from(
    [
        "north",
        "Ünder",
        "x y",
        "12",
        "3.5",
        "2020-01-01",
        "",
        "a,b",
        "a;b",
        'say "so"',
        "tab\there",
        "it's",
        "two\nlines",
        "end\r\n",
        "#1",
    ]
)
free = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=8)
printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufeff"), max_size=8)


def tables(cells: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.integers(2, 6).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=30)
    )


def as_text(rows: list[list[str]], delimiter: str, escape: str, newline: str, quoting: int) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(
        file,
        delimiter=delimiter,
        lineterminator=newline,
        quoting=quoting,
        escapechar=escape or None,
        doublequote=not escape,
    )
    writer.writerows(rows)
    return file.getvalue()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def layout_for(width: int, delimiter: str, escape: str = "") -> Layout:
    names = tuple(f"c{i}" for i in range(width))
    return Layout("delimited", names, encoding="utf-8", delimiter=delimiter, quote='"', escape=escape)


@settings(deadline=None, max_examples=150)
@given(
    tables(words),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_sniffed_tables_are_read_back_exactly(
    folder: Path, rows: list[list[str]], delimiter: str, newline: str, encoding: str
) -> None:
    header = [f"name {i}" for i in range(len(rows[0]))]
    body = [[str(i), *row[1:]] for i, row in enumerate(rows)]
    path = written(folder, "a.csv", as_text([header, *body], delimiter, "", newline, csv.QUOTE_ALL), encoding)
    layout = detect_layout(path)
    assert layout.columns == tuple(header)
    assert rows_of(path, layout) == body


@settings(deadline=None, max_examples=300)
@given(
    tables(st.one_of(words, free)),
    st.sampled_from(",;\t|#"),
    st.sampled_from(["", "\\"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_fast_and_tolerant_parsers_agree(rows: list[list[str]], delimiter: str, escape: str, newline: str) -> None:
    layout = layout_for(len(rows[0]), delimiter, escape)
    block = as_text(rows, delimiter, escape, newline, csv.QUOTE_ALL).encode()
    fast = BlockParser(layout, RowCounter()).by_arrow(block)
    tolerant = BlockParser(layout, RowCounter()).by_csv(block)
    assert fast is not None
    assert fast.equals(tolerant)
    assert [list(row) for row in zip(*(column.to_pylist() for column in fast.columns), strict=True)] == rows


@settings(deadline=None, max_examples=300)
@given(
    tables(st.one_of(words, free)),
    st.sampled_from(",;\t|#"),
    st.sampled_from(["", "\\"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_boundaries_are_the_writers_records(rows: list[list[str]], delimiter: str, escape: str, newline: str) -> None:
    layout = layout_for(len(rows[0]), delimiter, escape)
    pieces = [as_text([row], delimiter, escape, newline, csv.QUOTE_ALL).encode() for row in rows]
    starts, literal = record_starts(np.frombuffer(b"".join(pieces), dtype=np.uint8), record_rules(layout), True)
    assert not literal.any()
    assert starts.tolist() == np.cumsum([0, *map(len, pieces)]).tolist()


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "a,b\n",
                '"a\nb",c\n',
                '"x,y\n',
                'p,q"\n',
                '"m"n,o\n',
                "short\n",
                "a,b,c\n",
                "\n",
                '""\n',
                "\r",
                '"',
                ",",
            ]
        ),
        max_size=30,
    )
)
def test_any_text_is_read_by_either_parser_alike(pieces: list[str]) -> None:
    block = "".join(pieces).encode()
    layout = layout_for(2, ",")
    fast = BlockParser(layout, RowCounter()).by_arrow(block) if block else None
    tolerant = BlockParser(layout, RowCounter()).by_csv(block)
    assert fast is None or fast.equals(tolerant)


@settings(deadline=None, max_examples=60)
@given(
    tables(st.one_of(words, printable)),
    st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
    st.sampled_from(["", "\nNote: nothing to see here\n"]),
    st.integers(1, 400),
    st.integers(50, 600),
)
def test_parts_and_blocks_give_the_rows_of_the_whole(
    folder: Path, rows: list[list[str]], encoding: str, note: str, target: int, block: int
) -> None:
    numbered = [["id", *["text"] * (len(rows[0]) - 1)]]
    numbered += [[str(i), *row[1:]] for i, row in enumerate(rows * 4)]
    content = (as_text(numbered, ",", "", "\n", csv.QUOTE_ALL) + note).encode(encoding, errors="ignore")
    path = written(folder, "parts.csv", content)
    layout = detect_layout(path)
    with pytest.MonkeyPatch.context() as patch:
        for module in (frame, blocks):
            patch.setattr(module, "TAIL_BYTES", 64)
        patch.setattr("dovetail.lake.delimited.TAIL_BYTES", 64)
        whole = rows_of(path, layout)
        patch.setattr(blocks, "BLOCK_BYTES", block)
        parts = split(path, layout, target)
        assert [row for part in parts for row in rows_of(path, layout, part)] == whole
        assert rows_of(path, layout) == whole


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_unicode_encodings_are_told(text: str, encoding: str) -> None:
    head = text.encode(encoding, errors="ignore")
    if "\0" not in text and not (encoding == "utf-16" and not text):
        assert head.decode(encoding_of(head, True)) == head.decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Москва,Россия\nДанные о населении города\n" * 5),
        ("koi8-r", "Москва,Россия\nДанные о населении города\n" * 5),
        ("shift_jis", "東京,大阪\n日本の人口統計データ\n" * 5),
        ("gb18030", "北京,上海\n中国人口统计数据\n" * 5),
        ("big5", "台北,高雄\n人口統計資料\n" * 5),
        ("cp1250", "Łódź,Kraków,Gdańsk\nzażółć gęślą jaźń\n" * 5),
        ("cp1252", "naïve,café,“quoted” – 5 €\n"),
        ("latin-1", "name,value\nSéan,1\n"),
    ],
)
def test_legacy_encodings_are_told(encoding: str, text: str) -> None:
    head = text.encode(encoding)
    assert head.decode(encoding_of(head, True)) == text
