"""The stages of a build by many tasks, each on literal rows; what only all of them show is in test_big_tables.py."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dovetail._storage.pack import Pack
from dovetail._storage.segment import Segment, SegmentWriter
from dovetail._storage.spill import Records
from dovetail.catalog import records
from dovetail.catalog.frequencies import RawCounts
from dovetail.catalog.profile import RawColumn
from dovetail.catalog.records import CatalogReader, TableRecord
from dovetail.indexes.pexeso import build as pexeso_build
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.pieces.index import PIECES
from dovetail.indexes.rows.build import RowsBuilder
from dovetail.indexes.shares import open_share, save_share
from dovetail.indexes.tokens.bucket import Bucket
from dovetail.indexes.tokens.build import BUCKETS, ENTRY, entries_of, split_entries
from dovetail.indexes.tokens.query import TokenReader
from dovetail.indexes.tokens.write import write_buckets
from dovetail.normalise.hashing import hash_tokens
from dovetail.pipeline.build import RawTable, total_evidence
from dovetail.pipeline.divided import chains, cut_evenly, worth_dividing
from dovetail.pipeline.stages import feed_columns, join_records
from support.catalog import write_catalog

Entry = tuple[str, int, int]  # token, column, rows


def entry_table(*rows: Entry) -> pa.Table:
    return pa.table([list(values) for values in zip(*rows, strict=True)] or [[], [], []], schema=ENTRY)


def rows_of(table: pa.Table | pa.RecordBatch) -> list[Entry]:
    return [(row["token"], row["column"], row["count"]) for row in table.to_pylist()]


def counted(*values: str | None) -> RawCounts:
    """Some rows of a column as a slice has them."""
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    codes = np.array([-1 if value is None else distinct.index(value) for value in values], np.int32)
    return RawCounts(pa.array(distinct, pa.large_string()), np.bincount(codes[codes >= 0]).astype(np.int64), codes)


def table_of(columns: dict[str, list[RawCounts]], rows: int) -> RawTable:
    found = [
        RawColumn(name, rows, total_evidence(part.evidence for part in parts), lambda parts=parts: iter(parts))
        for name, parts in columns.items()
    ]
    return RawTable(TableRecord("t.csv", "/lake/t.csv", "1", 10, rows), found)


class TestEntries:
    def test_each_is_in_the_bucket_of_its_hash_and_they_keep_their_order(self):
        entries = [("b", 0, 2), ("a", 0, 1), ("a", 1, 4), ("b", 1, 1)]
        buckets = list(split_entries(entry_table(*entries)))
        assert len(buckets) == BUCKETS
        assert all(bucket.schema == ENTRY for bucket in buckets)
        for number, bucket in enumerate(buckets):
            leading = [int(hash_) * BUCKETS >> 64 for hash_ in hash_tokens(pa.array(["a", "b"], pa.large_string()))]
            expected = [entry for entry in entries if leading["ab".index(entry[0])] == number]
            assert rows_of(bucket) == expected

    def test_none_make_empty_buckets(self):
        assert [bucket.num_rows for bucket in split_entries(entry_table())] == [0] * BUCKETS


class TestMerge:
    def test_repeated_entries_are_added_up_and_tokens_of_the_same_columns_are_a_group(self):
        entries = entry_table(("x", 0, 2), ("y", 0, 1), ("x", 0, 3), ("z", 0, 7), ("y", 1, 5))
        bucket = Bucket.work_through(entries, 3)
        tokens = [
            bytes(bucket.content[first:last]).decode()
            for first, last in zip(bucket.offsets[:-1], bucket.offsets[1:], strict=True)
        ]
        assert sorted(tokens[:2]) == ["x", "z"], "held by one column, so they come first"
        assert tokens[2] == "y"
        assert bucket.group_tokens.tolist() == [0, 2, 3]
        assert np.split(bucket.posting_columns, bucket.posting_offsets[1:-1])[1].tolist() == [0, 1]
        assert np.diff(bucket.set_offsets).tolist() == [3, 1, 0]
        counts = dict(zip((tokens[i] for i in bucket.set_tokens[:3]), bucket.set_counts[:3].tolist(), strict=True))
        assert counts == {"x": 5, "y": 1, "z": 7}

    def test_saved_buckets_become_the_dictionary(self, tmp_path):
        entries = entry_table(("x", 0, 2), ("y", 0, 1), ("y", 1, 5), ("zürich", 2, 1))
        buckets = [Bucket.work_through(pa.Table.from_batches([part], ENTRY), 3) for part in split_entries(entries)]
        writer = SegmentWriter(tmp_path)
        counts = write_buckets(writer, [Bucket.open(bucket.save(tmp_path)) for bucket in buckets], 3, tmp_path)
        assert counts == {"values": 3, "entries": 4}
        reader = TokenReader(Segment(tmp_path, writer.finish({"tables": 0})))
        sets = [
            dict(zip(reader.tokens(i).to_pylist(), n.tolist(), strict=True)) for i, n in map(reader.set_of, range(3))
        ]
        assert sets == [{"x": 2, "y": 1}, {"y": 5}, {"zürich": 1}]


class TestFeed:
    def test_entries_chunks_and_records_of_some_columns(self, tmp_path):
        price = [counted("1.50", "2", None), counted("1.5", "NA")]
        city = [counted("Zürich", " zürich ", "Bern"), counted("Bern", "")]
        fed = feed_columns(table_of({"price": price, "city": city}, 5), 7, tmp_path, 1 << 20)
        spills = [Records(path) for path in fed.entries]
        found = sorted(entry for number in range(BUCKETS) for entry in rows_of(entries_of(spills, number)))
        assert found == [
            ("1.5", 7, 1), ("1.5", 7, 1), ("2", 7, 1),
            ("bern", 8, 1), ("bern", 8, 1), ("zürich", 8, 1), ("zürich", 8, 1),
        ]  # fmt: skip
        (spill,) = fed.chunks
        assert spill.columns == [7, 7, 8, 8]
        chunks = [[part.to_pylist() for part in Records(spill.path)[number]] for number in range(4)]
        assert chunks[0] == [["1.5", "2"], [0, 1, -1]]
        assert chunks[3] == [["bern"], [0, -1]]
        catalog = CatalogReader(Pack(fed.records, records.NAME, records.VERSION))
        assert [(one.column, one.type.kind, one.nulls) for one in catalog.columns_of(0)] == [
            ("price", "real", 2), ("city", "text", 1),
        ]  # fmt: skip

    def test_little_memory_makes_several_spills_with_the_same_content(self, tmp_path):
        table = table_of({"a": [counted("x", "y"), counted("y", "z")], "b": [counted("1", "2"), counted("3", "3")]}, 4)
        contents = []
        for number, memory in enumerate((1 << 20, 1)):
            folder = tmp_path / str(number)
            folder.mkdir()
            fed = feed_columns(table, 0, folder, memory)
            spills = [Records(path) for path in fed.entries]
            assert len(spills) == (1, 4)[number]
            contents.append([rows_of(entries_of(spills, bucket)) for bucket in range(BUCKETS)])
            rows = RowsBuilder(folder, memory)
            for spill in fed.chunks:
                rows.add_spilled(spill)
        assert contents[0] == contents[1]

    def test_the_columns_of_one_table_may_come_from_several_tasks(self, tmp_path):
        parts = [{"a": [counted("x")], "b": [counted("1")]}, {"c": [counted("y")]}]
        catalogs = []
        for number, columns in enumerate(parts):
            folder = tmp_path / str(number)
            folder.mkdir()
            fed = feed_columns(table_of(columns, 1), 2 * number, folder, 1 << 20)
            catalogs.append(CatalogReader(Pack(fed.records, records.NAME, records.VERSION)))
        joined = join_records(catalogs)
        assert joined.widths == [3]
        assert joined.counts() == {"tables": 1, "columns": 3, "rows": 1, "bytes": 10}


class TestShares:
    @pytest.mark.parametrize("index", [PIECES, PEXESO], ids=lambda index: index.name)
    @pytest.mark.parametrize("of", [1, 3])
    def test_any_number_of_shares_makes_the_same_pack(self, tmp_path, monkeypatch, index, of):
        monkeypatch.setattr(pexeso_build, "_PORTION", 2)
        texts = ["anna meyer", "berta lind", "clara sandberg", "main street 17", "zürich hb", "order 2041", "ab", "7"]
        entries = entry_table(*((text, column, 1) for column in range(2) for text in texts[column:]))
        writer = SegmentWriter(tmp_path)
        write_buckets(writer, [Bucket.work_through(entries, 2)], 2, tmp_path)
        write_catalog(writer, 2)
        builder = index.builder(tmp_path, 1 << 30)
        builder.finish(writer, [2])
        apart = SegmentWriter(tmp_path / "apart", writer.id)
        for name in ("tokens", "catalog"):
            apart.lend(writer.pack(name))
        saved = [save_share(tmp_path / f"share {n}", builder.share(apart, n, of)) for n in range(of)]
        builder.finish_shares(apart, [open_share(path) for path in saved])
        assert apart.parts == {index.name: writer.parts[index.name]}, "to the last byte"


class TestPlan:
    def test_only_what_the_others_would_wait_for_is_divided(self):
        assert worth_dividing([100], 2, 10) == [True]
        assert worth_dividing([100], 1, 10) == [False], "there is nobody to share with"
        assert worth_dividing([100, 100], 2, 10) == [False, False]
        assert worth_dividing([100, 100], 8, 10) == [True, True]
        assert worth_dividing([300, 50, 50], 2, 10) == [True, False, False]
        assert worth_dividing([9], 2, 10) == [False]
        assert worth_dividing([], 2, 10) == []

    def test_ranges_follow_each_other_and_weigh_about_the_same(self):
        assert cut_evenly([1, 1, 1, 1], 2) == [(0, 2), (2, 4)]
        assert cut_evenly([100, 1, 1, 1], 2) == [(0, 1), (1, 4)]
        assert cut_evenly([1, 1, 1, 100], 2) == [(0, 4)]
        assert cut_evenly([0, 0], 8) == [(0, 1), (1, 2)]
        assert cut_evenly([5], 3) == [(0, 1)]

    def test_indexes_that_need_each_other_are_built_by_one_task(self):
        found = chains()
        assert ["rows", "mate"] in found
        assert sorted(name for chain in found for name in chain) == [
            "josie", "lists", "lsh_ensemble", "mate", "pexeso", "pieces", "rows",
        ]  # fmt: skip
