"""What tables are called, whatever holds them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dovetail.lake.table_names import folders_of, holder_of, stem_of, stems_of

CALLED = {
    "sales/orders.csv": ("orders", ["sales"], "sales"),
    "sales/orders.CSV.gz": ("orders.CSV", ["sales"], "sales"),
    "sales/my.orders.csv": ("my.orders", ["sales"], "sales"),
    "sales/orders": ("orders", ["sales"], "sales"),
    "orders.json": ("orders", [], ""),
    "public.orders": ("orders", ["public"], ""),
    "shop//public.orders": ("orders", ["shop", "", "public"], "shop/"),
    "x/shop.sqlite::orders": ("orders", ["x", "shop.sqlite"], "x/shop.sqlite"),
    "shop.sqlite::orders2": ("orders2", ["shop.sqlite"], "shop.sqlite"),
    "w.duckdb::crm.orders": ("orders", ["w.duckdb", "crm"], "w.duckdb"),
    "orders.xlsx::Sheet1": ("orders", ["orders.xlsx"], "orders.xlsx"),
    "orders.ods::Tabelle 2/3": ("orders", ["orders.ods", "Tabelle 2"], "orders.ods"),
    "book.xlsx::Orders/2": ("Orders", ["book.xlsx", "Orders"], "book.xlsx"),
    "orders.html::2": ("orders", ["orders.html"], "orders.html"),
    "all.zip::a/orders.csv": ("orders", ["all.zip", "a"], "all.zip"),
}


@pytest.mark.parametrize("table", CALLED)
def test_stem_folders_and_holder(table):
    assert (stem_of(table), folders_of(table), holder_of(table)) == CALLED[table]


def test_many_at_once():
    tables = pa.array([*CALLED, "a.csv", "b/c.parquet"])
    assert stems_of(tables).to_pylist() == [stem_of(table) for table in tables.to_pylist()]
    plain = pa.array(["a.csv", "b/c.parquet", "b/d.e.tsv.zst"])
    assert stems_of(plain).to_pylist() == ["a", "c", "d.e.tsv"]
