"""Values that only two tables in a row relate."""

from __future__ import annotations

import json

import duckdb
import pandas as pd
import pytest

from dovetail.api.lake import Lake
from support.command import dovetail as command
from support.pipeline import index, without_spark
from unit.through.conftest import CAPITALS, write

LANDS = {name[:3].upper(): name for name in CAPITALS}
PORTS = {f"{chr(65 + n)}{chr(90 - n)}{chr(66 + n)}Q": code for n, code in enumerate([*LANDS, *LANDS])}
DISPUTED = "Dorland", "Estavia"
TRUTH = {port: LANDS[code] for port, code in PORTS.items() if LANDS[code] not in DISPUTED}


@pytest.fixture(scope="module")
def idx(tmp_path_factory):
    """A table of ports and codes of countries, one of codes and countries, and nine copies that mix up two codes."""
    folder = tmp_path_factory.mktemp("chains")
    ports = [(port, code, 7 * n) for n, (port, code) in enumerate(PORTS.items())]
    write(folder / "lake/travel/ports.csv", "port,where,length", ports)
    write(folder / "lake/atlas/codes.csv", "code,country", list(LANDS.items()))
    write(folder / "lake/stamps/lands.csv", "short,long", [(code.lower(), name) for code, name in LANDS.items()])
    mixed = {**LANDS, "DOR": "Estavia", "EST": "Dorland"}
    for day in range(9):
        write(folder / f"lake/daily/report {day}.csv", "id,nation", list(mixed.items()))
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


def test_two_tables_in_a_row_relate_what_none_does_alone(idx):
    found = Lake(idx).map(list(PORTS), to=list(CAPITALS))
    assert {pair.value: pair.partner for pair in found} == TRUTH, "nine near-copies have one vote, as the others have"
    best = found.tables[0]
    assert best.steps[0].table == "travel/ports.csv"
    assert (best.left_column, best.right_column, best.pairs) == ("port", "where", 12)
    assert best.then is not None
    assert best.name in found[0].tables


def test_the_join_and_its_sql_go_over_both(idx, tmp_path):
    pd.DataFrame({"port": list(TRUTH), "n": range(12)}).to_csv(tmp_path / "left.csv", index=False)
    lands = [land for land in CAPITALS if land not in ("Arvania", *DISPUTED)]
    pd.DataFrame({"land": lands}).to_csv(tmp_path / "right.csv", index=False)
    ask = ("join", str(tmp_path / "left.csv"), str(tmp_path / "right.csv"), "--by", "through", "--index", str(idx))
    answer = command(*ask, "--how", "left", "--json")
    assert answer.code == 0, answer
    report = json.loads(answer.out)
    assert report["through_pairs"] == 10
    assert {bridge["then"]["right_column"] for bridge in report["bridges"]} >= {"country", "long"}
    with duckdb.connect() as connection:
        rows = connection.sql(report["sql"]).fetchall()
    assert "ports.csv" in report["sql"]
    assert [(row[0], row[2]) for row in rows] == [(p, c if c != "Arvania" else None) for p, c in TRUTH.items()]
    shown = command(*ask)
    assert "travel/ports.csv, port = where, then " in shown.out
    assert "travel/ports.csv → " in shown.out


def test_one_table_is_enough_where_it_answers(lake):
    found = lake.map(list(CAPITALS), to=list(CAPITALS.values()))
    assert all(bridge.then is None for bridge in found.tables)


def test_a_table_does_not_carry_its_own_join(idx):
    found = Lake(idx).join("travel/ports.csv", {"land": list(CAPITALS)}, by="through", on="port=land")
    assert found.rows == 0
