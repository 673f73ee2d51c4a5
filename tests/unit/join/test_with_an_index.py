"""An index makes no join worse: what two files join by, they join by with an index too."""

from __future__ import annotations

import pytest

import dovetail
from support.sample import SAMPLE_LAKE

PAIRS = [
    ("geo/us-counties.csv", "economy/county-labor-2009.csv"),
    ("economy/gapminder.csv", "geo/countries.csv"),
    ("geo/us-states.csv", "economy/state-population.csv"),
]


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=lambda name: name.rpartition("/")[2])
def test_the_same_join_as_without(sample_index, left, right):
    files = [str(SAMPLE_LAKE / name) for name in (left, right)]
    alone, with_index = dovetail.join(*files), dovetail.open(sample_index).join(*files)
    assert len(alone.matches.left) > 0
    for fact in ("by", "columns", "rows", "matched", "probability"):
        assert getattr(with_index, fact) == getattr(alone, fact)


STRANGERS = [
    ("science/elements.csv", "geo/regions.csv"),
    ("geo/regions.csv", "transport/us-airports.csv"),
]


@pytest.mark.parametrize(("left", "right"), STRANGERS, ids=lambda name: name.rpartition("/")[2])
def test_the_lake_relates_no_strangers_unasked(sample_index, left, right):
    """Tables that hold short codes of both would join each row with many."""
    assert dovetail.open(sample_index).join(left, right).matched == (0, 0)
