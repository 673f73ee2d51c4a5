"""How a cost grows: the exponent of a power of the number of tables, by least squares of logarithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Of Student's distribution, two-sided 90 %, for 1, 2, 3 … degrees of freedom.
_QUANTILES = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)


@dataclass(frozen=True)
class Power:
    """The cost grows as a power of the number of tables."""

    exponent: float
    error: float | None
    """Half of the 90 % interval of the exponent; None for two points, which any line fits."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """That of the exponent, 90 %."""
        return None if self.error is None else (self.exponent - self.error, self.exponent + self.error)

    @property
    def text(self) -> str:
        return f"{self.exponent:.2f}" + ("" if self.error is None else f" ± {self.error:.2f}")


def fit(points: list[tuple[int, float]]) -> Power:
    """The power that fits best; a point is a number of tables and their cost, both above 0."""
    return Power(*slope(*np.log(points).T))


def slope(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[float, float | None]:
    """That of the line that fits best, and half of its 90 % interval."""
    around = x - x.mean()
    found = float(around @ y / (around @ around))
    rest, free = y - y.mean() - found * around, len(x) - 2
    if not free:
        return found, None
    quantile = _QUANTILES[min(free, len(_QUANTILES)) - 1]
    return found, float(quantile * np.sqrt(rest @ rest / free / (around @ around)))
