"""The bundled sample lake: its size, and that every file's origin and licence is told."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pytest

LAKE = Path(__file__).resolve().parents[2] / "sample-lake"
ORIGINS = LAKE / "ORIGINS.md"
NOT_A_TABLE = "notes.csv"
ALLOWED_LICENCES = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "CC0-1.0"}
MAX_BYTES = 3_000_000

pytestmark = pytest.mark.skipif(not LAKE.is_dir(), reason="the sample lake ships with the source tree only")


def lake_files() -> set[str]:
    return {path.relative_to(LAKE).as_posix() for path in LAKE.rglob("*") if path.is_file() and path != ORIGINS}


def origin_rows() -> list[dict[str, str]]:
    names = ("file", "package", "path", "licence", "changes")
    rows = []
    for line in ORIGINS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == len(names) and re.fullmatch(r"`[^`]+`", cells[0]):
            rows.append(dict(zip(names, cells, strict=True)))
            rows[-1]["file"] = cells[0].strip("`")
    return rows


def read_text(name: str, encoding: str = "utf-8") -> str:
    raw = (LAKE / name).read_bytes()
    if name.endswith(".gz"):
        raw = gzip.decompress(raw)
    return raw.decode(encoding)


def column(name: str, title: str, delimiter: str = ",") -> set[str]:
    reader = csv.DictReader(read_text(name).splitlines(), delimiter=delimiter)
    return {row[title] for row in reader if row[title]}


def test_has_thirty_to_sixty_tables() -> None:
    tables = lake_files() - {NOT_A_TABLE}
    assert 30 <= len(tables) <= 60


def test_is_at_most_three_megabytes() -> None:
    total = sum(path.stat().st_size for path in LAKE.rglob("*") if path.is_file())
    assert total <= MAX_BYTES


def test_every_file_has_exactly_one_origin_and_every_origin_a_file() -> None:
    named = [row["file"] for row in origin_rows()]
    assert len(named) == len(set(named))
    assert set(named) == lake_files()


def test_every_licence_is_allowed() -> None:
    rows = origin_rows()
    assert rows
    refused = {row["file"]: row["licence"] for row in rows if row["licence"] not in ALLOWED_LICENCES}
    assert refused == {}


def test_every_origin_names_a_package_with_its_version() -> None:
    for row in origin_rows():
        if row["file"] == NOT_A_TABLE:
            continue
        assert re.fullmatch(r"(pypi|npm) \S+ \d[\w.]*", row["package"]), row["file"]
        assert row["path"] and row["changes"], row["file"]


def test_holds_every_format_the_demo_promises() -> None:
    files = lake_files()
    for suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".csv.gz"):
        assert any(name.endswith(suffix) for name in files), suffix
    assert read_text("geo/country-names-french.csv").startswith("id;value")
    with pytest.raises(UnicodeDecodeError):
        read_text("geo/country-names-german.csv")
    assert "Österreich" in read_text("geo/country-names-german.csv", "cp1252")


@pytest.mark.parametrize(
    ("source", "source_column", "target", "target_column"),
    [
        ("transport/airports.csv", "country", "geo/countries.csv", "Code"),
        ("transport/airports.csv", "tz", "geo/time-zones.csv", "name"),
        ("transport/flights.csv", "dest", "transport/airports.csv", "iata"),
        ("transport/flights.csv", "carrier", "transport/airlines.csv", "carrier"),
        ("economy/gapminder.csv", "iso_alpha", "geo/country-codes.csv", "alpha3"),
        ("geo/us-counties.csv", "state", "geo/us-states.csv", "abbr"),
        ("sport/nba-roster-2021.csv", "playerId", "sport/nba-players.csv", "id"),
    ],
)
def test_the_joins_shown_in_the_demo_are_whole(
    source: str, source_column: str, target: str, target_column: str
) -> None:
    assert column(source, source_column) <= column(target, target_column)


def test_county_codes_join_only_once_their_leading_zero_is_back() -> None:
    codes = column("economy/county-unemployment.tsv", "id", "\t")
    counties = column("geo/us-counties.csv", "fips")
    padded = {code.zfill(5) for code in codes}
    assert len(padded & counties) / len(padded) > 0.99
    assert len(codes & counties) < len(padded & counties)
