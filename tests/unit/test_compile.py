"""The first compilation is told of, once."""

from __future__ import annotations

import numba

from dovetail._compile import tell_of_compiling


def test_told_once():
    told = []
    tell_of_compiling(lambda: told.append("compiling"))
    double = numba.njit(lambda number: 2 * number)
    assert not told
    assert double(2) == 4 and double(2.5) == 5
    assert told == ["compiling"]
