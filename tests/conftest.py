"""Shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import dovetail
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE

# Kernels compile on first use, so the first example of a test may take seconds.
settings.register_profile(
    "dovetail",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("dovetail")


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample lake, to be read only."""
    index = tmp_path_factory.mktemp("sample") / "sample-lake.idx"
    with without_spark():
        dovetail.index(SAMPLE_LAKE, index)
    return index


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that is skipped has failed: it has shown nothing."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
