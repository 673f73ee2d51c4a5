"""The published algorithms find in a lake what the product finds, and count their work."""

from __future__ import annotations

import pyarrow.csv
import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.papers import josie, lsh_ensemble, mate, pexeso, schemaless
from support.sample import SAMPLE_LAKE

AIRPORTS = SAMPLE_LAKE / "transport/airports.csv"
K = 6


@pytest.fixture(scope="module")
def lake(sample_index):
    return dovetail.Lake(sample_index)


@pytest.fixture(scope="module")
def airports():
    """The columns that are searched with, as plain values."""
    table = pyarrow.csv.read_csv(AIRPORTS)
    return {name: table[name].to_pylist() for name in ("country", "city")}


def by_overlap(hits) -> list[tuple[str, str, int]]:
    return sorted(((hit.table, hit.columns[0], hit.overlap) for hit in hits), key=lambda hit: (-hit[2], *hit[:2]))


@pytest.mark.parametrize("algorithm", josie.ALGORITHMS)
def test_josie(lake, airports, algorithm):
    found = josie.top_k(lake, airports["country"], K, algorithm=algorithm, batch=3)
    most = by_overlap(lake.search(AIRPORTS, on="country", k=50, copies=True, include_self=True))
    assert found.matches == most[:K]
    assert found.work.lists > 0
    assert (found.work.sets == 0) == (algorithm == "merge_list")


@pytest.mark.parametrize("options", [{"algorithm": "magic"}, {"batch": 0}])
def test_what_josie_refuses(lake, options):
    with pytest.raises(InputError, match="The algorithms are josie, merge_list, probe_set"):
        josie.top_k(lake, ["a"], **options)


@pytest.mark.parametrize("options", [{}, {"super_keys": False}, {"start": "country"}, {"start": "city"}])
def test_mate(lake, sample_index, airports, options):
    found = mate.top_k(sample_index, airports, K, **options)
    hits = lake.search(AIRPORTS, on=["country", "city"], k=K, copies=True, include_self=True)
    expected = [(hit.table, hit.columns, hit.overlap) for hit in hits]
    assert expected
    assert found.matches == sorted(expected, key=lambda hit: (-hit[2], hit[0]))
    assert found.work.checked >= found.work.passed >= found.work.matched > 0


def test_mate_names_the_columns_of_the_key(lake, airports):
    with pytest.raises(InputError, match="start is 'town'; it must be a column of the key: country, city"):
        mate.top_k(lake, airports, start="town")


def test_super_keys_rule_rows_out(lake, airports):
    filtered, every = (mate.top_k(lake, airports, K, super_keys=on).work for on in (True, False))
    assert filtered.passed < every.passed
    assert filtered.items <= every.items


def test_lsh_ensemble(lake, airports):
    hits = by_overlap(lake.search(AIRPORTS, on="country", threshold=0.5, include_self=True))
    verified = lsh_ensemble.containing(lake, airports["country"], 0.5, verify=True)
    assert set(verified.matches) <= set(hits)
    assert len(verified.matches) >= 0.95 * len(hits)
    candidates = lsh_ensemble.containing(lake, airports["country"], 0.5)
    assert {match[:2] for match in verified.matches} <= {match[:2] for match in candidates.matches}
    assert candidates.work.candidates > 0
    assert "sketches" in candidates.work.plans


def test_partitions_of_least_cost():
    sizes = [10, 10, 11, 90, 100, 100, 1000]
    best = lsh_ensemble.optimal_partitions(sizes, 3)
    assert best == [(10, 11), (90, 100), (1000, 1000)]
    cost = lsh_ensemble.expected_false_positives(sizes, best)
    assert cost == pytest.approx(1 / 11 + 1 / 11 + 0.1)
    assert cost < lsh_ensemble.expected_false_positives(sizes, [(10, 10), (11, 90), (100, 1000)])
    assert lsh_ensemble.optimal_partitions([], 3) == []


@pytest.mark.parametrize("grids", [pexeso.Grids(), pexeso.Grids(2, 3), pexeso.Grids(partitions=3, clustering="random")])
def test_pexeso(lake, airports, grids, tmp_path, monkeypatch):
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    hits = lake.search(AIRPORTS, on="city", by="semantic", threshold=0.1, include_self=True)
    found = pexeso.joinable(lake, airports["city"], 0.1, grids=grids)
    assert [match[:3] for match in found.matches] == [(hit.table, hit.columns[0], hit.matched_rows) for hit in hits]
    assert found.work.distances > 0
    assert found.work.candidates >= len(hits)
    files = list((tmp_path / "cache").glob("*/random-3-0-0-*"))
    assert len(files) == (4 if grids.partitions else 0)  # which columns, and three partitions


@pytest.mark.parametrize("options", [{"levels": 7}, {"pivots": 10}, {"partitions": -1}, {"clustering": "nearest"}])
def test_what_pexeso_refuses(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} is .*; it must be"):
        pexeso.Grids(**options)


@pytest.mark.parametrize("prefer", ["coverage", "groups", "compact", "balance", "strength"])
def test_schemaless(prefer):
    left = {"id": ["1", "2", "3", "4"], "city": ["Rome", "Bern", "Oslo", "Rome"]}
    right = {"town": ["Rome", "Oslo", "Oslo"], "number": ["1", "3", "5"]}
    found = schemaless.top_k(left, right, prefer=prefer, k=3)
    assert tuple(found.matches) == dovetail.predicates(left, right, prefer=prefer, k=3).predicates
    assert found.work.complete
    assert found.work.visited > 0
    with pytest.raises(InputError, match="at least two tables"):
        schemaless.top_k(left)
