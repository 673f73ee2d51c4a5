"""How many rows of big tables are enough to learn from (section 4.5; the thesis prints the two rates swapped)."""

from __future__ import annotations

import math
import random

_EXAMPLES = 4  # T: joinable pairs that the samples must hold
_SLACK = 0.8  # δ: they do with a probability of at least 1 − exp(−δ²·T/(2(1−δ))) = 99.8%
_PARTICIPATION = 0.1  # r: of the target's rows that join, at least
_SMALL = 2_000  # rows: not worth sampling
SCORED_ROWS = 2_000  # of the source, on which programs are compared


def rates(source: int, target: int) -> tuple[float, float]:
    """The rates for source and target that need the fewest rows; where one exceeds 1, the other is solved anew."""
    pairs = _EXAMPLES / ((1 - _SLACK) * _PARTICIPATION)
    of_source = math.sqrt(pairs / max(source, 1))
    of_target = of_source * source / max(target, 1)
    if of_source > 1:
        of_source, of_target = 1.0, pairs / max(target, 1)
    elif of_target > 1:
        of_source, of_target = pairs / max(target, 1), 1.0
    return min(of_source, 1.0), min(of_target, 1.0)


def sample(rows: int, rate: float) -> list[int]:
    """Rows drawn at a rate, the same in every run; all rows of a small table."""
    size = rows if rows <= _SMALL else max(math.ceil(rows * rate), _SMALL)
    return list(range(rows)) if size >= rows else sorted(random.Random(rows).sample(range(rows), size))
