"""The first compilation is told of, once."""

from __future__ import annotations

import importlib
import sys

import numba

from dovetail._compile import tell_of_compiling


def test_told_once():
    told = []
    tell_of_compiling(lambda: told.append("compiling"))
    double = numba.njit(lambda number: 2 * number)
    assert not told
    assert double(2) == 4 and double(2.5) == 5
    assert told == ["compiling"]


def test_a_cache_that_names_a_type_that_is_gone(tmp_path, monkeypatch):
    """Numba's cache names the types of arguments: after a renaming, the kernel is compiled again."""
    monkeypatch.syspath_prepend(tmp_path)
    source = "from typing import NamedTuple\nfrom dovetail._compile import compiled\n"
    source += (
        "class Facts(NamedTuple):\n    number: int\n\n@compiled\ndef double(facts):\n    return 2 * facts.number\n"
    )
    file = tmp_path / "renamed_kernels.py"
    for name in ("Facts", "Numbers"):
        file.write_text(source.replace("Facts", name))
        sys.modules.pop("renamed_kernels", None)
        module = importlib.import_module("renamed_kernels")
        assert module.double(getattr(module, name)(21)) == 42
        importlib.invalidate_caches()
