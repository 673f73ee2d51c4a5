"""Tokens of several segments come together by their bytes, whatever their hashes; nothing depends on the pieces."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.graph import value_sets
from dovetail.graph.inclusion_kernels import meet


@pytest.mark.parametrize("kernel", [meet, meet.py_func], ids=["compiled", "plain"])
def test_equal_hashes_of_different_tokens_do_not_meet(kernel):
    content = np.frombuffer(b"aXaYbX", np.uint8)
    spans = np.array([[0, 2], [2, 4], [0, 2], [4, 6], [0, 1]])  # aX, aY, aX again, bX, a
    hashes = np.array([7, 7, 7, 9, 9], np.uint64)
    offsets, members, weights, alone = kernel(hashes, np.array([0, 10, 20, 30, 40]), content, spans)
    assert offsets.tolist() == [0, 2]
    assert members.tolist() == [0, 20]
    assert weights.tolist() == [1]
    assert alone.tolist() == [10, 30, 40]


def test_ranges_of_hashes_change_nothing(lake_of, monkeypatch):
    rows = "".join(f"value {n},other {n % 7}\n" for n in range(60))
    files = {f"t{k}.csv": "x,y\n" + "".join(rows.splitlines(keepends=True)[: 20 + 5 * k]) for k in range(6)}
    lake = lake_of(files, one_by_one=True)
    assert len(lake.segments) > 1
    whole = lake.inds(coverage=0, non_unique=True).to_dicts()
    monkeypatch.setattr(value_sets, "_TOKENS_AT_ONCE", 8)
    assert lake.inds(coverage=0, non_unique=True).to_dicts() == whole
    assert len(whole) > 15
