"""What a match is worth: real keys before years, row numbers and flags."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.api.lake import Lake
from dovetail.evidence.strength import POOR, chance_of_codes, chance_of_whole_numbers, rarity, strength
from support.pipeline import index, without_spark


def test_row_numbers_hold_every_year():
    years, rows = np.arange(1960.0, 2021), np.arange(1.0, 9001)
    assert chance_of_whole_numbers(years, rows) == 1
    assert chance_of_whole_numbers(years, rows[::7], step=7) == pytest.approx(1, abs=0.1)
    keys = np.array([1001.0, 15003, 56045])
    assert chance_of_whole_numbers(keys, np.append(keys, 77000)) < 0.001


def test_short_codes_meet_by_chance():
    assert chance_of_codes(26, 1) == 1
    assert chance_of_codes(338, 2) == 0.5
    assert chance_of_codes(338, 12) == 0


def test_strength_is_between_nothing_and_one_and_grows_with_what_matches():
    def of(common: int, size: int = 100, cardinality: str = "N:1", chance: float = 0.0) -> float:
        return strength(np.ones(common), size, cardinality, False, chance)

    shares = [of(common) for common in range(101)]
    assert shares == sorted(shares) and shares[0] == 0 and 0.99 < shares[-1] < 1
    assert of(50, chance=0.5) == 0, "no more than chance"
    assert of(100, chance=1.0) == 0
    assert of(2, 2) < POOR < of(10, 10), "two of two are no evidence"
    assert of(100, cardinality="N:M") < of(100, cardinality="1:N") < of(100)
    assert rarity(1, 1000) == 1 and rarity(900, 1000) < 0.2


@pytest.fixture(scope="module", params=[1_000_000, 100_000], ids=["one segment", "many segments"])
def shop(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    lake = folder / "lake"
    lake.mkdir()
    (lake / "customers.csv").write_text(
        "customer_id,name\n" + "".join(f"{n},customer number {n}\n" for n in range(1, 301))
    )
    for number in range(8):
        rows = "".join(f"{n},{1990 + n % 30},{n * 7919 % 1000 / 8}\n" for n in range(1, 2101))
        (lake / f"measures{number}.csv").write_text("rownames,year,value\n" + rows)
    with without_spark(request.param):
        index(lake, folder / "idx")
    opened = Lake(folder / "idx")
    assert (len(opened.segments) > 1) == (request.param == 100_000)
    return opened


def test_a_key_of_numbers_is_found_by_its_name_and_row_numbers_are_not(shop):
    orders = {"rownames": range(1, 201), "customer_id": [n % 250 + 1 for n in range(200)], "year": [1999, 2000] * 100}
    hits = shop.search(orders)
    assert [(hit.table, hit.on) for hit in hits] == [("customers.csv", ("customer_id",))]


def test_years_and_row_numbers_alone_are_no_answer_but_are_named(shop):
    mine = {"rownames": range(1, 201), "year": [1990 + n % 20 for n in range(200)]}
    hits = shop.search(mine)
    assert not hits
    assert len(hits.nearest) == 3
    assert "No table of the lake joins well with query. The nearest: 3 columns share" in repr(hits)
    assert "too few or too common to be evidence" in repr(hits)
    assert shop.search(mine, min_overlap=20), "whoever asks sees them"
