"""The Spark session: what it leaves behind, and what it says when it cannot start."""

from __future__ import annotations

import os

import pytest

from dovetail._spark.session import LOCAL, spark_session
from dovetail.errors import BuildFailed


def test_a_session_leaves_the_environment_as_it_was(monkeypatch):
    """A process started afterwards must not take Spark's Java for its own."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    before = dict(os.environ)
    with spark_session(LOCAL) as session:
        assert session.range(3).count() == 3
    after = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    assert after == {name: value for name, value in before.items() if not name.startswith("SPARK_")}
    assert session._jsc.sc().isStopped()


@pytest.mark.parametrize("master", ["nonsense", "local[none]"])
def test_a_master_that_is_none_is_said_in_a_sentence(master):
    with pytest.raises(BuildFailed, match="Could not parse Master URL") as raised, spark_session(master):
        pass
    assert str(raised.value).startswith(f"Spark cannot start on {master}: ")
    assert "\n" not in str(raised.value)
