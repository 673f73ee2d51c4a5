"""Search with no column named: real keys before years, dates, row numbers and flags, and lookups before the rest."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import dovetail
from dovetail._model import Model, load_model
from dovetail.api.lake import Lake
from dovetail.evidence.features import rarity
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.thresholds import SHOWN_HIT
from dovetail.search import engine
from dovetail.search.ranking.features import FEATURES
from dovetail.search.ranking.reasons import _GROUPS, reasons
from dovetail.search.ranking.surroundings import Surroundings, rarity_of_share
from dovetail.tables.input_table import open_table
from support.pipeline import index, without_spark

DAYS = [(datetime.date(2020, 1, 1) + datetime.timedelta(n)).isoformat() for n in range(600)]
CODES = [f"{chr(65 + n % 26)}{chr(65 + n // 26)}{n * 7919 % 1000:03d}" for n in range(300)]


@pytest.fixture(scope="module", params=[1_000_000, 100_000], ids=["one segment", "many segments"])
def shop(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    lake = folder / "lake"
    (lake / "sales").mkdir(parents=True)
    rows = {
        "sales/customers.csv": ["customer_id,name", *(f"{n},customer number {n}" for n in range(1, 301))],
        "sales/regions.csv": ["id,region", *(f"{n},region {n}" for n in range(1, 13))],
        "stations.csv": ["day,station,rain", *(f"{day},station {n % 40},{n % 17 / 4}" for n, day in enumerate(DAYS))],
        "articles.csv": ["article,weight", *(f"{code},{n % 90}" for n, code in enumerate(CODES))],
        "article_prices.csv": ["article,price", *(f"{CODES[n % 300]},{n}" for n in range(1500))],
    }
    for number in range(8):
        measured = (f"{n},{1990 + n % 30},{n * 7919 % 1000 / 8}" for n in range(1, 2101))
        rows[f"measures{number}.csv"] = ["rownames,year,value", *measured]
    for name, lines in rows.items():
        (lake / name).write_text("\n".join(lines) + "\n")
    with without_spark(request.param):
        index(lake, folder / "idx")
    opened = Lake(folder / "idx")
    assert (len(opened.segments) > 1) == (request.param == 100_000)
    return opened, lake


def test_a_key_of_numbers_is_found_by_its_name_and_row_numbers_are_not(shop):
    orders = {"rownames": range(1, 201), "customer_id": [n % 250 + 1 for n in range(200)], "year": [1999, 2000] * 100}
    hits = shop[0].search(orders)
    assert [(hit.table, hit.on) for hit in hits] == [("sales/customers.csv", ("customer_id",))]


def test_years_and_row_numbers_alone_are_no_answer_but_are_named(shop):
    mine = {"rownames": range(1, 201), "year": [1990 + n % 20 for n in range(200)]}
    hits = shop[0].search(mine)
    assert not hits
    assert len(hits.nearest) == 3
    assert "No table of the lake joins well with query. The nearest: 3 columns share" in repr(hits)
    assert "too few or too common to be evidence" in repr(hits)
    assert shop[0].search(mine, min_overlap=20), "whoever asks sees them"


def test_days_of_something_else_are_no_evidence(shop):
    companies = {"company": [f"company {n}" for n in range(90)], "Date added": [DAYS[n * 5] for n in range(90)]}
    assert not shop[0].search(companies)


def test_lookups_come_before_joins_that_repeat_rows_whatever_their_names(shop):
    mine = {"article": CODES[:200], "sold": range(1000, 1200)}
    hits = shop[0].search(mine)
    assert (hits[0].table, hits[0].cardinality) == ("articles.csv", "1:1")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(SHOWN_HIT <= hit.score <= 1 for hit in hits)


def test_the_folder_of_the_query_counts(shop, tmp_path):
    lake, folder = shop
    text = "shop,region_id\n" + "".join(f"shop {n},{n % 12 + 1}\n" for n in range(60))
    inside, outside = folder / "sales" / "shops.csv", tmp_path / "shops.csv"
    for path in (inside, outside):
        path.write_text(text)
    scores = [{hit.table: hit.score for hit in lake.search(path)} for path in (inside, outside)]
    inside.unlink()
    assert scores[0]["sales/regions.csv"] > scores[1].get("sales/regions.csv", 0)
    assert max(scores[0], key=scores[0].__getitem__) == "sales/regions.csv"


def test_hits_say_what_speaks_for_and_against_them(shop):
    orders = {"customer_id": [n % 250 + 1 for n in range(200)]}
    hit = shop[0].search(orders)[0]
    assert "the columns have the same name" in hit.reasons
    assert hit.reasons[0] in hit.explain() and f"{hit.score:.0%} (for it: " in hit.explain()
    assert hit.to_dict()["reasons"] == list(hit.reasons)
    named = shop[0].search(orders, on="customer_id")[0]
    assert named.score == named.overlap and not named.reasons, "with a column, hits are ranked by overlap"


def test_reasons_are_the_groups_that_move_the_log_odds_most():
    weights, typical = np.zeros(len(FEATURES)), np.zeros(len(FEATURES))
    weights[FEATURES.index("contained")], weights[FEATURES.index("date")] = 3.0, -4.0
    typical[FEATURES.index("contained")] = 0.5
    model = Model("search", FEATURES, 0.0, weights, typical, {})
    features = np.zeros(len(FEATURES))
    features[FEATURES.index("contained")] = features[FEATURES.index("date")] = 1.0
    assert reasons(model, features) == (("all of your values occur there",), ("dates match by chance",))
    assert reasons(model, typical) == ((), ())


def test_every_feature_with_a_weight_has_words():
    model = load_model("search", FEATURES)
    told = {name for group in _GROUPS for name in group.features}
    assert {name for name, weight in zip(FEATURES, model.weights, strict=True) if weight} <= told
    assert told <= set(FEATURES)
    assert {"program", "data sets", "date"} <= set(model.made_by)


def test_overlaps_are_all_of_the_kth_and_above_in_one_numbering(shop):
    lake = LakeColumns(shop[0].segments)
    tokens = open_table({"n": range(1, 13)}).column("n").tokens
    columns, overlaps = engine.overlaps(lake.segments, tokens, 1, 1, np.ones(len(lake), bool))
    assert set(overlaps) == {12}
    numbers = ["rownames"] * 8 + ["value"] * 8 + ["customer_id", "id", "weight", "price"]
    assert sorted(lake.names_of(columns).to_pylist()) == sorted(numbers)


def test_surroundings_weigh_what_is_common_by_its_rarity(shop):
    opened, folder = shop
    lake = LakeColumns(opened.segments)
    tables = lake.table_names.to_pylist()
    table = open_table({"customer_id": [1, 2], "year": [1990, 1991]})
    around = Surroundings(lake, table)
    assert not around.near.any()
    assert around.name_rarity[0] == 1 and around.name_rarity[1] < 0.5
    assert around.shared_names[tables.index("sales/customers.csv")] > around.shared_names[tables.index("measures3.csv")]
    inside = Surroundings(lake, open_table(folder / "sales" / "customers.csv"))
    assert inside.near[tables.index("sales/regions.csv")] > 0.5 > inside.near[tables.index("stations.csv")]
    assert inside.called_alike[tables.index("sales/customers.csv")] == 1


def test_rarity_is_between_nothing_and_one():
    assert rarity(1, 1000) == 1 and rarity(900, 1000) < 0.2
    assert rarity_of_share(np.array([1, 1000]), 1000).tolist() == [1, 0]


def test_of_equal_evidence_fewer_rows_per_match_come_first(tmp_path):
    """Then more columns; the alphabet comes last."""
    codes = [f"code-{n}" for n in range(30)]
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a-repeats.csv").write_text("code,x\n" + "".join(f"{code},{n}\n" for code in codes for n in range(3)))
    (lake / "b-narrow.csv").write_text("code,x\n" + "".join(f"{code},y{code}\n" for code in codes))
    (lake / "c-wide.csv").write_text("code,u,v,w\n" + "".join(f"{code},1{code},2{code},3{code}\n" for code in codes))
    with without_spark():
        dovetail.index(lake, tmp_path / "idx")
    hits = dovetail.open(tmp_path / "idx").search({"key": codes}, on="key", copies=True)
    assert [hit.table for hit in hits] == ["c-wide.csv", "b-narrow.csv", "a-repeats.csv"]
