"""Runs every kernel as Python and as machine code, and compares what they return and what they write."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from dovetail._compile import Kernel

SCRATCH = ("dovetail.indexes.mate.query_kernels.search_tables",)
"""Kernels that return, behind their first result, arrays of which they have filled only a part."""


def compare_both_forms(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """From now on; the calls are counted by kernel."""
    calls: Counter[str] = Counter()

    def call(kernel: Kernel, *arguments: Any) -> Any:
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
        calls[name] += 1
        copied = _copied(arguments)
        with np.errstate(over="ignore"):
            plain = kernel.plain()(*copied)
        result = kernel.compile(*arguments)
        if name in SCRATCH:
            plain, seen = plain[:1], result[:1]
        else:
            seen = result
        assert _same(plain, seen), f"{name} returns {plain!r} as Python, {seen!r} as machine code"
        assert _same(copied, arguments), f"{name} writes {copied!r} as Python, {arguments!r} as machine code"
        return result

    monkeypatch.setattr(Kernel, "__call__", call)
    return calls


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable else value
    if isinstance(value, tuple):
        parts = [_copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        floats = one.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=floats)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other)))
