"""Kernels run as Python until machine code pays; it comes from the cache where no file of kernels has changed."""

from __future__ import annotations

import ast
import errno
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import dovetail
from dovetail import _compile, _numba
from dovetail._compile import Kernel, on_first_compilation

SOURCE = Path(dovetail.__file__).parent

HELPER = """
from dovetail._compile import compiled

@compiled
def scaled(number):
    return {factor} * number
"""
CALLER = """
from dovetail._compile import compiled
from helper_kernels import scaled

@compiled
def total(one, other):
    return scaled(one) + scaled(other)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two files of kernels; the cache watches it instead of Dovetail."""
    monkeypatch.setattr(_numba, "_PACKAGE", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(tmp_path, 2)
    yield tmp_path
    _numba.kernel_stamp.cache_clear()


def write(package: Path, factor: int) -> None:
    (package / "helper_kernels.py").write_text(HELPER.format(factor=factor))
    (package / "caller_kernels.py").write_text(CALLER)


def load() -> ModuleType:
    """The caller, as a new process would see it."""
    for name in ("helper_kernels", "caller_kernels"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    _numba.kernel_stamp.cache_clear()
    return importlib.import_module("caller_kernels")


def hits(kernels: ModuleType) -> int:
    return sum(kernels.total.dispatcher().stats.cache_hits.values())


def test_a_full_disk_costs_no_answer(package, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_numba._CacheFile.__mro__[1], "reduce", full)
    with pytest.warns(UserWarning, match="Compiled code could not be kept in .*: No space left on device"):
        assert load().total.compile(1, 2) == 6


def test_a_changed_callee_is_compiled_again(package):
    assert load().total.compile(1, 2) == 6
    cached = load()
    assert cached.total.compile(1, 2) == 6 and hits(cached) == 1
    write(package, 10)
    changed = load()
    assert changed.total.compile(1, 2) == 30 and hits(changed) == 0


@pytest.mark.parametrize("name", ["helper_kernels.py", "folder/kernels.py", "folder/core.py"])
def test_every_file_that_kernels_depend_on_changes_the_stamp(package, name):
    stamps = set()
    for content in (None, "one = 1", "one = 2"):
        if content is not None:
            (package / name).parent.mkdir(exist_ok=True)
            (package / name).write_text(content)
        _numba.kernel_stamp.cache_clear()
        stamps.add(_numba.kernel_stamp())
    assert len(stamps) == 3


def test_the_first_compilation_is_announced_once(package):
    announced: list[str] = []
    on_first_compilation(lambda: announced.append("compiling"))
    kernels = load()
    assert not announced
    assert kernels.total.compile(2, 3) == 10 and kernels.total.compile(0.5, 1.0) == 3.0
    assert announced == ["compiling"]


def test_nothing_is_announced_where_the_cache_has_it(package):
    load().total.compile(1, 2)
    announced: list[str] = []
    on_first_compilation(lambda: announced.append("compiling"))
    assert load().total.compile(1, 2) == 6
    assert not announced
    _compile._listeners.clear()


def test_the_plain_form_stays(package):
    kernels = load()
    assert isinstance(kernels.total, Kernel)
    assert kernels.total.py_func(1, 2) == kernels.total.plain()(1, 2) == kernels.total.compile(1, 2) == 6
    assert kernels.total.__name__ == "total"


def test_compiled_functions_are_in_files_of_kernels():
    """The cache watches no other file."""
    elsewhere = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not path.name.endswith("kernels.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark) in ("compiled", "inlined") for mark in node.decorator_list)
    ]
    assert not elsewhere, "\n".join(elsewhere)


def test_importing_kernels_imports_no_numba():
    program = "import sys, dovetail.indexes.registry, dovetail.graph.inclusion; print('numba' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )


def test_a_cache_that_names_a_type_that_is_gone(package):
    """Numba's cache names the types of arguments: after a renaming, the kernel is compiled again."""
    source = (
        "from typing import NamedTuple\nfrom dovetail._compile import compiled\n"
        "class Facts(NamedTuple):\n    number: int\n\n@compiled\ndef double(facts):\n    return 2 * facts.number\n"
    )
    file = package / "renamed_kernels.py"
    for name in ("Facts", "Numbers"):
        file.write_text(source.replace("Facts", name))
        sys.modules.pop("renamed_kernels", None)
        importlib.invalidate_caches()
        module = importlib.import_module("renamed_kernels")
        assert module.double.compile(getattr(module, name)(21)) == 42


@pytest.fixture
def fresh(monkeypatch):
    """A process in which no kernel has run."""
    monkeypatch.setattr(_compile.slow_time, "plain", 0.0)


def test_little_work_is_done_without_compiling(package, fresh):
    kernels = load()
    assert kernels.total(1, 2) == 6
    assert kernels.total._dispatcher is None


def test_machine_code_is_taken_from_the_cache_once_kernels_have_run_for_a_while(package, fresh):
    load().total.compile(1, 2)
    cached = load()
    assert cached.total(1, 2) == 6 and cached.total._dispatcher is None
    _compile.slow_time.plain = _compile.WORTH_LOADING
    assert cached.total(1, 2) == 6 and hits(cached) == 1


def test_a_kernel_is_compiled_once_it_has_run_for_as_long_as_that_takes(package, fresh):
    kernels = load()
    _compile.slow_time.plain = _compile.WORTH_LOADING
    assert kernels.total(1, 2) == 6 and not kernels.total.dispatcher().signatures  # not in the cache, nor compiled
    kernels.total._seconds = kernels.total.worth_compiling
    assert kernels.total(1, 2) == 6 and kernels.total.dispatcher().signatures


def test_a_long_call_is_stopped_and_done_by_machine_code(package, fresh):
    (package / "long_kernels.py").write_text(
        "from dovetail._compile import compiled\n\n\n@compiled\ndef add_up(sums, times):\n"
        "    for i in range(times):\n        sums[i % 3] += i\n    return times\n"
    )
    importlib.invalidate_caches()
    kernel = importlib.import_module("long_kernels").add_up
    sums = np.zeros(3, np.int64)
    assert kernel(sums, 60_000_000) == 60_000_000
    assert kernel.dispatcher().signatures
    assert sums.tolist() == [sum(range(first, 60_000_000, 3)) for first in range(3)]


def test_kernels_that_write_to_much_are_compiled_at_once(package, fresh, monkeypatch):
    monkeypatch.setattr(_compile, "MOST_COPIED", 8)
    kernel = compiled_fill(package)
    kernel(np.zeros(1))
    assert kernel._dispatcher is None
    kernel(np.zeros(2))
    assert kernel.dispatcher().signatures


def compiled_fill(package: Path) -> Kernel:
    (package / "fill_kernels.py").write_text(
        "from dovetail._compile import compiled\n\n\n@compiled\ndef fill(places):\n    places[:] = 1\n"
    )
    sys.modules.pop("fill_kernels", None)
    importlib.invalidate_caches()
    return importlib.import_module("fill_kernels").fill


def test_plain_forms_call_no_kernels():
    """A kernel inside of a call that may be stopped would take its end for its own."""
    for name in kernel_modules():
        for kernel in vars(importlib.import_module(name)).values():
            if isinstance(kernel, Kernel) and (given := kernel._given):
                assert not [*_compile.kernels_of(given)], f"{name}.{kernel.__name__}"


def kernel_modules() -> list[str]:
    files = sorted(SOURCE.rglob("*kernels.py"))
    return [".".join(("dovetail", *path.relative_to(SOURCE).with_suffix("").parts)) for path in files]
