"""The catalog of a segment that a test builds by hand: indexes over spellings look up there what is hidden."""

from __future__ import annotations

from dovetail._storage.segment import SegmentWriter
from dovetail.catalog import records
from dovetail.catalog.records import CatalogWriter, ColumnRecord, TableRecord
from dovetail.normalise import ColumnType


def write_catalog(writer: SegmentWriter, columns: int) -> None:
    """A catalog of so many columns of text, a table each."""
    catalog = CatalogWriter()
    for number in range(columns):
        column = ColumnRecord("a", ColumnType("text"), 0, 0, 0)
        catalog.add_table(TableRecord(f"t{number}", f"/t{number}", "", 0), [column])
    writer.write_part(records.NAME, records.VERSION, lambda pack: catalog.write(pack, [0] * columns))
