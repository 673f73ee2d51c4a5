"""Records on disk: what goes in comes out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail._storage.pack import Pack, PackWriter
from dovetail.catalog.records import NAME, VERSION, CatalogReader, CatalogWriter, ColumnRecord, TableRecord
from dovetail.normalise import ColumnType, decide, fold, gather

texts = st.text(st.characters(codec="utf-8"), max_size=10)
numbers = st.integers(0, 2**62)


@st.composite
def column_records(draw):
    sample = draw(st.sampled_from([["1", "2"], ["a"], ["2024-01-31"], ["1.5"], [], ["true", "false"]]))
    found = decide(gather(fold(pa.array(sample, pa.large_string())), np.ones(len(sample), np.int64)))
    return ColumnRecord(
        draw(texts), found, draw(numbers), draw(numbers), draw(numbers), draw(numbers), draw(texts), draw(texts),
        draw(st.floats(0, 1e9)), draw(numbers), draw(st.floats(0, 1)),
        tuple(draw(st.lists(st.tuples(texts, numbers), max_size=3))), tuple(draw(st.lists(texts, max_size=3))),
    )  # fmt: skip


table_records = st.builds(
    TableRecord, texts, texts, texts, st.integers(0, 2**40), st.integers(0, 2**40), texts, texts, numbers
)
catalogs = st.lists(st.tuples(table_records, st.lists(column_records(), max_size=3)), max_size=4)


@given(catalogs)
def test_round_trip(tmp_path_factory, catalog):
    path = tmp_path_factory.mktemp("catalog") / "catalog.dvt"
    writer = CatalogWriter()
    for table, columns in catalog:
        writer.add_table(table, columns)
    distinct = [column.distinct for _, columns in catalog for column in columns]
    with PackWriter(path, NAME, VERSION, "s") as pack:
        writer.write(pack, distinct)

    reader = CatalogReader(Pack(path, NAME, VERSION))
    assert reader.tables.num_rows == len(catalog)
    first = 0
    for number, (table, columns) in enumerate(catalog):
        assert reader.table(number) == table
        assert reader.columns_of(number) == columns
        assert reader.column_range(number) == range(first, first + len(columns))
        first += len(columns)
    assert [reader.column(number).distinct for number in range(first)] == distinct
    assert writer.counts() == {
        "tables": len(catalog),
        "columns": first,
        "rows": sum(table.rows for table, _ in catalog),
        "bytes": sum(table.bytes for table, _ in catalog),
    }


def test_many_columns_are_kept_in_batches(tmp_path):
    """Records are written in batches of 1,024; tables, columns and examples on both sides of a border are read."""
    writer = CatalogWriter()
    for number in range(1_000):
        columns = [
            ColumnRecord(f"c{number}-{place}", ColumnType("text"), 3, 0, 3, top=((str(number), place),), sample=("x",))
            for place in range(3)
        ]
        writer.add_table(TableRecord(f"t{number}", "p", "f", 10, 3), columns)
    assert writer.counts() == {"tables": 1_000, "columns": 3_000, "rows": 3_000, "bytes": 10_000}
    with PackWriter(tmp_path / "catalog", NAME, VERSION, "") as pack:
        writer.write(pack, range(3_000))
    reader = CatalogReader(Pack(tmp_path / "catalog", NAME, VERSION))
    assert [record.column for record in reader.columns_of(341)] == ["c341-0", "c341-1", "c341-2"]  # 1,023 to 1,025
    assert [(record.distinct, record.top) for record in reader.columns_of(341)] == [
        (1_023 + place, (("341", place),)) for place in range(3)
    ]
    assert reader.table(999).table == "t999"
