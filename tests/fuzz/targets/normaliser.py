"""The normaliser: one value is normalised as it is in its column, and nothing raises."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail.normalise import decide, fold, gather, normalise, normalise_value

SEEDS = [
    "Zürich \nZURICH\nzu\u0308rich".encode(),
    b"1,234.50\n-7\n1e3\n$12\n50%",
    b"2004-03-04\n04/03/2004\n4 Mar 2004\n2004-03-04T10:00:00Z",
    b"true\nyes\nN/A\n\nnull",
    "ﬁ\u200b½\u0130\u1e9e\U0001f600".encode(),
]


def check(data: bytes) -> None:
    values = pa.array(data.decode("utf-8", errors="replace").split("\n"), pa.string())
    kind = decide(gather(fold(values), np.ones(len(values), dtype=np.int64)))
    together = normalise(values, kind).to_pylist()
    assert len(together) == len(values)
    for value, token in zip(values.to_pylist(), together, strict=True):
        assert normalise_value(value, kind) == token, value
