"""Cuts that are guessed and checked, of files and of objects: whatever passes the check gives the rows of the whole."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lakefiles import rows_of, written

from dovetail._objects import Objects
from dovetail.lake import cuts
from dovetail.lake.cuts import guess_parts, is_exact
from dovetail.lake.layout import Part
from dovetail.lake.object_path import ObjectPath
from dovetail.lake.reader import detect_layout, split
from support.buckets import buckets_in_memory

cells = st.sampled_from(
    ["north", "", "x y", "12", "a,b", 'say "so"', "two\nlines", "7,8\n9,10\n", '1,2\n"', "end\r\n", "\r"]
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(cells, cells), min_size=4, max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", '"stray,1\n', "1,2,3\n"]),
    st.integers(20, 300),
)
def test_what_is_checked_gives_the_rows_of_the_whole(
    folder: Path, rows: list[tuple[str, str]], newline: str, stray: str, target: int
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=newline)
    writer.writerows([["id", "text", "more"], *([str(n), *row] for n, row in enumerate(rows * 3))])
    half = len(file.getvalue()) // 2
    text = file.getvalue()
    text = text[:half] + stray + text[half:] if text[half - 1 : half] == newline[-1] else text
    path = written(folder, "a.csv", text.encode())
    layout = detect_layout(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "TAIL_BYTES", 16)
        patch.setattr(cuts, "_WINDOW", 200)
        patch.setattr(cuts, "BLOCK_BYTES", 64)
        parts = guess_parts(path, layout, target)
        if all(is_exact(path, layout, part) for part in parts):
            assert [row for part in parts for row in rows_of(path, layout, part)] == rows_of(path, layout)


def test_usual_text_is_cut_right_and_lines_between_quotes_are_noticed(tmp_path):
    plain = "id,text\n" + "".join(f'{n},"one\n{n},two ""{n}"""\n' for n in range(20_000))
    path = written(tmp_path, "plain.csv", plain)
    layout = detect_layout(path)
    parts = guess_parts(path, layout, 50_000)
    assert len(parts) > 5
    assert all(is_exact(path, layout, part) for part in parts)
    moved = [Part(part.start, part.stop and part.stop + 3) for part in parts]
    assert not any(is_exact(path, layout, part) for part in moved[:-1])
    records = "".join(f"{n},lines that look like records\n" for n in range(9_000))
    path = written(tmp_path, "hidden.csv", f'id,text\n1,"{records}"\n2,b\n' + "3,c\n" * 20_000)
    layout = detect_layout(path)
    assert not all(is_exact(path, layout, part) for part in guess_parts(path, layout, 50_000))
    assert [row for part in split(path, layout, 50_000) for row in rows_of(path, layout, part)] == rows_of(path, layout)


@pytest.mark.parametrize("name", ["a.csv.gz", "wide.csv", "a.jsonl", "a.parquet"])
def test_nothing_is_guessed_where_bytes_have_no_meaning_or_cuts_are_known(tmp_path, name):
    text = "id,text\n" + "".join(f"{n},a\n" for n in range(30_000))
    made = {
        "a.csv.gz": gzip.compress(text.encode()), "wide.csv": text.encode("utf-16"), "a.jsonl": b'{"id": 1}\n' * 30_000,
    }  # fmt: skip
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"id": range(30_000)}), path)
    else:
        path.write_bytes(made[name])
    assert guess_parts(path, detect_layout(path), 20_000) == [Part()]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "a.arrow"])
def test_an_object_is_read_in_place_as_a_file_is(tmp_path, name):
    path = tmp_path / name
    table = pa.table({"id": range(40_000), "text": [f"text {n % 99}" for n in range(40_000)]})
    if name == "a.parquet":
        pq.write_table(table, path, row_group_size=5_000)
    elif name == "a.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=5_000)
    else:
        lines = "".join(f"{n},text {n % 99}\n" for n in range(40_000))
        lines = "".join(f'{{"id": {n}}}\n' for n in range(40_000)) if name == "a.jsonl" else f"id,text\n{lines}"
        path.write_bytes(gzip.compress(lines.encode()) if name.endswith("gz") else lines.encode())
    with buckets_in_memory(tmp_path / "cache"):
        Objects("s3://bucket/raw").put(name, path)
        remote = ObjectPath(f"s3://bucket/raw/{name}")
        layout = detect_layout(remote)
        assert layout == detect_layout(path)
        parts = split(remote, layout, 100_000)
        assert parts == split(path, layout, 100_000)
        assert len(parts) > 1 or name.endswith("gz")
        assert guess_parts(remote, layout, 100_000) == guess_parts(path, layout, 100_000)
        assert [row for part in parts for row in rows_of(remote, layout, part)] == rows_of(path, layout)
