"""Values that belong together, by the votes of tables of the lake."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.tables.input_table import open_table
from dovetail.through.bridges import Bridge, BridgePlace
from dovetail.through.examples import map_by_examples
from dovetail.through.lookup import map_columns
from dovetail.through.series import series_of
from dovetail.through.votes import count_votes
from support.pipeline import index, without_spark
from unit.through.conftest import CAPITALS, PARTS, write


def column(values):
    return open_table({"v": list(values)}).column("v")


def as_dict(mapping):
    return {pair.value: pair.partner for pair in mapping}


def test_values_are_paired_by_the_tables_that_hold_both(lake):
    mapping = map_columns(lake.segments, column(CAPITALS), column(reversed(CAPITALS.values())))
    assert as_dict(mapping) == CAPITALS
    assert "atlas/capitals.csv" in mapping[0].tables
    assert mapping.tables[0].table == "atlas/capitals.csv"
    assert all(0.5 < pair.probability <= 1 for pair in mapping)


def test_contradictions_are_shown_and_outvoted(lake):
    mapping = map_columns(lake.segments, column(CAPITALS), column(CAPITALS.values()))
    dorland = next(pair for pair in mapping if pair.value == "Dorland")
    assert dorland.partner == "Westholm"
    contradicting = {other[:2] for pair in mapping for other in pair.alternatives}
    assert ("Dorland", "Santa Mira") in contradicting
    fenwick = next(pair for pair in mapping if pair.value == "Fenwick")
    assert fenwick.partner == "Old Harbour", "nine near-copies have one vote"


def test_a_partner_that_is_not_among_mine_speaks_against_another(tmp_path):
    """Many tables have the capital of Dorland, which is not among mine; one has another town of mine beside it."""
    for number in range(14):
        rows = [pair for place, pair in enumerate(CAPITALS.items()) if pair[0] == "Dorland" or (place + number) % 3]
        write(tmp_path / f"lake/{number}/list.csv", f"land {number},capital {number}", rows)
    write(tmp_path / "lake/games.csv", "team,venue", [("Dorland", "Santa Mira"), ("Hestia", "Nordmark")])
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    mine = [capital for capital in CAPITALS.values() if capital != "Westholm"]
    found = as_dict(map_columns(Lake(tmp_path / "idx").segments, column(CAPITALS), column(mine)))
    assert found == {country: capital for country, capital in CAPITALS.items() if country != "Dorland"}


def test_one_to_many_relations_keep_all_pairs_in_either_direction(lake):
    forth = map_columns(lake.segments, column(PARTS), column(["North", "South"]))
    assert as_dict(forth) == PARTS
    assert not forth.reversed
    back = map_columns(lake.segments, column(["North", "South"]), column(PARTS))
    assert {(pair.partner, pair.value) for pair in back} == set(PARTS.items())
    assert back.reversed


def test_values_may_be_spelled_differently(lake):
    mine = ["Arvania", "Belgonia", "Corvia", "Dorland", "Estavia", "The Hestia"]
    found = as_dict(map_columns(lake.segments, column(mine), column(CAPITALS.values())))
    assert found["The Hestia"] == "Nordmark"


def test_nothing_is_said_where_no_table_holds_both(lake):
    assert not map_columns(lake.segments, column(CAPITALS), column(["red", "green", "blue"]))
    assert not map_columns(lake.segments, column(["x", "y"]), column(["red", "green"]))
    assert not map_columns(lake.segments, column([""]), column(["red", "green"]))


def test_examples_say_which_relation_is_meant(lake):
    examples = column(["Arvania", "Corvia"]), column(["port sable", "santa mira"])
    found = map_by_examples(lake.segments, column(CAPITALS), examples)
    assert as_dict(found) == {name: capital.lower() for name, capital in CAPITALS.items()}
    examples = column(["Arvania", "Hestia"]), column(["North", "South"])
    found = map_by_examples(lake.segments, column(["Belgonia", "Gaspar"]), examples)
    assert as_dict(found) == {"Belgonia": "north", "Gaspar": "south"}


def test_one_value_is_enough_and_none_is_no_fault(lake):
    assert as_dict(map_columns(lake.segments, column(["Hestia"]), column(["Nordmark"]))) == {"Hestia": "Nordmark"}
    assert not map_columns(lake.segments, column([]), column(["Nordmark"]))
    examples = column(["Arvania", "Corvia"]), column(["Port Sable", "Santa Mira"])
    assert not map_by_examples(lake.segments, column([]), examples)


def test_examples_must_be_there(lake):
    with pytest.raises(InputError, match="no examples"):
        map_by_examples(lake.segments, column(CAPITALS), (column([]), column([])))


def bridge(pairs, table=0, known=None):
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    ones = np.ones(len(left))
    sides = known or (np.unique(left), np.unique(right))
    return Bridge(BridgePlace(0, table, (0, 1), (2, 2)), left, right, ones, ones, ones, sides)


def test_near_copies_are_one_series():
    same = [(0, 0), (1, 1), (2, 2)]
    other = [(0, 1), (1, 0), (2, 2)]
    bridges = [bridge(same), bridge(other, 1), bridge(same, 2), bridge(same, 3), bridge(other, 3)]
    names = [((0, "x", "y"),), ((0, "x", "y"),), ((1, "x", "y"),), ((1, "x", "z"),), ((1, "w", "z"),)]
    assert series_of(names, bridges, 3).tolist() == [0, 0, 0, 1, 2]


def test_tables_whose_partners_are_mostly_unknown_weigh_little():
    good = bridge([(0, 0), (1, 1), (2, 2), (3, 3)])
    chance = bridge([(0, 1), (1, 0)], 1, (np.arange(4), np.arange(4)))
    votes = count_votes([good, chance], np.array([0, 1]), np.array([False, False]), (4, 4))
    assert votes.weights[0] > 3 * votes.weights[1]
    likely = {(int(votes.left[at]), int(votes.right[at])) for at in votes.likely}
    assert likely == {(0, 0), (1, 1), (2, 2), (3, 3)}


def test_numbers_need_other_tables_that_agree():
    alone = count_votes([bridge([(0, 0), (1, 1)])], np.array([0]), np.array([True]), (2, 2))
    text = count_votes([bridge([(0, 0), (1, 1)])], np.array([0]), np.array([False]), (2, 2))
    assert alone.probability.max() < text.probability.min()
