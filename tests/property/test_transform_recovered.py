"""A random program over random rows is recovered, or another that gives the same for nearly every row."""

from __future__ import annotations

import random

import dovetail
from dovetail.transform import Constant, Extract, Program, Split

_PROGRAMS = 40
_ROWS = 60
_STATED = 0.95  # of the programs: docs/algorithms/auto_join.md


def _word(draw: random.Random) -> str:
    return "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(4, 9)))


def _rows(draw: random.Random) -> dict[str, list[str | None]]:
    return {
        "name": [f"{_word(draw).title()}, {_word(draw).title()} ({draw.randint(1900, 1999)})" for _ in range(_ROWS)],
        "place": [f"{_word(draw)}-{_word(draw)}" for _ in range(_ROWS)],
        "code": [str(draw.randint(10_000, 99_999)) for _ in range(_ROWS)],
    }


def _program(draw: random.Random) -> Program:
    """One to three parts, the first of them a whole piece, so that the values are keys."""
    parts = [
        Extract("name", (Split(", ", 0, 0),), 0, None, draw.choice(["as is", "lower", "upper"])),
        Extract("name", (Split(" (", 0, 0), Split(", ", 1, 1))),
        Extract("name", (Split(", ", 1, 1),), 0, draw.randint(1, 3)),
        Extract("place", (Split("-", -1, -1),)),
        Extract("code"),
        Extract("code", (), -3),
    ]
    first = draw.choice([parts[0], parts[1], parts[3]])
    rest = draw.sample([part for part in parts if part != first], draw.randint(0, 2))
    steps: list[Extract | Constant] = [first]
    for part in rest:
        steps += [Constant(draw.choice([" ", "_", "/ ", " no. "])), part]
    return Program(tuple(steps))


def test_random_programs_are_recovered():
    draw = random.Random(7)
    recovered = 0
    for _ in range(_PROGRAMS):
        rows, program = _rows(draw), _program(draw)
        wanted = program.apply(rows)
        order = draw.sample(range(_ROWS), _ROWS)
        joined = dovetail.join(rows, {"key": [wanted[row] for row in order]}, by="transform")
        found = {(pair["left_row"], order[pair["right_row"]]) for pair in joined.pairs.to_pylist()}
        recovered += found == {(row, row) for row in range(_ROWS)}
    assert recovered >= _STATED * _PROGRAMS
