"""Units of measurement by what they measure, in the base unit of each kind; and how one is converted into another.

Exact by definition (international yard and pound, 1959; US customary volumes; IEC 80000-13 for bytes).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_UNITS: tuple[dict[str, float], ...] = (
    {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344,
     "nmi": 1852.0},
    {"mg": 0.001, "g": 1.0, "kg": 1000.0, "t": 1e6, "oz": 28.349523125, "lb": 453.59237, "st": 6350.29318},
    {"ml": 0.001, "cl": 0.01, "l": 1.0, "m³": 1000.0, "fl oz": 0.0295735295625, "cup": 0.2365882365, "pt": 0.473176473,
     "qt": 0.946352946, "gal": 3.785411784},
    {"m²": 1.0, "ha": 1e4, "km²": 1e6, "sq ft": 0.09290304, "sq yd": 0.83612736, "acre": 4046.8564224,
     "sq mi": 2589988.110336},
    {"B": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "TiB": 1024.0**4},
    {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600},
    {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
    {"J": 1.0, "kJ": 1000.0, "cal": 4.184, "kcal": 4184.0, "kWh": 3.6e6},
)  # fmt: skip
_TENS = tuple(range(1, 10))  # powers of ten that are scales: thousands, millions, percent


class Conversion(NamedTuple):
    """A number times `factor` and `offset` more."""

    factor: float
    offset: float
    units: str


@lru_cache(maxsize=1)
def conversions() -> tuple[Conversion, ...]:
    """All conversions between units of one kind and by powers of ten, each factor once."""
    found: dict[tuple[str, float], Conversion] = {}
    for power in _TENS:
        for factor in (10.0**power, 1 / 10.0**power):
            found.setdefault((f"{factor:.12g}", 0.0), Conversion(factor, 0.0, ""))
    for kind in _UNITS:
        for mine, size in kind.items():
            for theirs, other in kind.items():
                if mine != theirs:
                    found.setdefault(
                        (f"{size / other:.12g}", 0.0), Conversion(size / other, 0.0, f"{mine} to {theirs}")
                    )
    temperatures = (
        Conversion(1.8, 32.0, "°C to °F"), Conversion(1 / 1.8, -32 / 1.8, "°F to °C"),
        Conversion(1.0, 273.15, "°C to K"), Conversion(1.0, -273.15, "K to °C"),
    )  # fmt: skip
    return (*found.values(), *temperatures)
