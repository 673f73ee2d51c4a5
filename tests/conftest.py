"""Shared by all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Kernels compile on first use, so the first example of a test may take seconds.
settings.register_profile(
    "dovetail",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("dovetail")
