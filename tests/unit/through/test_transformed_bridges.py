"""Codes that a bridge writes by another rule."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dovetail._deadline import Deadline
from dovetail.api.lake import Lake
from dovetail.tables.input_table import open_table
from dovetail.through.bridges import Reach
from dovetail.through.lookup import Effort, map_columns, values_of
from dovetail.through.spelling import transformed
from support.pipeline import index, without_spark
from unit.through.conftest import write

_DRAW = random.Random(5)
CODES = ["".join(_DRAW.choices("BCDFGHKLMN", k=2)) + f"{number:03d}" for number in _DRAW.sample(range(1000), 40)]
SITES = ["".join(_DRAW.choices("aeiourstln", k=7)) + " yard" for _ in CODES]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A register of sites by codes."""
    folder = tmp_path_factory.mktemp("transformed")
    write(folder / "lake/register.csv", "code,site", list(zip(CODES, SITES, strict=True)))
    with without_spark():
        index(folder / "lake", folder / "idx")
    return Lake(folder / "idx")


def column(values):
    return open_table({"v": list(values)}).column("v")


def test_codes_with_a_prefix_reach_a_bridge_without_it(lake):
    mine = [f"EU/{code}-x" for code in CODES[:30]]
    truth = dict(zip(mine, SITES[:30], strict=True))
    assert {pair.value: pair.partner for pair in lake.map(mine, to=SITES)} == truth
    turned = lake.map(SITES, to=mine)
    assert {pair.partner: pair.value for pair in turned} == truth, "on either side"
    assert not map_columns(lake.segments, column(mine), column(SITES), effort=Effort.SPELLED)


def test_a_bridge_may_have_the_prefix(tmp_path):
    write(tmp_path / "lake/register.csv", "code,site", [(f"EU/{c}-x", s) for c, s in zip(CODES, SITES, strict=True)])
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    found = Lake(tmp_path / "idx").map(CODES[:30], to=SITES)
    assert {pair.value: pair.partner for pair in found} == dict(zip(CODES[:30], SITES, strict=False))


def reach(lake, values, deadline=10.0):
    segment = lake.segments[0]
    mine = values_of(column(values))
    equal = Reach.equal(mine.places(segment, 0))
    found = transformed(segment, 0, mine, np.ones(len(mine), bool), equal, Deadline(deadline))
    tokens = segment.tokens.tokens(segment.tokens.set_of(0)[0]).to_pylist()
    pairs = {(tokens[key], mine.texts[place]) for key, place in enumerate(found.places.tolist()) if place >= 0}
    return pairs, found.probability


def test_values_that_a_program_does_not_tell_apart_are_left_out(lake):
    """The letters of a code alone: several codes begin with the same ones, and none is chosen."""
    starts = sorted({code[:2] for code in CODES})
    alone = {code for code in CODES if sum(other[:2] == code[:2] for other in CODES) == 1}
    pairs, probability = reach(lake, [f"{start} 1 kind" for start in starts])
    assert {key for key, _ in pairs} <= {code.lower() for code in alone}
    assert probability.max(initial=0.0) < 1


def test_equal_values_stay_as_they_are_and_strangers_are_not_reached(lake):
    pairs, probability = reach(lake, CODES[:5])
    assert pairs == {(code.lower(), code.lower()) for code in CODES[:5]}
    assert probability.max() == 1
    assert reach(lake, ["one", "two", "three", "four"])[0] == set()
    assert reach(lake, [f"EU/{code}-x" for code in CODES], deadline=0.0)[0] == set(), "no time, no program"
