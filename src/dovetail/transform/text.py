"""What must be equal for two values to join: the project's normaliser decides."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dovetail.normalise import fold


def join_keys(values: Sequence[str | None]) -> list[str | None]:
    """Folded text; null for what is empty."""
    folded: list[str | None] = fold(pa.array(values, pa.string())).to_pylist()
    return [value or None for value in folded]
