"""What starts fast: public names and verbs import what they need, when they need it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import dovetail

HEAVY = ("numpy", "pyarrow", "numba", "pandas", "pyspark", "duckdb", "rich.console")


def imported(program: str) -> set[str]:
    """Which of the heavy libraries a program has imported at its end."""
    ending = f"\nimport json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    answer = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, check=True)
    return set(json.loads(answer.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", dovetail.__all__)
def test_every_public_name_is_there(name):
    found = getattr(dovetail, name)
    assert found.__module__.startswith("dovetail.")
    assert name in dir(dovetail)


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'jion'"):
        dovetail.jion  # noqa: B018


def test_the_function_join_is_not_hidden_by_the_package_of_its_name():
    imported("import dovetail.join.request, dovetail; assert callable(dovetail.join)")
    imported("import dovetail.join.request; from dovetail import join; assert callable(join)")


def test_the_package_alone_imports_nothing_heavy():
    assert imported("import dovetail") == set()


def test_the_list_of_commands_imports_nothing_heavy():
    assert imported("from dovetail.cli.verbs import run; run(['--help'])") == set()


def test_opening_an_index_needs_no_numba():
    assert imported("import dovetail; dovetail.Lake, dovetail.verify") <= {"numpy", "pyarrow"}


def test_a_command_keeps_pandas_out():
    """Arrow would import it at its first array; where it is needed it is still found."""
    pytest.importorskip("pandas")
    start = "import pyarrow as pa; from dovetail.cli.verbs import _keep_pandas_out; _keep_pandas_out(); pa.array([1])"
    assert "pandas" not in imported(start)
    later = (
        "; import pandas as pd; assert pa.table({'a': [1]}).to_pandas().a[0] == 1; pa.Table.from_pandas(pd.DataFrame())"
    )
    assert "pandas" in imported(start + later)
