"""What is read at once is bounded by what it becomes, not by the size of its file; files may shrink meanwhile."""

from __future__ import annotations

import gzip
import secrets
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakefiles import rows_of, written

from dovetail.errors import UnreadableTable
from dovetail.lake import parse, strings
from dovetail.lake.listing import TableFile
from dovetail.lake.reader import detect_layout, read
from dovetail.pipeline import reading

BOUND = 1 << 20


def test_texts_of_a_parquet_dictionary_are_written_out_in_bounded_batches(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(strings, "BATCH_BYTES", BOUND)
    texts = [letter * 10_000 for letter in "abc"]
    pq.write_table(pa.table({"id": range(2_000), "text": [texts[i % 3] for i in range(2_000)]}), tmp_path / "a.parquet")
    layout = detect_layout(tmp_path / "a.parquet")
    batches = list(read(tmp_path / "a.parquet", layout))
    assert sum(batch.num_rows for batch in batches) == 2_000
    assert all(batch.nbytes < 1.2 * BOUND for batch in batches)


def test_memory_does_not_grow_with_the_different_texts_of_a_row_group(tmp_path: Path) -> None:
    texts = [secrets.token_hex(20) for _ in range(300_000)]  # more than the writer's dictionary takes
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=len(texts))
    layout = detect_layout(tmp_path / "a.parquet")
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    for batch in read(tmp_path / "a.parquet", layout):
        rows += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == len(texts)
    assert most < 12_000_000  # in a dictionary that grows with each batch they take 71 MB


def test_short_rows_of_a_wide_table_come_in_bounded_batches(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parse, "CELLS_AT_ONCE", 10_000)
    wide = [",".join(f"{name}{i}" for i in range(100)) for name in ("name", *"abcdefgh")]
    path = written(tmp_path, "a.csv", "\n".join(wide) + "\n" + "x,1\n" * 2_000)
    layout = detect_layout(path)
    assert len(layout.columns) == 100
    assert all(batch.num_rows * 100 <= 10_000 for batch in read(path, layout))
    assert rows_of(path, layout)[-1] == ["x", "1", *[None] * 98]


def test_a_table_that_turns_out_larger_than_a_slice_is_staged(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("dovetail.lake.blocks.BLOCK_BYTES", 1 << 16)
    path = written(tmp_path, "a.csv.gz", gzip.compress(b"id,word\n" + b"1,the same line again\n" * 100_000))
    file = TableFile("a.csv.gz", str(path), path.stat().st_size, "")
    assert file.bytes < BOUND // 50
    table = reading.scan(file, tmp_path / "staged", BOUND)
    assert table.record.rows == 100_000
    assert len(list((tmp_path / "staged").iterdir())) > 1
    assert sum(int(batch.counts.sum()) for batch in table.columns[1].batches()) == 100_000
    assert not (tmp_path / "small").exists()
    reading.scan(file, tmp_path / "small", 100 * BOUND)
    assert not (tmp_path / "small").exists(), "one portion stays in memory"


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_file_that_shrinks_while_it_is_read_kills_nobody(tmp_path: Path, name: str) -> None:
    """Mapped, it would end the process by SIGBUS."""
    table = pa.table({"id": pa.array(range(200_000)), "word": [f"word {i}" for i in range(200_000)]})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name, row_group_size=10_000)
    else:
        with pa.ipc.new_file(tmp_path / name, table.schema) as file:
            file.write_table(table, max_chunksize=10_000)
    batches = read(tmp_path / name, detect_layout(tmp_path / name))
    next(batches)
    with (tmp_path / name).open("r+b") as file:
        file.truncate(50_000)
    with pytest.raises(UnreadableTable):
        list(batches)
